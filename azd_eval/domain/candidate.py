"""The text that the optimizer revises, and where it comes from."""

import hashlib
from dataclasses import dataclass

BASELINE_ID = "baseline"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One version of the agent's instructions. The baseline has no parent."""

    id: str
    instructions: str
    parent: str | None = None
    rationale: str = ""

    @property
    def digest(self) -> str:
        """Identify the text, whatever the candidate is called."""
        return hashlib.sha256(self.instructions.encode()).hexdigest()[:16]
