"""What every method of the study has to choose from."""

from __future__ import annotations

import pytest

import rankwise
from reproductions.longtail.methods import METHODS, OURS, Choice, Method

RATES = (0.002, 0.005)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_has_four_different_settings_of_its_own_loss(method: Method) -> None:
    choices = method.choices(RATES)
    assert len({choice.words for choice in choices}) == len(set(choices)) == 4
    assert {choice.objective for choice in choices} == {method.objective}
    assert {choice.rate for choice in choices} == set(RATES)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_two_heads_or_for_a_loss_of_cosines_two_kinds_of_batches(method: Method) -> None:
    kinds = {(choice.head, choice.balanced) for choice in method.choices(RATES)}
    cosines = {("cosine", True), ("cosine", False)}
    assert kinds == (cosines if method.name == "LDAM" else {("linear", True), ("cosine", True)})


def test_ours_are_among_them_and_names_are_not_used_twice() -> None:
    names = [method.name for method in METHODS]
    assert len(set(names)) == len(names)
    assert set(OURS) < set(names)


@pytest.mark.parametrize("name", ["smooth_ap(tau=1)", "mauc"])
def test_objectives_are_names_of_the_grammar(name: str) -> None:
    assert name in {method.objective for method in METHODS}
    assert rankwise.objective(name) is not None


def test_a_choice_in_words() -> None:
    assert Choice("focal", 0.002, "linear").words == "focal, rate 0.002, linear head"
    deferred = Choice("ldam(defer={defer})", 0.005, "cosine", balanced=False)
    assert deferred.words == (
        "ldam with deferred weights, rate 0.005, cosine head, batches as they come"
    )
