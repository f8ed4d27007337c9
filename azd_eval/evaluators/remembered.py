"""Take verdicts that were given before an interruption instead of asking for them again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from azd_eval.domain.ports import Judge, JudgeRequest
from azd_eval.domain.score import Verdict

RecallVerdicts = Callable[[JudgeRequest], Mapping[str, Verdict]]


@dataclass(frozen=True, slots=True)
class RememberedJudge:
    """A judge around a judge: `recall` gives the usable verdicts of earlier sessions, by name."""

    inner: Judge
    recall: RecallVerdicts

    async def decide(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        known = self.recall(request)
        missing = tuple(each for each in request.criteria if each.name not in known)
        asked = iter(await self.inner.decide(replace(request, criteria=missing)) if missing else ())
        return tuple(
            replace(known[each.name], weight=each.weight) if each.name in known else next(asked)
            for each in request.criteria
        )
