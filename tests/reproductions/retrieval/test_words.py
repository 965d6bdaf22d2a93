"""What the page says of plans and numbers that are made up."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.reproductions.retrieval.cells import cells
from tests.reproductions.retrieval.tiny import plan

from rankwise.theory import mean_of
from reproductions.frame import Setting
from reproductions.retrieval.ablations import Effect
from reproductions.retrieval.plan import Budget
from reproductions.retrieval.words import conclusion, effect_words, method, untrained

OURS = ("SOPRC", "StableAP")
PLACE = ("letters", "pretrained")


def test_the_method_has_the_numbers_of_the_plan():
    budget = Budget(30, (0.001, 0.02), (5, 2), 7, 3, milestone=0.7, precision="bfloat16")
    made = plan(scratch=budget, classes=9, per_class=4, dimension=17, width=13, dropout=0.25)
    said = method(made, Setting(seed=11))
    whole = " ".join(said)
    assert said[0].startswith("Seed 11. ")
    assert "quick" not in whole
    assert "linear head to 17 numbers" in whole
    assert "dropout 0.25 of" in whole
    assert "the small network (width 13)" in whole
    heads = next(each for each in said if each.startswith("Pretrained"))
    assert heads.endswith(
        "4 steps of 9 classes of 4 images, the first 1 by SupCon; rates 0.01, 0.1; float32; "
        "2 validations; seeds for the two data sets: 2 and 2."
    )
    scratch = next(each for each in said if each.startswith("From scratch"))
    assert scratch.endswith(
        "30 steps of 9 classes of 4 images, the first 7 by SupCon; rates 0.001, 0.02, the last "
        "30% at a tenth; bfloat16; 3 validations; seeds for the two data sets: 5 and 2."
    )


def test_a_quick_run_says_so_and_every_part_of_the_data_is_described():
    made = plan()
    first = method(made, Setting(quick=True))[0]
    assert first.startswith("Seed 0, a quick run. ")
    for problem in made.problems:
        for line in problem.splits.describe().splitlines():
            assert f"{line}." in first


def test_first_is_who_has_the_highest_test_and_ours_is_chosen_by_validation():
    found = conclusion(
        {
            PLACE: [
                *cells("SOPRC", [0.80, 0.84], validation=0.3),
                *cells("StableAP", [0.50, 0.54], validation=0.4),
                *cells("SupCon", [0.60, 0.62], validation=0.1),
                *cells("triplet", [0.30, 0.31], validation=0.9),
            ]
        },
        OURS,
    )
    (said,) = found
    assert "letters, pretrained: SOPRC has the highest test mAP, 0.8200. " in said
    assert "The best of ours by validation is StableAP with 0.5200" in said
    assert "its difference to SupCon, the highest of the others, is -0.0900 ± " in said


def test_every_bench_has_its_sentence():
    own = [*cells("SOPRC", [0.5]), *cells("SupCon", [0.4])]
    other = [replace(cell, problem="birds", map=1 - cell.map) for cell in own]
    first, second = conclusion({PLACE: own, ("birds", "pretrained"): other}, OURS)
    assert first.startswith("letters, pretrained: SOPRC has the highest test mAP, 0.5000")
    assert second.startswith("birds, pretrained: SupCon has the highest test mAP, 0.6000")


@pytest.mark.parametrize(
    ("shift", "words"),
    [(1.01, "beyond the noise"), (0.99, "within the noise"), (-0.99, "within"), (-1.01, "beyond")],
)
def test_a_difference_counts_from_half_of_its_interval_on(shift, words):
    apart = [-0.01, 0.0, 0.01]
    half = mean_of(apart).half_width()
    ours = [0.5 + each + shift * half for each in apart]
    (said,) = conclusion({PLACE: [*cells("SOPRC", ours), *cells("SupCon", [0.5] * 3)]}, OURS)
    assert f", {'which is ' * words.startswith('within')}{words}" in said
    assert "of one seed" not in said


def test_as_high_as_the_features_is_not_above_them():
    raw = {"features": {"map": 0.5, "hit": 0.6}, "start": {"map": 0.4999, "hit": 0.1}}
    own = [*cells("SOPRC", [0.5]), *cells("SupCon", [0.4, 0.9])]
    said = untrained({"letters": raw}, own)
    assert "mAP 0.5000 and R@1 0.6000, 1 of 2 methods are above it in mAP" in said
    assert "has 0.4999 and 0.1000, 2 are above it." in said


def test_only_heads_of_the_same_data_set_are_counted():
    raw = {"features": {"map": 0.3, "hit": 0.6}, "start": {"map": 0.1, "hit": 0.1}}
    own = cells("SOPRC", [0.5])
    scratch = [replace(cell, kind="from scratch", method="triplet") for cell in own]
    birds = [replace(cell, problem="birds", map=0.2) for cell in own]
    said = untrained({"letters": raw, "birds": raw}, [*own, *scratch, *birds])
    assert said.startswith("Before any training. letters: ")
    letters, birds_said = said.split(". birds: ")
    assert "1 of 1 methods are above it in mAP" in letters
    assert "0 of 1 methods are above it in mAP" in birds_said


def test_where_an_effect_is_highest():
    def effect(of, value, maps, method="SOPRC"):
        return Effect(of, value, "", tuple(cells(method, maps)))

    said = effect_words(
        [
            effect("tau", 0.1, [0.3, 0.5]),
            effect("tau", 0.3, [0.1]),
            effect("batch", 56, [0.2]),
            effect("batch", 112, [0.6]),
            effect("tau", 0.1, [0.1], "StableAP"),
            effect("batch", 112, [0.7], "StableAP"),
        ]
    )
    assert "letters, SOPRC: τ = 0.1 (0.4000, the lowest is 0.1000) and 112 images (0.6000" in said
    assert "letters, StableAP: τ = 0.1 (0.1000, the lowest is 0.1000) and 112 images" in said
