"""`dataset validate`: find every problem of datasets."""

from collections.abc import Sequence
from dataclasses import asdict

from azd_eval.cli.console import Console, styled
from azd_eval.cli.flags import ValidateFlags
from azd_eval.errors import Problem
from azd_eval.evaluators.checks import pattern_fault
from azd_eval.formats.datasets import open_dataset
from azd_eval.formats.task_rules import TaskRules
from azd_eval.workflows.validate_dataset import CheckedFile, validate_dataset

_COLOURS = {"error": "red", "warning": "yellow", "note": "dim"}
_BAD_FILES = 2


def validate_files(flags: ValidateFlags) -> int:
    """Check all files, whatever is wrong with one; exit 0 when all can be used, else 2."""
    console = Console(flags)
    rules = TaskRules(strict=flags.strict, find_pattern_fault=pattern_fault)
    checked = [validate_dataset(open_dataset(path, rules), lint=flags.lint) for path in flags.files]
    for file in checked:
        _show_file(console, file)
    console.show_json({"files": [_describe(file) for file in checked]})
    return 0 if all(file.ok for file in checked) else _BAD_FILES


def _show_file(console: Console, file: CheckedFile) -> None:
    for problem in file.problems:
        console.say(styled(f"{problem.severity}: {problem}", _COLOURS[problem.severity]))
        if problem.hint:
            console.say(f"  hint: {problem.hint}")
    counts = _count(file.problems)
    verdict = "ok" if file.ok else "not usable"
    console.say(f"{file.path}: {verdict}, {file.tasks} task{'s' * (file.tasks != 1)}{counts}")


def _count(problems: Sequence[Problem]) -> str:
    counts = {name: sum(problem.severity == name for problem in problems) for name in _COLOURS}
    return "".join(
        f", {count} {name}{'s' if count > 1 else ''}" for name, count in counts.items() if count
    )


def _describe(file: CheckedFile) -> dict[str, object]:
    keys = ("severity", "line", "column", "item", "field", "message", "hint")
    rows = [asdict(problem) for problem in file.problems]
    problems = [{key: row[key] for key in keys} for row in rows]
    return {"path": file.path, "ok": file.ok, "tasks": file.tasks, "problems": problems}
