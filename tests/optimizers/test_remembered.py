import pytest

from azd_eval.domain.optimization import Proposal
from azd_eval.errors import ModelError
from azd_eval.optimizers.remembered import RememberedOptimizer
from tests.factories import MemoryJournal
from tests.optimization_worlds import ScriptedOptimizer, make_evidence


async def test_asks_once_for_each_attempt_and_keeps_the_answer() -> None:
    inner, journal = (
        ScriptedOptimizer(lambda evidence: f"Text {evidence.attempt}."),
        MemoryJournal(),
    )
    known = {1: Proposal("Known.")}
    optimizer = RememberedOptimizer(inner, known, journal)

    proposals = [
        await optimizer.propose(make_evidence("Help.", attempt=attempt)) for attempt in (1, 2)
    ]

    assert ["Known.", "Text 2."] == [each.instructions for each in proposals]
    assert [2] == [evidence.attempt for evidence in inner.history]
    assert [
        {"attempt": 2, "instructions": "Text 2.", "rationale": "because", "fault": None}
    ] == journal.events


async def test_an_error_that_costs_a_try_is_kept_as_one() -> None:
    error, journal = ModelError("too slow", code="timeout"), MemoryJournal()
    optimizer = RememberedOptimizer(ScriptedOptimizer(lambda _: error), {}, journal)

    proposal = await optimizer.propose(make_evidence("Help."))

    assert Proposal(None, fault="too slow") == proposal
    assert ["too slow"] == [event["fault"] for event in journal.events]


@pytest.mark.parametrize("code", ["wrong_key", "no_credit", "stopped"])
async def test_an_error_that_may_be_gone_next_time_is_not(code: str) -> None:
    error = ModelError("not now", code=code)  # type: ignore[arg-type]
    journal = MemoryJournal()
    optimizer = RememberedOptimizer(ScriptedOptimizer(lambda _: error), {}, journal)

    with pytest.raises(ModelError, match="not now"):
        await optimizer.propose(make_evidence("Help."))

    assert [] == journal.events
