"""How results are written on a page."""

import pytest

from azd_eval.domain.score import Score, Verdict
from azd_eval.reports.wording import FILTERS


@pytest.mark.parametrize(
    ("score", "shown"),
    [
        (Score("e", 0.75, True, (Verdict("e", "met", grade=4),), 4, 3), "4 of 5, passes from 3"),
        (Score("e", 0.625, True, (Verdict("a", "met", grade=4),) * 2, 3.5), "mean grade 3.5 of 5"),
        (Score("e", 0.5, False, (Verdict("e", "unmet", share=0.5),), 1, 2), "1, passes from 2"),
        (Score("e", 0.5, True, (Verdict("e", "met", share=0.5),), 0.5, 0.5), "passes from 0.5"),
        (Score("e", 1.0, True, (Verdict("e", "met"),)), ""),
        (Score("e", None, None, (Verdict("e", "undecided"),)), ""),
    ],
)
def test_results_stand_on_the_scale_of_their_evaluator(score, shown):
    assert (f" ({shown})" if shown else "") == FILTERS["native"](score)
