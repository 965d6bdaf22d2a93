"""What a threshold says about new rows."""

import numpy as np
import pytest

from rankwise.metrics import choose_threshold
from rankwise.tasks.compare.operating import meaning

rng = np.random.default_rng(0)
SCORES, TARGET = rng.standard_normal(20), np.arange(20) < 10


@pytest.mark.parametrize(
    ("rule", "flagged"),
    [
        ("fpr<=0.01@95%", "none of these rows is flagged"),
        ("recall>=0.9@95%", "all of these rows are flagged"),
    ],
)
def test_a_rule_without_support_promises_nothing_for_new_rows(rule, flagged):
    point = choose_threshold(SCORES, TARGET, rule)
    assert not point.supported
    assert meaning(point).endswith(f"{flagged}, and new rows have no guarantee.")


def test_new_rows_lie_beyond_the_threshold_of_a_rule_without_support():
    point = choose_threshold(SCORES, TARGET, "fpr<=0.01@95%")
    assert (rng.standard_normal(10_000) > point.threshold).mean() > 0.01
