"""Figures of cells that are made up: what is said, and that what is drawn follows the numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.reproductions.retrieval.cells import CELL, cells

from reproductions.retrieval.ablations import Effect
from reproductions.retrieval.figures import (
    convergence,
    effect_curves,
    effect_figure,
    mean_history,
    precision_recall,
)

PLACE = ("letters", "pretrained")


def effect(of: str, value: float, maps: list[float], method: str = "SOPRC") -> Effect:
    return Effect(of, value, "28 × 4", tuple(cells(method, maps)))


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


def test_a_history_is_the_mean_over_the_seeds():
    other = replace(CELL, seed=1, history=((10, 0.1), (20, 0.8)))
    steps, mean = mean_history([CELL, other])
    assert steps == [10, 20]
    assert mean == pytest.approx([0.2, 0.65])


@pytest.mark.parametrize("of", ["tau", "batch"])
def test_curves_of_an_effect_are_those_of_its_own_histories(of):
    def drawn(last, other=0.9):
        own = replace(CELL, method="SOPRC", history=((10, 0.3), (20, last)))
        else_ = replace(own, history=((10, 0.3), (20, other)))
        found = [Effect(of, 1.0, "1", (own,)), Effect(of, 2.0, "2", (own,))]
        elsewhere = "batch" if of == "tau" else "tau"
        return effect_curves([*found, Effect(elsewhere, 3.0, "3", (else_,))], of)

    assert drawn(0.5).png == drawn(0.5, other=0.1).png
    assert drawn(0.5).png != drawn(0.6).png
    name = "τ" if of == "tau" else "batch size"
    assert f"letters, SOPRC, highest by {name} 1: 0.500, 2: 0.500" in drawn(0.5).description


def test_each_data_set_has_a_row_of_curves_and_each_loss_a_column():
    def size(problems, methods):
        found = [
            Effect("tau", value, "", (replace(CELL, problem=problem, method=method),))
            for problem in problems
            for method in methods
            for value in (0.1, 0.3)
        ]
        png = effect_curves(found, "tau").png
        return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")

    both = size(("a", "b"), ("SOPRC", "StableAP"))
    assert both == size(("a", "b"), ("SOPRC",))
    assert both[1] == 2 * size(("a",), ("SOPRC", "StableAP"))[1]
