"""What evaluators find without a judge, and the evaluator around a rule that finds it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from azd_eval.domain.ports import TurnUnderTest
from azd_eval.domain.score import Outcome, Score, Verdict
from azd_eval.domain.task import Turn
from azd_eval.evaluator_options import NEEDS_EXPECTED, OPTIONS

EXPECTED = "groundTruth"
"""What `lacks` says where the answer expected is not given: the field that holds it."""

DECIDED: Mapping[bool, Outcome] = {True: "met", False: "unmet"}
"""The outcome of a test that passed or did not."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found of one reply.

    `share` is the score in 0..1 where it is more than pass or fail; `native`, `threshold` and
    `details` are as in `Score`. What could not be decided is unusable and has an `error_code`.
    """

    outcome: Outcome
    reason: str
    share: float | None = None
    native: float | None = None
    threshold: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    error_code: str | None = None

    def as_score(self, evaluator: str) -> Score:
        """Give the score that says this."""
        verdict = Verdict(
            evaluator, self.outcome, self.reason, share=self.share, error_code=self.error_code
        )
        passed = None if verdict.value is None else self.outcome == "met"
        return Score(
            evaluator,
            verdict.value,
            passed,
            (verdict,),
            self.native,
            self.threshold,
            self.details,
        )


MISSING_EXPECTED = Finding(
    "unusable", f"the task has no `{EXPECTED}`", error_code="missing_expected"
)

Rule = Callable[[TurnUnderTest, Any], Finding]
"""Looks at a reply by the options of its evaluator, which are of the type in `OPTIONS`."""


@dataclass(frozen=True, slots=True)
class RuleEvaluator:
    """Has a rule decide, without any model. `of_run` is as in `GradedEvaluator`."""

    name: str
    rule: Rule
    of_run: Mapping[str, Any] | None = None

    def scores(self, turn: Turn) -> bool:
        return turn.options_of(self.name, self.of_run) is not None

    def questions(self, turn: Turn) -> int:
        return 0

    def lacks(self, turn: Turn) -> str | None:
        return EXPECTED if self.name in NEEDS_EXPECTED and lacks_expected(turn) else None

    async def score(self, item: TurnUnderTest) -> Score:
        if self.lacks(item.turn):
            return MISSING_EXPECTED.as_score(self.name)
        options = item.turn.options_of(self.name, self.of_run) or {}
        finding = self.rule(item, OPTIONS[self.name].model_validate(options))
        return finding.as_score(self.name)


def lacks_expected(turn: Turn) -> bool:
    """Tell whether there is no answer to compare with; a blank one is none."""
    return not (turn.expected or "").strip()
