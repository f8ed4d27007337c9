"""Spreading slots over topics and kinds."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from azd_eval.domain.slots import batch_slots, plan_slots
from azd_eval.domain.suite import TASK_KINDS

TOPICS = st.lists(st.text("abcdef", min_size=1, max_size=4), min_size=1, max_size=12, unique=True)
COUNTS = st.integers(1, 300)
KINDS = st.lists(st.sampled_from(TASK_KINDS), max_size=5, unique=True)


@given(TOPICS, COUNTS, KINDS)
def test_slots_are_exact_complete_and_mixed(
    topics: list[str], count: int, named: list[str]
) -> None:
    slots = plan_slots(topics, count, named)

    assert list(range(1, count + 1)) == [slot.number for slot in slots]
    assert min(len(topics), count) == len({slot.topic for slot in slots})
    assert len({slot.kind for slot in slots}) >= min(3, count)
    assert len({slot.kind for slot in slots[:3]}) >= min(2, count)
    assert "ordinary" == slots[0].kind
    if count >= 10:
        assert set(TASK_KINDS) == {slot.kind for slot in slots}
    kinds = Counter(slot.kind for slot in slots)
    if count > 3:
        assert kinds["ordinary"] == count - count // 2
    per_topic = Counter(slot.topic for slot in slots)
    assert max(per_topic.values()) - min(per_topic.values()) <= 1


@given(COUNTS.filter(lambda count: count >= 2), st.sampled_from(TASK_KINDS[1:]))
def test_a_kind_that_the_sentence_names_comes_first(count: int, kind: str) -> None:
    assert kind == plan_slots(["a"], count, [kind])[1].kind


@given(TOPICS, COUNTS)
def test_a_topic_has_more_than_refusals_to_it(topics: list[str], count: int) -> None:
    slots = plan_slots(topics, count)

    if count >= 2 * len(topics):
        ordinary = {slot.topic for slot in slots if slot.kind == "ordinary"}
        assert set(topics) == ordinary


@given(TOPICS, COUNTS, st.integers(1, 5))
def test_batches_hold_each_slot_once(topics: list[str], count: int, size: int) -> None:
    slots = plan_slots(topics, count)

    batches = batch_slots(slots, size)

    assert sorted(slots, key=lambda slot: slot.number) == sorted(
        (slot for batch in batches for slot in batch), key=lambda slot: slot.number
    )
    assert all(1 <= len(batch) <= size for batch in batches)
    assert batches == batch_slots(reversed(slots), size)
