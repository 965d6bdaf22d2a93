from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from tests.looks import Looks

from rankwise import checks
from rankwise.baselines import CrossEntropy
from rankwise.objectives import MinMaxAUC, PairwiseAUC

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: checks.require_floating("s", torch.tensor([1])), "s must be a floating-point"),
        (lambda: checks.require_no_nan("s", torch.tensor([NAN, 1])), r"NaN \(1 of 2 values\)"),
        (lambda: checks.require_finite("s", torch.tensor([NAN, INF])), "s contains NaN"),
        (lambda: checks.require_finite("s", torch.tensor([INF, 1])), r"infinite values \(1 of 2\)"),
        (
            lambda: checks.require_same_shape("a", torch.zeros(2), "b", torch.zeros(3)),
            r"got a \(2,\) and b \(3,\)",
        ),
        (
            lambda: checks.require_same_device(
                "a", torch.zeros(2), "b", torch.zeros(2, device="meta")
            ),
            "a is on cpu but b is on meta",
        ),
        (lambda: checks.require_binary("y", torch.tensor([0, 2])), r"only 0 and 1.*\[0, 2\]"),
        (lambda: checks.require_binary("y", torch.tensor([0.5, 1.0])), "only 0 and 1"),
        (lambda: checks.require_shares("y", torch.tensor([-1, 1])), "between 0 and 1.* -1 to 1"),
        (lambda: checks.require_shares("y", torch.tensor([0.5, 1.5])), "between 0 and 1.* 0.5 to"),
        (lambda: checks.require_shares("y", torch.tensor([NAN, 1.0])), "between 0 and 1.* nan"),
        (lambda: checks.require_binary("y", torch.tensor([NAN, 1.0])), "only 0 and 1"),
        (
            lambda: checks.require_not_negative("w", torch.tensor([1, -2])),
            "not be negative, got -2",
        ),
        (lambda: checks.require_count("k", 0), "k must be a whole number >= 1, got 0"),
        (lambda: checks.require_count("k", 2.0), "k must be a whole number"),
        (lambda: checks.require_count("k", True), "k must be a whole number"),
        (
            lambda: checks.require_count("start", -1, minimum=0),
            "start must be a whole number >= 0, got -1",
        ),
        (lambda: checks.require_count("start", 1.0, minimum=0), "start must be a whole number"),
        (lambda: checks.require_count("start", True, minimum=0), "start must be a whole number"),
        (lambda: checks.require_number("base", INF), "base must be a finite number, got inf"),
        (
            lambda: checks.require_number("margin", -0.5, minimum=0),
            "margin must be a finite number >= 0",
        ),
        (lambda: checks.require_number("margin", NAN, minimum=0), "margin must be"),
        (lambda: checks.require_positive("t", INF), "t must be a finite number > 0, got inf"),
        (lambda: checks.require_fraction_range("a", 0.5, "b", 0.5), "0 <= a < b <= 1.*a=0.5"),
        (lambda: checks.require_fraction_range("a", -0.1, "b", 0.5), "0 <= a < b <= 1"),
        (lambda: checks.require_one_of("m", "x", ("a", "b")), "one of 'a', 'b', got 'x'"),
    ],
)
def test_messages_name_the_argument(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("size", [1, 2048, 2049, 5000])
@pytest.mark.parametrize("wrong", [0.5, -1.0, 2.0, 1 + 2**-23, 1e-30, -1e-30, 1e30, NAN, INF])
def test_one_number_that_is_not_binary_among_many(size, wrong):
    value = (torch.arange(size) % 2).float()
    assert checks.is_binary(value, whole=False)
    value[-1] = wrong
    assert not checks.is_binary(value, whole=False)


def test_good_input_passes():
    checks.require_finite("s", torch.tensor([65504.0, 65504.0], dtype=torch.float16))
    checks.require_finite("s", torch.tensor([3e38, 3e38]))  # the sum overflows, the scores do not
    checks.require_finite("s", torch.zeros(0))
    checks.require_binary("y", torch.tensor([True, False]))
    checks.require_binary("y", torch.tensor([0.0, 1.0]))
    checks.require_binary("y", torch.tensor([]))
    checks.require_not_negative("w", None)


def test_unchecked_looks_at_no_value_but_at_shapes():
    bad = torch.tensor([NAN, INF, -3.0])
    with checks.no_checks():
        checks.require_no_nan("s", bad)
        checks.require_finite("s", bad)
        checks.require_binary("y", bad)
        checks.require_shares("y", bad)
        checks.require_relevance("y", bad)
        checks.require_not_negative("w", bad)
        with pytest.raises(ValueError, match="a must have the shape of b"):
            checks.require_same_shape("a", torch.zeros(2), "b", torch.zeros(3))


def test_the_last_to_leave_turns_the_checks_on_again():
    with checks.no_checks():
        with pytest.raises(KeyError), checks.no_checks():
            raise KeyError
        assert not checks.values_are_checked()
    assert checks.values_are_checked()
    with pytest.raises(ValueError, match="s contains NaN"):
        checks.require_finite("s", torch.tensor([NAN]))


@pytest.mark.parametrize(
    ("make", "checked", "trusted"),
    [
        (CrossEntropy, 3, 0),
        (MinMaxAUC, 4, 1),
        (PairwiseAUC, 3, 0),
    ],
)
def test_waits_for_a_value_are_as_many_as_the_docs_say(make, checked, trusted):
    """In docs/objectives.md; who saves one there is to change both."""
    torch.manual_seed(0)
    scores, target = torch.randn(64, requires_grad=True), torch.arange(64) % 2
    with Looks() as looks:
        make()(scores, target)
    assert looks.count == checked
    with checks.no_checks(), Looks() as looks:
        make()(scores, target)
    assert looks.count == trusted


def test_the_ends_of_the_ranges_pass():
    checks.require_number("base", -1.0)
    checks.require_number("margin", 0.0, minimum=0)
    checks.require_count("start", np.int64(0), minimum=0)


def test_no_checks_belongs_to_its_context():
    with checks.no_checks(), ThreadPoolExecutor(1) as pool:
        assert pool.submit(checks.values_are_checked).result()
        assert not checks.values_are_checked()


def test_each_of_several_values_is_named():
    checks.require_each(checks.require_count, draws=2, chains=3)
    with pytest.raises(ValueError, match="chains must be a whole number >= 1, got 0"):
        checks.require_each(checks.require_count, draws=2, chains=0)
