"""Verdicts that were given before are not asked for again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azd_eval.evaluators.remembered import RememberedJudge
from tests.factories import ScriptedJudge, make_criteria, make_judge_request, make_verdict

NAMES = ("polite", "short", "right", "kind")


@given(st.sets(st.sampled_from(NAMES)), st.permutations(NAMES))
def test_only_what_is_missing_is_asked_and_the_order_stays(known, names):
    inner = ScriptedJudge()
    recalled = {name: make_verdict("unmet", name, reason="as before") for name in known}
    judge = RememberedJudge(inner, lambda request: recalled)

    work = judge.decide(make_judge_request(make_criteria(*names)))
    with pytest.raises(StopIteration) as ended:
        work.send(None)

    verdicts = ended.value.value
    assert list(names) == [verdict.criterion for verdict in verdicts]
    assert known == {verdict.criterion for verdict in verdicts if verdict.outcome == "unmet"}
    missing = [name for name in names if name not in known]
    assert ([missing] if missing else []) == [
        [criterion.name for criterion in request.criteria] for request in inner.history
    ]


async def test_a_remembered_verdict_has_the_weight_of_today():
    judge = RememberedJudge(ScriptedJudge(), lambda request: {"polite": make_verdict()})

    [verdict] = await judge.decide(make_judge_request(make_criteria("polite", weight=3.0)))

    assert 3.0 == verdict.weight
