"""What the page says of curves that are made up."""

from __future__ import annotations

import importlib
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from rankwise.theory import mean_of
from reproductions.frame import Setting
from reproductions.saturation.study import LOSSES, Curve, Plan, measure

module = importlib.import_module("reproductions.saturation.study")

STEPS = [0, 10, 20, 30, 40, 50, 60, 70, 80]
PLAN = Plan(prior=0.05, items=3_000, batch=1_500, steps=80, every=10, repeats=3)


def curves() -> list[Curve]:
    """AP rises by .01 a look, and is better by .1 with every loss and by .02 with every repeat."""
    found = []
    for repeat in range(PLAN.repeats):
        for number, name in enumerate(LOSSES):
            ap = [0.1 * number + 0.02 * repeat + 0.01 * k for k in range(len(STEPS))]
            gain = [1.5 + repeat * (k > 0) + k for k in range(len(STEPS))]
            if name == "cross-entropy":
                gain = [math.nan] * len(STEPS)
            elif "published" in name:
                gain = [19.0] * len(STEPS)
            value = [1 / (k + 1) for k in range(len(STEPS))]
            found.append(Curve(name, repeat, STEPS, value, ap, gain))
    return found


@pytest.fixture(scope="module")
def told():
    """The outcome for curves that are made up, and the axes of its figure."""
    drawn, real = [], module.png
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "png", lambda figure: drawn.append(figure) or real(figure))
        patch.setattr(
            module, "study", replace(module.study, measure=lambda plan, setting: curves())
        )
        patch.setattr(module.Plan, "of", classmethod(lambda cls, setting: PLAN))
        outcome = module.study(Setting(seed=9, quick=True))
    return outcome, drawn[0].axes


def test_the_table_has_a_quarter_of_the_way_and_its_end(told):
    table = told[0].table
    assert table.header[1:3] == ("test AP after 20 steps", "at the end")
    half = mean_of([0.0, 0.02, 0.04]).half_width()
    for number, row in enumerate(table.rows):
        assert row[0] == list(LOSSES)[number]
        middle = 0.1 * number + 0.02
        assert row[1] == f"{middle + 0.02:.3f} ± {half:.3f}"  # two looks of .01
        assert row[2] == f"{middle + 0.08:.3f} ± {half:.3f}"  # eight


def test_gains_go_from_the_first_look_to_the_mean_of_the_last(told):
    gains = {row[0]: row[3] for row in told[0].table.rows}
    assert gains["cross-entropy"] == "–"
    assert gains["SOPRC, published gain"] == "19 → 19"
    assert gains["SOPRC, annealed"] == "1.5 → 10.5"  # of 9.5, 10.5 and 11.5


def test_the_summary_has_the_end_of_every_loss(told):
    found = told[0].summary["test_ap"]
    assert list(found) == list(LOSSES)
    assert found["SOPRC, annealed"]["value"] == pytest.approx(0.2 + 0.02 + 0.08)
    assert {one["n"] for one in found.values()} == {3}


def test_every_look_is_a_row(told):
    rows = told[0].rows
    assert len(rows) == len(LOSSES) * PLAN.repeats * len(STEPS)
    last = rows[-1]
    assert (last["loss"], last["repeat"], last["step"]) == ("StableAP, annealed", 2, 80)
    assert last["test_ap"] == pytest.approx(0.4 + 0.04 + 0.08)
    assert last["value"] == pytest.approx(1 / 9)


def test_means_are_drawn_and_published_gains_are_dashed(told):
    loss, ap, gain = told[1]
    for number, name in enumerate(LOSSES):
        for axes in (loss, ap, gain):
            line = axes.lines[number]
            assert line.get_linestyle() == ("--" if "published" in name else "-")
            assert list(line.get_xdata()) == STEPS
        expected = [0.1 * number + 0.02 + 0.01 * k for k in range(len(STEPS))]
        np.testing.assert_allclose(np.asarray(ap.lines[number].get_ydata()), expected, atol=1e-6)
    assert [line.get_label() for line in ap.lines] == list(LOSSES)
    assert gain.get_yscale() == "log"


def test_what_was_done_has_the_numbers_of_the_plan(told):
    (said,) = told[0].sections[1].paragraphs
    assert said.startswith("Seed 9, a quick run. 3,000 synthetic items")
    assert "5% positive" in said
    assert "80 steps of SGD with momentum on batches of 1,500 drawn" in said
    assert said.count("3 repeats") == 1


def test_the_gain_as_published_is_where_the_annealed_one_ends():
    # What the page says of it: min((1−π)/π, 1/median ratio), on a list ranked without an error.
    target = torch.arange(400) < 20
    scores = torch.where(target, 3.0, -3.0) + torch.linspace(-0.1, 0.1, 400)
    for name in ("SOPRC, annealed", "StableAP, annealed"):
        loss = LOSSES[name](0.05)
        loss(scores, target)
        assert float(loss.multiplier) == pytest.approx(0.95 / 0.05)
        other = LOSSES[name](0.05)
        other(scores[torch.randperm(400, generator=torch.Generator().manual_seed(0))], target)
        assert float(other.multiplier) < 3


@pytest.mark.parametrize(("swapped", "words"), [(False, "higher (+0.100"), (True, "lower (-0.100")])
def test_the_sentence_says_which_gain_ends_higher(swapped, words):
    found = curves()
    if swapped:
        other = {"annealed": "published gain", "published gain": "annealed"}
        found = [
            replace(c, loss=", ".join([c.loss.split(", ")[0], other[c.loss.split(", ")[1]]]))
            for c in found
            if ", " in c.loss
        ]
    first, second = module.outcome(found)
    assert f"the last test AP is {words} ± 0.000" in first
    assert f"the last test AP is {words} ± 0.000" in second
    assert "the training loss goes from 1.000 to 0.111" in first


def test_same_data_and_start_for_every_loss_and_gains_where_there_are_any():
    plan = Plan(prior=0.1, items=300, batch=100, steps=4, every=2, repeats=2)
    curves = measure(plan, Setting())
    assert [(c.loss, c.repeat) for c in curves] == [(n, r) for r in range(2) for n in LOSSES]
    for curve in curves:
        assert curve.steps == [0, 2, 4]
        first = next(c for c in curves if c.repeat == curve.repeat)
        assert curve.test_ap[0] == first.test_ap[0]  # before the first step
        if curve.loss == "cross-entropy":
            assert all(math.isnan(gain) for gain in curve.gain)
        elif "published" in curve.loss:
            assert curve.gain == [(1 - plan.prior) / plan.prior] * 3
        else:
            assert 0 < curve.gain[0] < (1 - plan.prior) / plan.prior


def test_the_number_of_repeats_can_be_chosen():
    assert Plan.of(Setting(draws=7)).repeats == 7
    assert Plan.of(Setting(quick=True)).steps < Plan.of(Setting()).steps
