"""The adaptive evaluator: one rubric, fitted to the agent, asked of every task.

Binary dimensions are 0 or 1; graded ones 1..5, normalised as (mean - 1) / 4 (azd's rubric
evaluator). A dimension that does not apply leaves the denominator.
"""

from dataclasses import dataclass

from azd_eval.domain.criterion import LOWEST_GRADE, Rubric
from azd_eval.domain.ports import Judge, JudgeRequest, TurnUnderTest
from azd_eval.domain.score import Score, Verdict, weighted_mean
from azd_eval.domain.task import Turn
from azd_eval.evaluators.criteria import count_judged, decide_criteria


@dataclass(frozen=True, slots=True)
class RubricEvaluator:
    """Judges the dimensions of a rubric; passes when the score reaches its `pass_threshold`."""

    rubric: Rubric
    judge: Judge

    @property
    def name(self) -> str:
        return self.rubric.name

    def scores(self, turn: Turn) -> bool:
        return bool(self.rubric.dimensions) and turn.options_of(self.name, {}) is not None

    def questions(self, turn: Turn) -> int:
        return count_judged(self.rubric.dimensions) if self.scores(turn) else 0

    def lacks(self, turn: Turn) -> str | None:
        return None

    async def score(self, item: TurnUnderTest) -> Score:
        graded = self.rubric.scoring == "graded"
        request = JudgeRequest(self.name, item, self.rubric.dimensions, graded=graded)
        verdicts = await decide_criteria(self.judge, request)
        score = weighted_mean(verdicts)
        if score is None:
            return Score(self.name, None, None, verdicts)
        native = 1 + 4 * score if graded else None
        return Score(self.name, score, self._passes(score, verdicts), verdicts, native)

    def _passes(self, score: float, verdicts: tuple[Verdict, ...]) -> bool:
        if self.rubric.lowest_grade_fails and any(v.grade == LOWEST_GRADE for v in verdicts):
            return False
        # Sums of thirds and tenths must not miss a threshold by the last bit.
        return score >= self.rubric.pass_threshold - 1e-9
