"""From the names in `evaluators:` to evaluators."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from azd_eval.config import TASK_ADHERENCE, EvaluatorReference
from azd_eval.domain.criterion import Rubric
from azd_eval.domain.ports import Evaluator, Judge
from azd_eval.errors import FilesRefused, Problem
from azd_eval.evaluators.checks import pattern_fault
from azd_eval.evaluators.criteria import TaskAdherence
from azd_eval.evaluators.rubric import RubricEvaluator
from azd_eval.formats.evaluator_files import find_evaluator, read_evaluator
from azd_eval.wiring.layout import Layout

_SPELLINGS = (TASK_ADHERENCE, TASK_ADHERENCE.removeprefix("builtin."))


@dataclass(frozen=True, slots=True)
class EvaluatorSet:
    """The evaluators of a run, checked, before any judge is attached."""

    judges_criteria: bool
    uses_ground_truth: bool
    rubrics: tuple[Rubric, ...]
    names: tuple[str, ...]

    def build(self, judge: Judge) -> tuple[Evaluator, ...]:
        """Attach a judge."""
        built: list[Evaluator] = []
        if self.judges_criteria:
            built.append(TaskAdherence(judge, use_ground_truth=self.uses_ground_truth))
        built.extend(RubricEvaluator(rubric, judge) for rubric in self.rubrics)
        return tuple(built)


def is_file(name: str) -> bool:
    """Tell a file, be it a bare `quality.yaml`, from the name of a generated evaluator."""
    return name.endswith((".yaml", ".yml", ".json"))


def locate_from_shell(name: str) -> str:
    """Give an evaluator that the command line names; there, files are relative to the shell."""
    return str(Path(name).absolute()) if is_file(name) else name


def resolve_evaluators(references: Sequence[EvaluatorReference], layout: Layout) -> EvaluatorSet:
    """Find and read all evaluators; raises `FilesRefused` with the problems of all of them."""
    criteria = [ref for ref in references if ref.name in _SPELLINGS and ref.local_uri is None]
    problems: list[Problem] = []
    rubrics: list[Rubric] = []
    for reference in references:
        if reference in criteria:
            continue
        try:
            rubrics.append(_read_rubric(reference, layout))
        except FilesRefused as error:
            problems.extend(error.problems)
    problems.extend(_find_repeated(rubrics))
    if problems:
        raise FilesRefused(problems)
    names = [TASK_ADHERENCE] if criteria else []
    return EvaluatorSet(
        judges_criteria=bool(criteria),
        uses_ground_truth=any(
            ref.initialization_parameters.get("use_ground_truth") is True for ref in criteria
        ),
        rubrics=tuple(rubrics),
        names=(*names, *(rubric.name for rubric in rubrics)),
    )


def _read_rubric(reference: EvaluatorReference, layout: Layout) -> Rubric:
    if reference.name.startswith("builtin."):
        problem = Problem(
            f"unknown built-in evaluator {reference.name!r}",
            field="evaluators",
            hint=f"the built-in evaluator is `{TASK_ADHERENCE}`",
        )
        raise FilesRefused([problem])
    return read_evaluator(_locate(reference, layout), pattern_fault)


def _locate(reference: EvaluatorReference, layout: Layout) -> Path:
    if reference.local_uri is not None:
        return layout.project / reference.local_uri
    if is_file(reference.name):
        return layout.project / reference.name
    return find_evaluator(layout.evaluators, reference.name, reference.version)


def _find_repeated(rubrics: Sequence[Rubric]) -> list[Problem]:
    names = [rubric.name for rubric in rubrics]
    return [
        Problem(f"evaluator {name!r} is listed twice", field="evaluators", hint="remove one")
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
