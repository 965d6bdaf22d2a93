"""What each form is given: the surrogate by default, and what it refuses."""

from __future__ import annotations

import pytest

from rankwise.objectives.partial_auc._forms import over_negatives, require_form
from rankwise.pairs import Hinge, Logistic, SquaredHinge

NOTHING = dict(temperature=None, num_items=None, ema_rate=0.9, threshold_rate=0.1)


def test_the_surrogate_by_default():
    for form, surrogate in (
        ("direct", SquaredHinge(1)),
        ("cvar", SquaredHinge(1)),
        ("kl", Hinge(1)),
    ):
        assert over_negatives(form, None, (0.0, 0.1), **NOTHING).surrogate == surrogate
        given = over_negatives(form, Hinge(0.5), (0.0, 0.1), **NOTHING)
        assert given.surrogate == Hinge(0.5)


@pytest.mark.parametrize("form", ["cvar", "kl"])
def test_the_hardest_negatives_start_at_the_top(form):
    with pytest.raises(ValueError, match=f"min_fpr must be 0 for form='{form}'.*got 0.1"):
        over_negatives(form, None, (0.1, 0.2), **NOTHING)


@pytest.mark.parametrize("num_items", [None, 10])
def test_cvar_takes_the_two_hinges_only(num_items):
    with pytest.raises(ValueError, match="must be Hinge or SquaredHinge"):
        over_negatives("cvar", Logistic(), (0.0, 0.2), **{**NOTHING, "num_items": num_items})


def test_a_surrogate_has_a_name():
    named = over_negatives("direct", "hinge(margin=2)", (0.0, 0.2), **NOTHING)
    assert named.surrogate == Hinge(2)
    with pytest.raises(ValueError, match=r"surrogate must be one of rankwise\.pairs"):
        over_negatives("direct", 1.0, (0.0, 0.2), **NOTHING)


def test_options_of_another_form_are_refused():
    require_form("kl", num_items=3, temperature=1.0)
    with pytest.raises(ValueError, match="form must be one of 'direct', 'cvar', 'kl', got 'dro'"):
        require_form("dro", num_items=None)
    with pytest.raises(ValueError, match="num_items is for form='cvar' or 'kl'"):
        require_form("direct", num_items=3)
    with pytest.raises(ValueError, match="num_items must be a whole number"):
        require_form("kl", num_items=0)
    with pytest.raises(
        ValueError, match=r"positive_temperature is for form='kl', got .*1\.0.*'cvar'"
    ):
        require_form("cvar", num_items=None, temperature=None, positive_temperature=1.0)
