"""The agent of replies that are stored: there is nobody to ask."""

from dataclasses import dataclass

from azd_eval.domain.ports import TargetRequest
from azd_eval.domain.task import Reply
from azd_eval.errors import TargetError


@dataclass(frozen=True, slots=True)
class RecordedTarget:
    """Is asked only for turns of which no reply is stored, and has none either."""

    async def respond(self, request: TargetRequest) -> Reply:
        raise TargetError("no stored response to score")
