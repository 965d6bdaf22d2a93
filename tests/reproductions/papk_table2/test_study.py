"""What the page says of runs that are made up."""

from __future__ import annotations

import importlib
import math
from dataclasses import replace

import pytest

from rankwise.report import Figure
from rankwise.theory import mean_of
from reproductions.frame import Setting
from reproductions.papk_table2.measure import CASES, PAP, Plan, Run

module = importlib.import_module("reproductions.papk_table2.study")

KINDS = ("trained on", "new")
FIRST, SECOND = CASES


def runs(ours, rival, *, case=FIRST, kind="new"):
    """Runs of both methods, (precision, AUC@k) of each."""
    return [
        Run(case.name, method, kind, number, *pair)
        for method, pairs in ((case.rival, rival), (PAP, ours))
        for number, pair in enumerate(pairs)
    ]


def everywhere(ours, rival):
    return [run for case in CASES for kind in KINDS for run in runs(ours, rival, case=case,
                                                                    kind=kind)]  # fmt: skip


def test_both_methods_of_every_case_have_printed_numbers():
    wanted = {(case.name, method) for case in CASES for method in case.losses()}
    assert set(module.PUBLISHED) == wanted
    for case in CASES:
        ours, rival = (module.PUBLISHED[case.name, name] for name in (PAP, case.rival))
        bracket = [row[2].partition("(")[2] for row in (ours, rival)]
        assert bracket[0] == bracket[1]  # the same runs have the same precision


@pytest.mark.parametrize(
    ("won", "lost", "words"),
    [
        (11, 0, "11 : 0, p < .001"),  # 2/2048
        (10, 0, "10 : 0, p = 0.002"),  # 2/1024
        (0, 11, "0 : 11, p < .001"),
        (1, 1, "1 : 1, p = 1"),
        (0, 0, "0 : 0, p = 1"),
    ],
)
def test_a_sign_test_of_the_runs_that_are_not_alike(won, lost, words):
    said = module._claim([0.5] * won + [-0.5] * lost + [0.0] * 3)
    assert said.endswith(words)


def test_a_difference_by_hand():
    apart = [0.1, 0.2, -0.3, 0.4]
    mean = mean_of(apart)
    assert module._claim(apart) == f"+0.100 ± {mean.half_width():.3f}, 3 : 1, p = 0.62"
    assert module._claim([0.1]) == module._claim([]) == "–"


def test_order_is_compared_where_precision_is_the_same_and_there_is_one():
    ours = [(0.5, 0.9), (0.5, math.nan), (0.4, 0.8), (0.3, 0.2)]
    rival = [(0.5, 0.7), (0.5, 0.9), (0.3, 0.1), (0.3, math.nan)]
    pairs = module._pairs(runs(ours, rival), FIRST, "new")
    assert [(a.method, b.method) for a, b in pairs] == [(PAP, FIRST.rival)] * 4
    assert module._same(pairs) == [(0.9, 0.7)]


def test_the_table_by_hand():
    ours = [(0.5, 0.9), (0.4, 0.6), (0.4, 0.5), (0.3, 0.5)]
    rival = [(0.5, 0.7), (0.3, 0.1), (0.4, 0.7), (0.4, 0.9)]
    found = everywhere(ours, rival)
    table = module._table(found, "new")
    rows = {row[0]: row[1:] for row in table.rows}
    spread = math.sqrt((0.1**2 + 0.1**2) / 3)
    deviation = math.sqrt(2 * 0.2**2)
    own = rows[f"{FIRST.name}: {PAP}"]
    assert [cell.partition(" | ")[0] for cell in own] == [
        f"0.400 ± {spread:.2f}", "1", f"0.700 ± {deviation:.2f} (2)", "1",
    ]  # fmt: skip
    other = rows[f"{FIRST.name}: {FIRST.rival}"]
    assert [cell.partition(" | ")[0] for cell in other] == [
        f"0.400 ± {math.sqrt(0.02 / 3):.2f}", "1", "0.700 ± 0.00 (2)", "1",
    ]  # fmt: skip
    for case in CASES:
        for method in case.losses():
            printed = [cell.partition(" | ")[2] for cell in rows[f"{case.name}: {method}"]]
            assert tuple(printed) == module.PUBLISHED[case.name, method]
    assert "is a new one" in table.caption
    assert "that was trained on" in module._table(found, "trained on").caption


def test_no_run_with_the_same_precision_has_no_order():
    found = everywhere([(0.5, 0.9)] * 2, [(0.4, 0.9)] * 2)
    cells = module._table(found, "new").rows[0]
    assert cells[3].startswith("– (0) | ")
    verdicts = module._verdicts(found)
    assert {row[3] for row in verdicts.rows} == {"–"}


def test_cases_and_samples_are_judged_apart():
    better, worse = [(0.6, 0.5)] * 3, [(0.2, 0.5)] * 3
    found = [
        *runs(better, worse, case=FIRST, kind="trained on"),
        *runs(worse, better, case=FIRST, kind="new"),
        *runs(worse, worse, case=SECOND, kind="trained on"),
        *runs(better, worse, case=SECOND, kind="new"),
    ]
    table = module._verdicts(found)
    said = {row[0]: (row[1], row[2].partition(" ±")[0]) for row in table.rows}
    assert said == {
        f"{FIRST.name}, trained on": (FIRST.rival, "+0.400"),
        f"{SECOND.name}, trained on": (SECOND.rival, "+0.000"),
        f"{FIRST.name}, new": (FIRST.rival, "-0.400"),
        f"{SECOND.name}, new": (SECOND.rival, "+0.400"),
    }


def test_the_sentences_follow_the_runs():
    better, worse = [(0.4, 0.9), (0.6, 0.9), (0.5, 0.9)], [(0.2, 0.9), (0.3, 0.9), (0.25, 0.9)]
    found = [
        *runs(better, worse, case=FIRST, kind="trained on"),
        *runs(worse, better, case=FIRST, kind="new"),
        *runs(worse, worse, case=SECOND, kind="trained on"),
        *runs([(0.5, 0.9)] * 3, [(0.5, 0.7), (0.5, 0.8), (0.5, 0.75)], case=SECOND, kind="new"),
    ]
    first, second = module.outcome(found)
    high, low = mean_of([0.2, 0.3, 0.25]), mean_of([0.0, 0.0, 0.0])
    assert f"on the sample trained on prec@k is higher (+0.250 ± {high.half_width():.3f})" in first
    assert f"on new samples prec@k is lower (-0.250 ± {high.half_width():.3f})" in first
    assert first.count("at equal prec@k cannot be compared") == 2
    assert first.endswith("The paper has +0.07 and +0.09.")
    assert f"prec@k is level ({low.value:+.3f} ± 0.000)" in second
    assert "at equal prec@k is higher (+0.150 ± " in second
    assert second.endswith("The paper has +0.06 and +0.05.")
    level, _ = module.levels(found)
    assert "has a mean prec@k of 0.500 and SGD@k-avg 0.250; the paper prints 0.27 and 0.20" in level
    assert "0.50 is the most that 10 positives in 20 places" in level


def test_the_page_has_the_plan_and_the_rows_have_no_nan(monkeypatch):
    found = everywhere([(0.5, math.nan), (0.4, 0.5)], [(0.5, 0.9), (0.4, 0.25)])
    made_up = replace(module.study, measure=lambda plan, setting: found)
    monkeypatch.setattr(module, "study", made_up)
    monkeypatch.setattr(module, "_figure", lambda runs: Figure(b"", "drawn elsewhere"))
    plan = Plan(runs=2, steps=4_000, eta=0.25, lam=0.01)
    monkeypatch.setattr(module.Plan, "of", classmethod(lambda cls, setting: plan))
    outcome = module.study(Setting(seed=5))
    (said,) = outcome.sections[1].paragraphs
    assert said.startswith("Seed 5. 2 runs: ")
    assert "4,000 steps 0.25/√(t+1), ridge 0.01." in said
    for case in CASES:
        assert f"{case.n_positives} and {case.n_negatives} with k = {case.k}" in said
    assert {row["auc_at_k"] for row in outcome.rows} == {"", 0.5, 0.9, 0.25}
    assert outcome.summary["verdicts"][0]["against"] == FIRST.rival


def test_runs_are_counted_by_their_precision_on_new_samples(monkeypatch):
    drawn = []
    monkeypatch.setattr(module, "png", lambda figure: drawn.append(figure) or b"")
    ours = [(0.5, 0.5), (0.5, 0.5), (0.1, 0.5)]
    rival = [(0.0, 0.5), (1.0, 0.5), (1.0, 0.5)]
    found = [
        *runs(ours, rival, case=FIRST),
        *runs(ours, rival, case=SECOND),
        *runs(rival, ours, case=FIRST, kind="trained on"),
    ]
    module._figure(found)
    for axes, case in zip(drawn[0].axes, CASES, strict=True):
        other, own = ([bar.get_height() for bar in c] for c in axes.containers)
        assert len(own) == case.k + 1
        assert {i / case.k: n for i, n in enumerate(own) if n} == {0.1: 1, 0.5: 2}
        assert {i / case.k: n for i, n in enumerate(other) if n} == {0.0: 1, 1.0: 2}
