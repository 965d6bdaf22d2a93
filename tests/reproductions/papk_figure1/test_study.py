"""What the page shows of points that are made up, and what it says of those that are not."""

from __future__ import annotations

import importlib
from dataclasses import replace

import numpy as np
import pytest
import torch

from rankwise.metrics import pap_at_k
from rankwise.objectives import PApAtK
from reproductions.frame import Setting
from reproductions.papk_figure1.measure import (
    CONDITIONS,
    WATCHED,
    Plan,
    Point,
    draw,
    measure,
    step_sizes,
)

module = importlib.import_module("reproductions.papk_figure1.study")

STEPS = (0, 3, 9)
NAMES = (*WATCHED, "risk")


def value(condition: str, name: str, step: int) -> float:
    return 1 / (1 + step) + 0.01 * NAMES.index(name) + len(condition) / 1000


@pytest.fixture(scope="module")
def told():
    """The outcome for points that are made up, and the axes of its figure."""
    points = [
        Point(condition.name, step, name, value(condition.name, name, step))
        for condition in CONDITIONS
        for step in STEPS
        for name in NAMES
    ]
    plan, drawn, real = Plan(12, 3_400, 7, 3, steps=9, looks=3), [], module.png
    with pytest.MonkeyPatch.context() as patch:
        measured = module.Measured(points, {0.1: 0.25, 0.3: 0.5})
        made_up = replace(module.study, measure=lambda plan, setting: measured)
        patch.setattr(module, "study", made_up)
        patch.setattr(module.Plan, "of", classmethod(lambda cls, setting: plan))
        patch.setattr(module, "png", lambda figure: drawn.append(figure) or real(figure))
        outcome = module.study(Setting(seed=3))
    return outcome, drawn[0].axes


def test_the_table_has_the_last_step_of_every_condition(told):
    table = told[0].table
    assert [row[0] for row in table.rows] == [
        "strong β-margin, max", "β-margin, avg", "moderate β-margin, ts",
    ]  # fmt: skip
    for row, condition in zip(table.rows, CONDITIONS, strict=True):
        assert row[1:-1] == tuple(f"{value(condition.name, name, 9):.3g}" for name in NAMES)


def test_the_papers_words_name_the_surrogates_that_vanish(told):
    for row, condition in zip(told[0].table.rows, CONDITIONS, strict=True):
        converge = row[-1].partition(";")[0].lower()
        assert "converge to 0" in converge
        named = {name for name in ("ramp", "avg", "max", "ts") if name in converge.split()}
        assert named == (set() if "all four" in converge else set(condition.vanish))
        assert condition.surrogate in condition.vanish


def test_the_summary_has_the_same_last_values(told):
    last = told[0].summary["last"]
    for condition in CONDITIONS:
        assert last[condition.name] == {n: value(condition.name, n, 9) for n in NAMES}
    assert len(told[0].rows) == len(CONDITIONS) * len(STEPS) * len(NAMES)


def test_the_first_step_size_is_shown_with_the_others(told):
    said = next(s for s in told[0].sections if s.heading == "The first step size").paragraphs[0]
    own = value("strong", "max", 9)
    assert f"0.5 ends at {own:.3g}, 0.1 ends at 0.25 and 0.3 ends at 0.5." in said
    assert told[0].summary["max_by_eta"] == {"0.1": 0.25, "0.3": 0.5}


def test_another_step_size_is_another_end_and_the_own_one_the_same():
    plan = Plan(30, 100, 5, steps=20, looks=4, etas=(0.1, 0.5))
    points = measure(plan, Setting(seed=1))
    found = step_sizes(plan, Setting(seed=1))
    (last,) = (p.value for p in points if (p.condition, p.step, p.watched) == ("strong", 20, "max"))
    assert found[0.5] == last
    assert found[0.1] != last


def test_draws_are_refused():
    with pytest.raises(ValueError, match=r"draws has no effect on this study, .* got 5; leave"):
        Plan.of(Setting(draws=5))
    assert Plan.of(Setting()) == Plan()


def test_every_condition_has_its_curves(told):
    for axes, condition in zip(told[1], CONDITIONS, strict=True):
        assert axes.get_title("left") == f"{condition.name}: {condition.surrogate} descended"
        assert [line.get_label() for line in axes.lines] == list(NAMES)
        for line, name in zip(axes.lines, NAMES, strict=True):
            assert list(line.get_xdata()) == [1, 4, 10]
            assert list(line.get_ydata()) == [value(condition.name, name, s) for s in STEPS]
        assert axes.get_xscale() == "log"
        assert axes.get_ylim()[0] == 0


def test_what_was_done_has_the_numbers_of_the_plan(told):
    (said,) = told[0].sections[0].paragraphs
    assert said.startswith("Seed 3. 12 positives from N(0, I) and 3,400 negatives")
    assert "in 3 dimensions" in said
    assert "k = 7." in said
    assert "for 9 steps η/√(t+1), η = 0.5, 0.01, 0.01" in said


def test_what_the_page_says_of_the_order_and_of_the_start_is_so():
    points = measure(Plan(30, 100, 5, steps=40, looks=12), Setting(seed=1))
    by_place = {}
    for point in points:
        by_place.setdefault((point.condition, point.step), {})[point.watched] = point.value
    for (_, step), found in by_place.items():
        if step == 0:
            surrogates = ("ramp", "avg", "max", "ts", "ts_eq14")
            assert [found[name] for name in surrogates] == pytest.approx([1] * 5)
        assert found["risk"] <= found["ramp"] + 1e-9
        assert found["ramp"] <= found["max"] + 1e-9
        assert found["avg"] <= found["max"] + 1e-9


def test_one_high_positive_satisfies_the_mean_for_all():
    # The page's exception to the paper's order: avg is 0 where a pair of four is wrong.
    scores, target = torch.tensor([10.0, 0.0, 0.5, -20.0]), torch.tensor([1, 1, 0, 0])
    avg, ramp = (float(WATCHED[name](2)(scores, target)) for name in ("avg", "ramp"))
    risk = 1 - float(pap_at_k(scores, target, k=2))
    assert (avg, risk) == (0, 0.25)
    assert ramp >= risk


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda c: c.name)
def test_the_condition_holds_at_ones_and_makes_its_surrogates_zero(condition):
    plan = Plan(40, 300, 8)
    positives, negatives = draw(condition, plan, np.random.default_rng(0))
    above, below = np.sort(positives.sum(1)), negatives.sum(1).max()
    tight = 1e-9
    if condition.name == "strong":
        assert above[0] - below >= 1 - tight
    elif condition.name == "moderate":
        assert above[0] - below >= -tight
        assert above[-8] - below >= 1 - tight
    else:
        assert above[:8].mean() - below >= 1 - tight
    scores = torch.from_numpy(np.concatenate([positives, negatives]).sum(1))
    target = torch.arange(340) < 40
    for surrogate in ("ramp", "avg", "max", "ts"):
        value = float(PApAtK(8, surrogate, score_scale=1)(scores, target))
        if surrogate in condition.vanish:
            assert value <= 1e-9


def test_negatives_keep_their_law_across_the_ones():
    plan = Plan(40, 20_000, 8)
    _, negatives = draw(CONDITIONS[0], plan, np.random.default_rng(0))
    across = negatives - negatives.mean(1, keepdims=True)
    np.testing.assert_allclose(across.mean(0), 0, atol=0.03)
    np.testing.assert_allclose(across.var(0), 4 / 5, atol=0.03)


def test_the_descended_surrogate_falls_and_all_are_looked_at_together():
    points = measure(Plan(30, 100, 5, steps=120, looks=6), Setting())
    for condition in CONDITIONS:
        own = [p for p in points if p.condition == condition.name]
        watched = {p.watched for p in own}
        assert watched == {"ramp", "avg", "max", "ts", "ts_eq14", "AUC (4)", "risk"}
        curve = [p.value for p in own if p.watched == condition.surrogate]
        assert curve[0] == pytest.approx(1)
        assert curve[-1] < 0.8
