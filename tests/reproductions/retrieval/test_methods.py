"""The names of the methods are objectives, and the two tries of one differ in one number."""

from __future__ import annotations

import re

import pytest

import rankwise
from rankwise.objectives import SOPRC, StableAP
from reproductions.retrieval.methods import ABLATIONS, METHODS, TAUS, Method, with_tau

ALL = [*METHODS, *ABLATIONS, *(method for tau in TAUS for method in with_tau(tau))]


def options(name: str) -> dict[str, str]:
    """The options in the brackets of a name."""
    inside = name.partition("(")[2].removesuffix(")")
    return dict(part.split("=") for part in re.split(r", (?![^\[]*\])", inside) if part)


def kind(name: str) -> str:
    return name.partition("(")[0]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_the_tries_of_a_method_are_of_one_loss(method: Method) -> None:
    assert len({kind(name) for name in method.tries}) == 1
    assert len(set(method.tries)) == len(method.tries)


@pytest.mark.parametrize(
    "method", [m for m in METHODS if len(m.tries) == 2], ids=lambda method: method.name
)
def test_the_second_try_changes_what_the_first_has(method: Method) -> None:
    first, second = map(options, method.tries)
    changed = {key for key in first | second if first.get(key) != second.get(key)}
    # β and base of multi-similarity go together: both say where a negative is near.
    assert changed == {"beta", "base"} if method.name == "multi-similarity" else len(changed) == 1
    assert all(second[key] for key in changed)


@pytest.mark.parametrize("method", ALL, ids=lambda method: f"{method.name} {method.tries[0]}")
def test_every_name_makes_an_objective(method: Method) -> None:
    for name in method.tries:
        made = rankwise.objective(name, prior=0.1, num_items=8)
        if kind(name) == "soprc":
            assert isinstance(made, SOPRC)
        assert isinstance(made, StableAP) == (kind(name) == "stable_ap")


def test_ours_are_the_objectives_of_the_papers() -> None:
    for method in METHODS:
        assert method.ours == (kind(method.tries[0]) in ("soprc", "stable_ap"))
        # Mixing and the model of the step before belong to StableAP alone.
        if method.mixup or method.previous:
            assert kind(method.tries[0]) == "stable_ap"


def test_names_are_not_used_twice() -> None:
    for group in (METHODS, ABLATIONS):
        assert len({method.name for method in group}) == len(group)


def test_lines_of_the_ablations_are_different_trainings() -> None:
    seen = {
        (m.tries, m.previous, m.memory, m.mixup, m.optimizer, m.s if m.optimizer == "sgd" else 0)
        for m in ABLATIONS
    }
    assert len(seen) == len(ABLATIONS)
    assert all(len(m.tries) == 1 for m in ABLATIONS)


def test_an_ablation_changes_one_thing_of_the_published_loss() -> None:
    by_name = {method.name: method for method in (*METHODS, *ABLATIONS)}
    soprc = options(by_name["SOPRC, no L_var"].tries[0])
    stable = options(by_name["StableAP"].tries[0])

    def more(name: str, of: dict[str, str]) -> dict[str, str]:
        own = options(by_name[name].tries[0])
        assert of.items() <= own.items()
        return {key: value for key, value in own.items() if key not in of}

    assert more("SOPRC 3: with v", soprc) == {}
    assert more("SOPRC 2: true share, no v", soprc) == {"points": "None"}
    assert more("SOPRC 4: with v and L_var", soprc) == {"semi_variance": "[1, 5]"}
    assert more("SOPRC", soprc) == {"semi_variance": "[1, 5]"}  # as published
    assert more("SOPRC 3, gain not annealed", soprc) == {"gain": '"fixed"'}
    assert more("StableAP 3: μ̂ followed", stable) == {}
    assert more("StableAP 1: μ̂ fixed", stable) == {"ema_rate": "0"}
    assert more("StableAP 1, mean of the batch", stable) == {"dynamic": "False"}
    assert more("StableAP 3, t = 0: no weights", stable) == {"t": "0"}
    assert more("StableAP 5: t = 2, DFM", stable) == {}
    assert rankwise.objective("stable_ap", prior=0.1, num_items=8).t == 2  # what line 5 is called


@pytest.mark.parametrize("tau", TAUS)
def test_another_width_changes_nothing_else_of_ours(tau: str) -> None:
    named = {method.name: method for method in METHODS}
    for method in with_tau(tau):
        own = named[method.name]
        assert (method.ours, method.previous, method.mixup) == (own.ours, own.previous, own.mixup)
        (name,) = method.tries
        width = "tau_fpr" if method.name == "SOPRC" else "tau"
        assert options(name) == {**options(own.tries[0]), width: tau}
        assert kind(name) == kind(own.tries[0])


def test_the_widths_rise_and_have_that_of_the_comparison_among_them() -> None:
    assert sorted(TAUS, key=float) == list(TAUS)
    for method in METHODS:
        if method.ours:
            first = options(method.tries[0])
            assert first.get("tau_fpr", first.get("tau")) in TAUS


def test_all_but_one_method_have_two_tries():
    assert {method.name for method in METHODS if len(method.tries) != 2} == {"SoDeep"}
    assert len({method.name for method in METHODS}) == 15
    assert sum(method.ours for method in METHODS) == 4
