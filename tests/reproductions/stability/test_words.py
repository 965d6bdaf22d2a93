"""The sentences follow the numbers: what is made up the other way round is said so."""

from __future__ import annotations

from tests.reproductions.stability.made_up import measured

from reproductions.stability.words import changes, conclusion, growth


def test_where_the_losses_change_and_how_random_lists_do():
    plain, stable = changes(measured())
    assert "Plain AP's largest change is 2 at n = 100 and 2 at 1,600" in plain
    assert "the lists called “separated”" in plain
    assert "slopes of all losses are -1.00 to -1.00" in plain
    assert "change is 0.02 at n = 100, where that of plain AP is 2, and 0.0013 at 1,600" in stable
    turned = changes(measured(worst=lambda name, n: 0.5 if name == "StableAP" else 4 / n))
    assert "largest change is 0.04 at n = 100 and 0.0025 at 1,600" in turned[0]
    assert "is 0.5 at n = 100, where that of plain AP is 0.04, and 0.5 at 1,600" in turned[1]


def test_who_has_the_smaller_distance():
    def near(name, n, steps):
        return (1.0 if name == "SOPRC" else 2.0) * steps / n

    assert "none of the 5 losses has a smaller one than SOPRC" in conclusion(
        measured(distance=near)
    )

    def far(name, n, steps):
        return {"SOPRC": 3.0, "plain AP": 1.0, "SmoothAP": 2.0}.get(name, 4.0) * steps / n

    said = conclusion(measured(distance=far))
    assert "plain AP and SmoothAP of the 5 losses have a smaller one than SOPRC" in said
    assert "the slopes of all losses are -1.00 to -1.00" in said


def test_distances_that_grow_and_that_shrink():
    assert "From 5 to 20 steps with N⁺ = 40, ε⁺ grows for all 5 losses" in growth(measured())
    shrinking = measured(
        distance=lambda name, n, steps: (steps if name == "SOPRC" else 1 / steps) / n
    )
    assert "ε⁺ grows for 1 of 5 losses" in growth(shrinking)
