"""What each form is given: the surrogate by default, and what it refuses."""

from __future__ import annotations

import pytest

from rankwise.objectives import PartialAUC
from rankwise.objectives.partial_auc.one_way import require_form
from rankwise.pairs import Hinge, Logistic, SquaredHinge


def test_the_surrogate_by_default():
    for form, surrogate in (
        ("direct", SquaredHinge(1)),
        ("cvar", SquaredHinge(1)),
        ("kl", Hinge(1)),
    ):
        assert PartialAUC(0.1, form=form).over_negatives.surrogate == surrogate
        given = PartialAUC(0.1, form=form, surrogate=Hinge(0.5))
        assert given.over_negatives.surrogate == Hinge(0.5)


@pytest.mark.parametrize("form", ["cvar", "kl"])
def test_the_hardest_negatives_start_at_the_top(form):
    with pytest.raises(ValueError, match=f"min_fpr must be 0 for form='{form}'.*got 0.1"):
        PartialAUC(0.2, 0.1, form)


@pytest.mark.parametrize("num_items", [None, 10])
def test_cvar_takes_the_two_hinges_only(num_items):
    with pytest.raises(ValueError, match="must be Hinge or SquaredHinge"):
        PartialAUC(0.2, form="cvar", surrogate=Logistic(), num_items=num_items)


def test_a_surrogate_has_a_name():
    named = PartialAUC(0.2, surrogate="hinge(margin=2)")
    assert named.over_negatives.surrogate == Hinge(2)
    with pytest.raises(ValueError, match=r"surrogate must be one of rankwise\.pairs"):
        PartialAUC(0.2, surrogate=1.0)


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
