"""Take proposals that were made before an interruption instead of asking for them again."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from azd_eval.domain.optimization import Evidence, Proposal
from azd_eval.domain.ports import Journal, Optimizer
from azd_eval.errors import ModelError


@dataclass(frozen=True, slots=True)
class RememberedOptimizer:
    """An optimizer around an optimizer: what was proposed is kept, by its attempt.

    An error that may be gone by the next session is asked again then; any other is a proposal that
    was of no use, in every session.
    """

    inner: Optimizer
    known: Mapping[int, Proposal]
    journal: Journal

    async def propose(self, evidence: Evidence) -> Proposal:
        """Recall a proposal, or ask for it and keep it."""
        if (proposal := self.known.get(evidence.attempt)) is not None:
            return proposal
        try:
            proposal = await self.inner.propose(evidence)
        except ModelError as error:
            if error.is_fatal or error.code == "stopped":
                raise
            proposal = Proposal(None, fault=error.message)
        self.journal.record({"attempt": evidence.attempt, **asdict(proposal)})
        return proposal
