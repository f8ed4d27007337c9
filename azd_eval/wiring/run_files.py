"""Find and read the files of a run, dataset and evaluators: all their problems at once."""

from collections.abc import Sequence
from pathlib import Path

from azd_eval.config import EvalConfig
from azd_eval.domain.inspection import InspectedSource
from azd_eval.errors import FilesRefused, InputError, Problem
from azd_eval.evaluators.checks import pattern_fault
from azd_eval.formats.datasets import open_dataset
from azd_eval.formats.task_rules import TaskRules
from azd_eval.prompts import template_path
from azd_eval.wiring.evaluators import EvaluatorSet, resolve_evaluators
from azd_eval.wiring.layout import Layout

BUILT_IN_DATASET = "builtin_coding_tasks.jsonl"


def locate_dataset(
    config: EvalConfig, flag: Path | str | None, layout: Layout, *, built_in: bool
) -> Path:
    """Find the dataset: the flag's, the config's, else the built-in one; raises `InputError`."""
    if flag is not None:
        return Path(flag)
    reference = config.dataset
    named = config.dataset_file or (reference.local_uri if reference else None)
    if named is not None:
        return layout.project / named
    if reference is not None and reference.name:
        version = (reference.version or "1").removeprefix("v")
        return layout.datasets / f"{reference.name}.v{version}.jsonl"
    if built_in:
        return template_path(BUILT_IN_DATASET)
    raise InputError(
        "no dataset: eval.yaml has no `dataset_file`",
        hint="add `dataset_file: ./my_eval_dataset.jsonl`, or give `--dataset FILE`",
    )


def read_run_files(
    config: EvalConfig, layout: Layout, dataset: Path
) -> tuple[InspectedSource, EvaluatorSet, list[str]]:
    """Read evaluators and dataset; give warnings, too. Raises `FilesRefused`."""
    problems: list[Problem] = []
    evaluators: EvaluatorSet | None = None
    try:
        evaluators = resolve_evaluators(config.evaluators, layout)
    except FilesRefused as error:
        problems.extend(error.problems)
    rules = TaskRules(
        criteria_required=evaluators is not None and evaluators.judges_criteria,
        criteria_optional=evaluators is not None and evaluators.scores_every_task,
        find_pattern_fault=pattern_fault,
        custom_evaluators=frozenset(each.name for each in evaluators.own) if evaluators else None,
    )
    source = open_dataset(dataset.absolute(), rules)
    inspection = source.inspect()
    problems.extend(inspection.problems)
    if evaluators is None or not inspection.is_good:
        raise FilesRefused(problems)
    return source, evaluators, _word_warnings(inspection.problems)


def _word_warnings(problems: Sequence[Problem]) -> list[str]:
    return [str(problem) for problem in problems if problem.severity != "error"]
