"""Figures of cells that are made up: what is said, and that what is drawn follows the numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.reproductions.retrieval.cells import CELL, cells

from reproductions.retrieval.ablations import Effect
from reproductions.retrieval.figures import convergence, effect_figure, precision_recall

PLACE = ("letters", "pretrained")


def effect(of: str, value: float, maps: list[float], method: str = "SOPRC") -> Effect:
    return Effect(of, value, tuple(cells(method, maps)))


@pytest.mark.parametrize(
    ("draw", "changed"),
    [
        (precision_recall, {"precision": (1.0, 0.9, 0.1)}),
        (convergence, {"history": ((10, 0.3), (20, 0.1))}),
    ],
)
def test_a_curve_is_the_mean_over_the_seeds_of_its_own_numbers(draw, changed):
    def drawn(*found):
        return draw({PLACE: list(found)}).png

    first, other = replace(CELL, seed=0), replace(CELL, seed=1, **changed)
    assert drawn(first) == drawn(first, replace(first, seed=1))  # the mean of two that are alike
    assert drawn(first, other) == drawn(other, first)
    assert drawn(first, other) not in (drawn(first), drawn(other))
    elsewhere = replace(first, map=0.9, validation=0.9, found=())
    assert drawn(elsewhere) == drawn(first)  # what is not of the curve does not change it


def test_ours_are_drawn_over_the_others_in_whatever_order_they_come():
    ours, theirs, gray = (cells(name, [0.4])[0] for name in ("SOPRC", "SupCon", "SoDeep"))
    pictures = {
        precision_recall({PLACE: order}).png
        for order in ([ours, theirs, gray], [gray, theirs, ours], [theirs, ours, gray])
    }
    assert len(pictures) == 1


def test_three_benches_have_four_panels_and_the_last_is_empty():
    three = {(f"set {n}", "pretrained"): [CELL] for n in range(3)}
    four = {**three, ("", ""): [CELL]}
    found, more = (precision_recall(each) for each in (three, four))
    assert found.png.startswith(b"\x89PNG")
    assert found.png[16:24] == more.png[16:24]  # width and height: the same rows
    assert found.png != more.png


def test_an_effect_is_told_point_by_point():
    figure = effect_figure(
        [
            effect("tau", 0.1, [0.2, 0.4]),
            effect("tau", 0.3, [0.5]),
            effect("tau", 0.1, [0.6], "StableAP"),
            effect("batch", 112, [0.25]),
        ]
    )
    assert "letters, SOPRC, tau 0.1: 0.300, 0.3: 0.500" in figure.description
    assert "letters, StableAP, tau 0.1: 0.600" in figure.description
    assert "letters, SOPRC, batch 112: 0.250" in figure.description
