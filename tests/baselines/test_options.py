from __future__ import annotations

import numpy as np
import pytest

from rankwise.baselines.options import require_number, require_number_from_zero, require_steps


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: require_number("base", float("inf")), "base must be a finite number, got inf"),
        (lambda: require_number_from_zero("margin", -0.5), "margin must be a finite number >= 0"),
        (lambda: require_number_from_zero("margin", float("nan")), "margin must be"),
        (lambda: require_steps("start", -1), "start must be a whole number >= 0, got -1"),
        (lambda: require_steps("start", 1.0), "start must be a whole number"),
        (lambda: require_steps("start", True), "start must be a whole number"),
    ],
)
def test_messages_name_the_option(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_ends_of_the_ranges_pass():
    require_number("base", -1.0)
    require_number_from_zero("margin", 0.0)
    require_steps("start", np.int64(0))
