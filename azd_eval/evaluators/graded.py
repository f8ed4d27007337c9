"""Evaluators that a judge grades from 1 to 5, such as Relevance, and prompt files of the user's."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from azd_eval.domain.criterion import Criterion
from azd_eval.domain.ports import Judge, JudgeRequest, TurnUnderTest
from azd_eval.domain.score import Score, Verdict
from azd_eval.domain.task import Turn
from azd_eval.evaluator_options import NEEDS_EXPECTED
from azd_eval.evaluators.findings import EXPECTED, MISSING_EXPECTED, lacks_expected
from azd_eval.prompts import template

GRADED = ("Relevance", "Coherence", "Groundedness", "Similarity")

_THRESHOLD = 3
_MENTIONED = {
    "prompt": "the user's message",
    "response": "the reply to be judged",
    "expected_response": "the expected answer",
    "context": "the sources",
}
PROMPT_FIELDS = tuple(_MENTIONED)
"""What the text of a prompt file may mention, as `{{response}}`."""

_PLACEHOLDER = re.compile(r"\{\{ *(" + "|".join(_MENTIONED) + r") *\}\}")


@dataclass(frozen=True, slots=True)
class GradedEvaluator:
    """Has a judge give one grade; passes when it reaches the `threshold` of its options.

    `of_run` are its options in the whole run, None where only turns may name it. The judge sees the
    expected answer and the sources only with `sees_expected` and `sees_sources`.
    """

    criterion: Criterion
    judge: Judge
    of_run: Mapping[str, Any] | None = None
    sees_expected: bool = False
    sees_sources: bool = False

    @property
    def name(self) -> str:
        return self.criterion.name

    def scores(self, turn: Turn) -> bool:
        return turn.options_of(self.name, self.of_run) is not None

    def questions(self, turn: Turn) -> int:
        return int(self.scores(turn) and self.lacks(turn) is None)

    def lacks(self, turn: Turn) -> str | None:
        return EXPECTED if self.name in NEEDS_EXPECTED and lacks_expected(turn) else None

    async def score(self, item: TurnUnderTest) -> Score:
        if self.lacks(item.turn):
            return MISSING_EXPECTED.as_score(self.name)
        (verdict,) = await self.judge.decide(self._request(item))
        if verdict.grade is None:
            return Score(self.name, None, None, (verdict,))
        options = item.turn.options_of(self.name, self.of_run) or {}
        return self._conclude(verdict, verdict.grade, options.get("threshold", _THRESHOLD))

    def _request(self, item: TurnUnderTest) -> JudgeRequest:
        expected = item.turn.expected
        sources = item.turn.grounding or item.spec.task.context or expected
        return JudgeRequest(
            self.name,
            item,
            (self.criterion,),
            graded=True,
            expected=expected if self.sees_expected else None,
            grounding=sources if self.sees_sources else None,
        )

    def _conclude(self, verdict: Verdict, grade: int, threshold: float) -> Score:
        passed = grade >= threshold
        decided = replace(verdict, outcome="met" if passed else "unmet")
        return Score(self.name, decided.value, passed, (decided,), grade, threshold)


def grade_named(name: str, judge: Judge, of_run: Mapping[str, Any] | None) -> GradedEvaluator:
    """Make one of the graded evaluators of evaluation documents."""
    return GradedEvaluator(
        Criterion(name, describe_graded(name)),
        judge,
        of_run,
        sees_expected=name == "Similarity",
        sees_sources=name == "Groundedness",
    )


def describe_graded(name: str) -> str:
    """Give what the judge is told of a graded evaluator: its question and its grades."""
    return template(f"evaluator_{name.lower()}.md").strip()


def grade_by_prompt(
    name: str, prompt: str, judge: Judge, of_run: Mapping[str, Any] | None
) -> GradedEvaluator:
    """Make an evaluator of the text of a prompt file.

    The text is put to the judge as the question about a reply. What was said is not written into
    it, but stands as data where the judge looks for it; `{{response}}` and the like become words
    that point there. The expected answer and the sources are shown to a text that mentions them.
    """
    mentioned = set(_PLACEHOLDER.findall(prompt))
    instruction = _PLACEHOLDER.sub(lambda match: _MENTIONED[match[1]], prompt).strip()
    return GradedEvaluator(
        Criterion(name, instruction),
        judge,
        of_run,
        sees_expected="expected_response" in mentioned,
        sees_sources="context" in mentioned,
    )
