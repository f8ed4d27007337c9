"""Take verdicts that were given before an interruption instead of asking for them again."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from azd_eval.domain.criterion import Criterion
from azd_eval.domain.ports import Judge, JudgeRequest
from azd_eval.domain.score import Verdict

RecallVerdict = Callable[[JudgeRequest, Criterion], Verdict | None]


@dataclass(frozen=True, slots=True)
class RememberedJudge:
    """A judge around a judge: `recall` gives a usable verdict of an earlier session, or None."""

    inner: Judge
    recall: RecallVerdict

    async def decide(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        known = [self.recall(request, criterion) for criterion in request.criteria]
        missing = tuple(
            criterion
            for criterion, verdict in zip(request.criteria, known, strict=True)
            if verdict is None
        )
        if not missing:
            return tuple(verdict for verdict in known if verdict is not None)
        asked = iter(await self.inner.decide(replace(request, criteria=missing)))
        return tuple(next(asked) if verdict is None else verdict for verdict in known)
