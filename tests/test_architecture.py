"""The house: rings, homes of third parties, sizes, and words."""

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "azd_eval"
SOURCES = sorted(
    path
    for folder in ("azd_eval", "benchmarks", "docs", "templates")
    for path in (ROOT / folder).rglob("*.py")
)

LONGEST_FILE = 300
LONGEST_FUNCTION = 40
MOST_PARAMETERS = 8

# What other tools call our things; one thing has one word here (README: "Vocabulary").
SYNONYMS = frozenset(
    """
    case cases testcase testcases sample samples datapoint datapoints example examples
    metric metrics grader graders scorer scorers program programs epoch epochs rollout rollouts
    """.split()
)
VAGUE_MODULES = frozenset("base common helper helpers manager misc util utils".split())
MUTABLE_CALLS = frozenset("bytearray defaultdict deque dict list set Counter OrderedDict".split())

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def place(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


def nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_import_contracts_are_kept() -> None:
    outcome = lint_imports(ROOT)

    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


@pytest.mark.parametrize(
    ("module", "violation", "reported"),
    [
        ("targets/chat.py", "import azd_eval.providers.openai", "azd_eval.providers.openai"),
        ("workflows/run_eval.py", "from azd_eval.evaluators import judge", "azd_eval.evaluators"),
        ("domain/task.py", "from azd_eval import config", "azd_eval.config"),
        ("wiring/environment.py", "from azd_eval.cli import app", "azd_eval.cli.app"),
        ("workflows/run_eval.py", "import typer", "typer"),
        ("domain/score.py", "import pydantic", "pydantic"),
        ("providers/openai.py", "import yaml", "yaml"),
        ("newcomer.py", "", "azd_eval.newcomer"),
    ],
)
def test_an_import_hidden_in_a_function_breaks_a_contract(
    tmp_path: Path, module: str, violation: str, reported: str
) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(PACKAGE, tmp_path / "azd_eval")
    with (tmp_path / "azd_eval" / module).open("a", encoding="utf-8") as file:
        file.write(f"\n\ndef hidden():\n    {violation or 'pass'}\n")

    outcome = lint_imports(tmp_path)

    assert outcome.returncode == 1
    assert reported in outcome.stdout


def test_files_functions_and_signatures_are_short() -> None:
    too_large = []
    for path in SOURCES:
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > LONGEST_FILE:
            too_large.append(f"{place(path, lines)}: file of {lines} lines")
        for node in nodes(path):
            if not isinstance(node, FunctionNode):
                continue
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            parameters = len(node.args.posonlyargs + node.args.args + node.args.kwonlyargs)
            if length > LONGEST_FUNCTION:
                too_large.append(f"{place(path, node.lineno)}: {node.name} has {length} lines")
            if parameters > MOST_PARAMETERS:
                too_large.append(f"{place(path, node.lineno)}: {node.name} takes {parameters}")

    assert [] == too_large


def defined_names(path: Path) -> Iterator[tuple[str, int]]:
    yield path.stem, 1
    for node in nodes(path):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name, node.lineno
            case ast.arg():
                yield node.arg, node.lineno
            case ast.Name(ctx=ast.Store()):
                yield node.id, node.lineno
            case ast.Attribute(ctx=ast.Store()):
                yield node.attr, node.lineno


def words(name: str) -> list[str]:
    return re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)


def test_one_thing_has_one_word() -> None:
    foreign = [
        f"{place(path, line)}: {name}"
        for room in ("domain", "workflows")
        for path in sorted((PACKAGE / room).glob("*.py"))
        for name, line in defined_names(path)
        if SYNONYMS.intersection(word.lower() for word in words(name))
    ]

    assert [] == foreign


def test_modules_are_named_for_what_they_hold() -> None:
    vague = [
        str(path) for path in PACKAGE.rglob("*.py") if VAGUE_MODULES.intersection(words(path.stem))
    ]

    assert [] == vague


def is_mutable(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id in MUTABLE_CALLS
    return isinstance(
        value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp
    )


def test_modules_keep_no_state() -> None:
    variables = [
        f"{place(path, statement.lineno)}: {target.id}"
        for path in SOURCES
        for statement in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(statement, ast.Assign | ast.AnnAssign) and is_mutable(statement.value)
        for target in getattr(statement, "targets", None) or [statement.target]
        if isinstance(target, ast.Name) and not target.id.isupper() and target.id != "__all__"
    ]

    assert [] == variables
