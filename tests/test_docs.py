"""What the documents say must be so: the tree, the commands, the example, the package."""

import re
import shlex
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
from pydantic import BaseModel
from typer.core import TyperGroup

from azd_eval import __version__
from azd_eval.config import AgentConfig, EvalConfig, EvaluatorReference, ModelConfig, Options
from azd_eval.formats.eval_yaml import load_eval_yaml
from docs.generate import CLI_PAGE, render_cli_page, walk_commands

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/*.md"))]
EXAMPLE = ROOT / "eval.yaml.example"


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def fenced_blocks(text: str, languages: str = r"\w*") -> list[str]:
    return re.findall(rf"^```(?:{languages})\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def tree_entries(block: str) -> Iterator[str]:
    """Yield the paths of an indented tree: `folder/`, and below it `name.py   what it holds`."""
    folders: list[tuple[int, str]] = []
    for line in block.splitlines():
        name = (line.split() or [""])[0]
        indent = len(line) - len(line.lstrip())
        folders = [(depth, folder) for depth, folder in folders if depth < indent]
        parent = folders[-1][1] if folders else ""
        if name.endswith("/"):
            folders.append((indent, parent + name))
        if re.fullmatch(r"[\w./-]+", name):
            yield parent + name


def test_the_tree_of_the_readme_is_the_tree_on_disk() -> None:
    (tree,) = [block for block in fenced_blocks(read("README.md")) if "\nazd_eval/" in "\n" + block]
    entries = list(tree_entries(tree))
    modules = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "azd_eval").rglob("*.py")
        if path.name != "__init__.py" or path.parent.name == "azd_eval"
    ]

    listed = [entry for entry in entries if entry.startswith("azd_eval/") and entry[-1] != "/"]

    assert sorted(modules) == sorted(listed)
    assert [] == [entry for entry in entries if not (ROOT / entry).exists()]


def shell_commands(page: str) -> Iterator[list[str]]:
    for block in fenced_blocks(read(page), "sh|bash|shell|console"):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                words.pop(0)
            end = next((i for i, word in enumerate(words) if word in ("|", ">", "&&", "||")), None)
            if words[:end]:
                yield words[:end]


def fault_of(words: list[str]) -> str | None:
    """Name the first word of a command line that azd-eval or make does not know."""
    if words[0] == "make":
        targets = re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE)
        return next((word for word in words[1:] if "=" not in word and word not in targets), None)
    if words[0] not in ("azd-eval", "runevals"):
        return None
    commands = dict(walk_commands())
    path = words[0]
    for word in words[1:]:
        context = commands[path]
        parameters = context.command.params
        if f"{path} {word}" in commands:
            path = f"{path} {word}"
        elif word.startswith("-"):
            known = {flag for parameter in parameters for flag in parameter.opts}
            if word.partition("=")[0] not in known | set(context.help_option_names):
                return f"{word} of {path}"
        elif isinstance(context.command, TyperGroup) and not any(
            parameter.param_type_name == "argument" for parameter in parameters
        ):
            return f"{word} of {path}"
    return None


@pytest.mark.parametrize("page", PAGES)
def test_shell_blocks_name_real_commands_and_flags(page: str) -> None:
    faults = {shlex.join(words): fault_of(words) for words in shell_commands(page)}

    assert {} == {command: fault for command, fault in faults.items() if fault}


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("azd-eval eval run --json", None),
        ("runevals --prompts A B --expected X Y", None),
        ("runevals --promts A", "--promts of runevals"),
        ("azd-eval optimize my-agent --max-iterations=3", None),
        ("azd-eval eval walk", "walk of azd-eval eval"),
        ("azd-eval eval run --jsno", "--jsno of azd-eval eval run"),
        ("make demo", None),
        ("make dmeo", "dmeo"),
    ],
)
def test_an_unknown_command_or_flag_is_noticed(line: str, fault: str | None) -> None:
    assert fault == fault_of(line.split())


def test_the_readme_shows_the_way_from_sentence_to_better_instructions() -> None:
    shown = {" ".join(words[:3]) for words in shell_commands("README.md")}

    assert {"azd-eval eval init", "azd-eval eval run", "make demo", "make test"} <= shown
    assert any(command.startswith("azd-eval optimize") for command in shown)


def test_the_command_page_is_up_to_date() -> None:
    assert render_cli_page() == CLI_PAGE.read_text(encoding="utf-8"), "run `make docs`"


def test_the_changelog_has_an_open_section_and_the_project_its_version() -> None:
    assert "## Unreleased" in read("CHANGELOG.md")
    assert f'version = "{__version__}"' in read("pyproject.toml")


def test_the_example_is_a_valid_config() -> None:
    loaded = load_eval_yaml(EXAMPLE)

    assert (0.7, ()) == (loaded.config.options.fail_under, loaded.notes)


@pytest.mark.parametrize(
    "schema", [AgentConfig, EvalConfig, EvaluatorReference, ModelConfig, Options]
)
def test_the_example_shows_every_field(schema: type[BaseModel]) -> None:
    text = EXAMPLE.read_text(encoding="utf-8")

    missing = [name for name in schema.model_fields if not re.search(rf"\b{name}:", text)]

    assert [] == missing


def test_the_package_holds_every_template_and_the_license(tmp_path: Path) -> None:
    home = ROOT / "templates"
    templates = {
        path.relative_to(home).as_posix()
        for path in home.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }

    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", tmp_path], cwd=ROOT, check=True
    )

    with ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        packed = wheel.namelist()
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as sdist:
        source = sdist.getnames()
    assert {f"azd_eval/_templates/{name}" for name in templates} <= set(packed)
    assert any(name.endswith("/licenses/LICENSE") for name in packed)
    assert templates <= {name.partition("/templates/")[2] for name in source}
