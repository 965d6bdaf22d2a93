"""What the page says of cells that are made up."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace

import numpy as np
import pytest
from tests.reproductions.papk_table3.generated import generated_ratings

from rankwise.report import Figure
from rankwise.theory import mean_of
from reproductions.frame import Setting
from reproductions.papk_table3.instances import split_rows
from reproductions.papk_table3.measure import (
    BASELINES,
    METHODS,
    OURS,
    RANDOM,
    STARTS,
    WITHOUT_DESCENT,
    Cell,
    Plan,
)
from reproductions.papk_table3.movielens import movielens
from reproductions.papk_table3.published import PUBLISHED

module = importlib.import_module("reproductions.papk_table3.study")

DATA = movielens(generated_ratings(), first=6, factors=2, least=8)
PLAN = Plan(DATA, ks=(3, 8), splits=3, etas=(0.1, 0.3), lams=(0.001,), steps=4)
TS, AVG, MAX = "GD-pAp@k-TS", "GD-pAp@k-avg", "GD-pAp@k-max"


def cells(level=lambda method, start, k: (40.0, 30.0), plan=PLAN):
    """``level(method, start, k)`` gives test and validation; splits are 0, 1, 2 higher."""
    found = []
    for start in STARTS:
        for name in (*METHODS, RANDOM):
            if start == "zero" or name not in (*WITHOUT_DESCENT, RANDOM):
                for k in plan.ks:
                    test, validation = level(name, start, k)
                    found += [
                        Cell(name, start, k, split, test + split, test / 2, validation, 0.1, 0, 3)
                        for split in range(plan.splits)
                    ]
    return found


def test_the_sentences_follow_the_cells():
    """Of 2 · 5 comparisons and 2 · 4 means; splits differ alike, so that every interval is 0."""

    def told(ours):
        found = cells(lambda method, start, k: (ours if method in OURS else 40.0, 30.0))
        return module.outcome(found, PLAN)

    ahead, behind = told(50.0), told(30.0)
    assert "above a baseline in 10 of 10 comparisons and below one in 0." in ahead[0]
    assert "above that of a surrogate in 0 of 8 cases" in ahead[0]
    behind = module.outcome(
        cells(lambda m, s, k: (30.0, 30.0) if m in OURS else (40.0, 30.0)), PLAN
    )
    assert "above a baseline in 0 of 10 comparisons and below one in 10." in behind[0]
    assert "above that of a surrogate in 8 of 8 cases" in behind[0]
    assert "Of our 24 trainings from zero, 0 have chosen" in ahead[1]
    corner = [replace(c, eta=0.3, lam=0.001) for c in cells()]
    said = module.outcome(corner, PLAN)[1]
    assert "24 trainings from zero, 24 have chosen the largest η and the largest λ" in said
    assert "multiplies w by 0.999 in the first step" in said


def chosen(method, start, k):
    """avg from the logistic solution has the best validation of ours, max the best test."""
    if (method, start) == (AVG, "log_loss"):
        return 50.0, 35.0
    if method == MAX:
        return 90.0, 20.0
    if method in BASELINES:
        return (44.0, 33.0) if start == "zero" else (10.0, 5.0)
    return 40.0, 30.0


def told(monkeypatch, found, plan=PLAN, setting=None):
    made_up = replace(module.study, measure=lambda plan, setting: found)
    monkeypatch.setattr(module, "study", made_up)
    monkeypatch.setattr(module, "_figure", lambda cells, plan: Figure(b"", "drawn elsewhere"))
    monkeypatch.setattr(module.Plan, "of", classmethod(lambda cls, setting: plan))
    outcome = module.study(setting or Setting())
    return outcome, {section.heading: section for section in outcome.sections}


def test_the_best_of_ours_and_the_start_are_chosen_by_validation(monkeypatch):
    outcome, _ = told(monkeypatch, cells(chosen))
    rows = {row[0]: row[1:] for row in outcome.table.rows}
    assert rows["best of ours"] == ("avg, from logistic", "avg, from logistic")
    half = mean_of([50.0, 51.0, 52.0]).half_width()
    assert rows["its Micro-pAp@k"] == (f"51.0 ± {half:.1f}",) * 2
    # Less every baseline at its own better start, by validation, on the same splits.
    for name in BASELINES:
        assert rows[f"− {name}"] == ("+6.00 ± 0.00",) * 2
    assert outcome.summary["best"] == {"3": [AVG, "log_loss"], "8": [AVG, "log_loss"]}
    assert outcome.summary["minus"]["logistic"]["8"]["mean"] == pytest.approx(6)


def test_the_best_may_be_another_for_every_k(monkeypatch):
    def level(method, start, k):
        best = {3: (TS, "zero"), 8: (MAX, "log_loss")}[k]
        return (60.0, 50.0) if (method, start) == best else (40.0, 30.0)

    outcome, _ = told(monkeypatch, cells(level))
    assert outcome.table.rows[0] == ("best of ours", "TS", "max, from logistic")
    assert set(outcome.summary["best"]) == {"3", "8"}


def test_differences_are_taken_on_the_same_split_whatever_the_order():
    found = cells()
    noisy = [replace(c, test=c.test + (0, 7, -3)[c.split] + 2 * (c.method == AVG)) for c in found]
    mixed = sorted(noisy, key=lambda c: c.split * (-1) ** (c.method == AVG))
    mean = module.differences(mixed, (AVG, "zero"), ("logistic", "zero"), 3)
    assert (mean.value, mean.half_width()) == pytest.approx((2, 0))


def test_tables_are_by_start_and_only_from_zero_beside_the_paper(monkeypatch):
    plan = replace(PLAN, ks=(8, 12))
    _, sections = told(monkeypatch, cells(plan=plan), plan)
    zero, logistic = sections["Micro-pAp@k, all test users"].tables
    names = [row[0] for row in zero.rows]
    assert names == [*METHODS, RANDOM]
    assert [row[0] for row in logistic.rows] == [n for n in METHODS if n not in WITHOUT_DESCENT]
    rows = {row[0]: row[1:] for row in zero.rows}
    for name, printed in PUBLISHED["Movielens"].items():
        assert [cell.rpartition(" (")[2] for cell in rows[name]] == [
            f"{printed[0]:.1f})", f"{printed[1]:.1f})",
        ]  # fmt: skip
    assert all("(" not in cell for name in ("logistic", RANDOM) for cell in rows[name])
    assert all("(" not in cell for row in logistic.rows for cell in row[1:])
    assert "in brackets the paper" in zero.caption
    assert "paper" not in logistic.caption
    assert "mean over 3 splits" in zero.caption


def test_users_with_k_negatives_have_their_own_tables(monkeypatch):
    _, sections = told(monkeypatch, cells())
    full = sections["Test users with at least k negatives"].tables
    assert len(full) == 2
    shown = {cell.partition(" (")[0] for table in full for row in table.rows for cell in row[1:]}
    assert shown == {"20.0 ± 0.0"}


def test_one_split_has_no_interval(monkeypatch):
    plan = replace(PLAN, splits=1)
    outcome, sections = told(monkeypatch, cells(chosen, plan), plan)
    zero, _ = sections["Micro-pAp@k, all test users"].tables
    assert "one split, so without an interval" in zero.caption
    assert all("±" not in cell for row in zero.rows for cell in row[1:])
    assert outcome.table.rows[-1] == ("− logistic", "+6.00", "+6.00")
    read = json.loads(json.dumps(outcome.summary, allow_nan=False))
    assert read["minus"]["logistic"]["3"] == {"mean": 6.0, "half_width": None}


def test_users_who_cannot_be_ranked_are_counted(monkeypatch):
    outcome, sections = told(monkeypatch, cells(), setting=Setting(seed=2))
    said = sections["Method"].paragraphs[-1]
    test = split_rows(DATA.users, 2_000) == 2
    none, all_positive, few, enough = 0, 0, {3: 0, 8: 0}, {3: 0, 8: 0}
    users = np.unique(DATA.users[test])
    for user in users:
        labels = DATA.y[test & (DATA.users == user)]
        positives, negatives = int(labels.sum()), int((~labels).sum())
        none += positives == 0
        all_positive += positives > 0 and negatives == 0
        for k in few:
            few[k] += positives > 0 and 0 < negatives < k
            enough[k] += positives > 0 and negatives >= k
    assert f"{none} of {len(users)} users have no positive and {all_positive} no negative" in said
    assert said.endswith(f"Fewer than k negatives have {few[3]} (k = 3), {few[8]} (k = 8).")
    assert outcome.summary["users_with_k_negatives"] == {"3": enough[3], "8": enough[8]}
    assert none + enough[3] > 0  # there is something to count


def test_the_grid_is_told_as_the_papers_or_as_a_part_of_it():
    assert module._part(Plan(DATA, (3,))) == "all 60 of the paper's grid"
    assert module._part(PLAN) == "of which 1 are of the paper's 60"  # .3 is none of its rates


def test_splits_are_drawn_or_published():
    assert module._splits(PLAN) == "3 splits of every user's rows, 60:20:20."
    published = replace(DATA, parts=np.zeros(len(DATA.y), dtype=np.int64))
    assert "as published" in module._splits(replace(PLAN, instances=published))


def test_what_was_done_has_the_numbers_of_the_plan(monkeypatch):
    _, sections = told(monkeypatch, cells(), setting=Setting(seed=1, quick=True))
    first, second, _ = sections["Method"].paragraphs
    assert first == f"{DATA.story} {DATA.size}."
    assert second.startswith("Seed 1, a quick run. 3 splits")
    assert "the same 2 settings, η ∈ {0.1, 0.3} × λ ∈ {0.001}" in second
    assert "4 steps η/√(t+1)" in second


def test_every_method_has_its_line_with_both_starts_on_one_scale(monkeypatch):
    drawn = []
    monkeypatch.setattr(module, "png", lambda figure: drawn.append(figure) or b"")
    module._figure(cells(chosen), PLAN)
    zero, logistic = drawn[0].axes
    assert [c.get_label() for c in zero.containers] == list(METHODS)
    assert [c.get_label() for c in logistic.containers] == [
        name for name in METHODS if name not in WITHOUT_DESCENT
    ]
    assert zero.get_ylim() == logistic.get_ylim()
    for axes, start in ((zero, "zero"), (logistic, "log_loss")):
        for container in axes.containers:
            name, line = container.get_label(), container.lines[0]
            level = chosen(name, start, 3)[0] + 1  # the mean of the three splits
            assert [float(y) for y in line.get_ydata()] == pytest.approx([level, level])
            assert line.get_linestyle() == ("-" if name in OURS else ":")
