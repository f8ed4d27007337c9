"""From the names in `evaluators:` to evaluators."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from azd_eval.config import TASK_ADHERENCE, EvaluatorReference
from azd_eval.domain.criterion import Rubric
from azd_eval.domain.ports import Evaluator, Judge
from azd_eval.errors import FilesRefused, InputError, Problem
from azd_eval.evaluator_options import OPTIONS
from azd_eval.evaluators.checks import pattern_fault
from azd_eval.evaluators.criteria import TaskAdherence
from azd_eval.evaluators.named import build_named, describe_named
from azd_eval.evaluators.rubric import RubricEvaluator
from azd_eval.formats.evaluator_files import find_evaluator, read_evaluator
from azd_eval.formats.faults import suggest
from azd_eval.wiring.layout import Layout
from azd_eval.wiring.own_evaluators import Calling, OwnEvaluator, read_own

_PREFIX = "builtin."
# What is built in, by its name without prefix.
_BUILT_IN = {TASK_ADHERENCE.removeprefix(_PREFIX): TASK_ADHERENCE} | {
    name: name for name in OPTIONS
}


@dataclass(frozen=True, slots=True)
class EvaluatorSet:
    """The evaluators of a run, checked, before any judge is attached.

    `of_run` has the options of those that score every turn, by name. Evaluators of evaluation
    documents that are not in it, and `own` ones of the user's, wait for turns that name them.
    """

    rubrics: tuple[Rubric, ...] = ()
    own: tuple[OwnEvaluator, ...] = ()
    of_run: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Name the evaluators that score every turn."""
        return tuple(self.of_run)

    @property
    def judges_criteria(self) -> bool:
        """Tell whether the tasks' own criteria are judged."""
        return TASK_ADHERENCE in self.of_run

    @property
    def scores_every_task(self) -> bool:
        """Tell whether tasks without criteria are scored, by more than a rubric."""
        return bool(self.own) or any(name in OPTIONS for name in self.of_run)

    def build(self, judge: Judge, calling: Calling) -> tuple[Evaluator, ...]:
        """Attach a judge, and the way in which functions are called."""
        built: list[Evaluator] = []
        if self.judges_criteria:
            sees_expected = self.of_run[TASK_ADHERENCE].get("use_ground_truth") is True
            built.append(TaskAdherence(judge, use_ground_truth=sees_expected))
        built.extend(RubricEvaluator(rubric, judge) for rubric in self.rubrics)
        built.extend(build_named(judge, self.of_run))
        built.extend(each.build(judge, calling, self.of_run.get(each.name)) for each in self.own)
        return tuple(built)

    def describe(self) -> tuple[Rubric, ...]:
        """Say what each evaluator asks of a reply; task adherence asks what its task says."""
        return (*self.rubrics, *describe_named(), *(each.describe() for each in self.own))


def is_file(name: str) -> bool:
    """Tell a file, be it a bare `quality.yaml`, from the name of a generated evaluator."""
    return name.endswith((".yaml", ".yml", ".json"))


def locate_from_shell(name: str) -> str:
    """Give an evaluator that the command line names; there, files are relative to the shell."""
    return str(Path(name).absolute()) if is_file(name) else name


def resolve_evaluators(references: Sequence[EvaluatorReference], layout: Layout) -> EvaluatorSet:
    """Find and read all evaluators; raises `FilesRefused` with the problems of all of them."""
    problems: list[Problem] = []
    found: list[tuple[str, Rubric | OwnEvaluator | None, Mapping[str, Any]]] = []
    for index, reference in enumerate(references):
        try:
            part = _resolve(reference, layout)
        except FilesRefused as error:
            problems.extend(error.problems)
        except InputError as error:
            where = f"evaluators[{index}]"
            problems.append(Problem(error.message, field=where, hint=error.hint))
        else:
            name = part.name if part else _BUILT_IN[reference.name.removeprefix(_PREFIX)]
            found.append((name, part, reference.initialization_parameters))
    problems.extend(_find_repeated([name for name, *_ in found]))
    if problems:
        raise FilesRefused(problems)
    return EvaluatorSet(
        tuple(part for _, part, _ in found if isinstance(part, Rubric)),
        tuple(part for _, part, _ in found if isinstance(part, OwnEvaluator)),
        {name: options for name, _, options in found},
    )


def _resolve(reference: EvaluatorReference, layout: Layout) -> Rubric | OwnEvaluator | None:
    """Read an evaluator; None for one that is built in."""
    if reference.callable or reference.prompt_file:
        return read_own(reference, layout)
    name = reference.name.removeprefix(_PREFIX)
    if name in _BUILT_IN and reference.local_uri is None:
        return None
    if reference.name.startswith(_PREFIX):
        message = f"unknown built-in evaluator {reference.name!r}"
        hint = f"there are {', '.join(f'`{known}`' for known in _BUILT_IN.values())}"
        raise FilesRefused(
            [_point_to_built_in(Problem(message, field="evaluators", hint=hint), name)]
        )
    try:
        path = _locate(reference, layout)
    except FilesRefused as error:
        raise FilesRefused([_point_to_built_in(each, name) for each in error.problems]) from error
    return read_evaluator(path, pattern_fault)


def _point_to_built_in(problem: Problem, name: str) -> Problem:
    close = suggest(name, _BUILT_IN)
    return replace(problem, hint=f"did you mean `{_BUILT_IN[close]}`?") if close else problem


def _locate(reference: EvaluatorReference, layout: Layout) -> Path:
    if reference.local_uri is not None:
        return layout.project / reference.local_uri
    if is_file(reference.name):
        return layout.project / reference.name
    return find_evaluator(layout.evaluators, reference.name, reference.version)


def _find_repeated(names: Sequence[str]) -> list[Problem]:
    return [
        Problem(f"evaluator {name!r} is listed twice", field="evaluators", hint="remove one")
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
