"""The judge of the offline engine: it decides nothing, and says so, rather than guess."""

from dataclasses import dataclass

from azd_eval.domain.ports import JudgeRequest
from azd_eval.domain.score import Verdict

_REASON = "rules, not a language model: only a `check` can decide a criterion offline"


@dataclass(frozen=True, slots=True)
class UndecidedJudge:
    """Leaves every criterion undecided; criteria with a `check` never reach a judge."""

    async def decide(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        return tuple(
            Verdict(criterion.name, "undecided", _REASON, criterion.weight)
            for criterion in request.criteria
        )
