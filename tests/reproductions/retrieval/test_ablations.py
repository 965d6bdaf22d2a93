"""One number changed and all else as it was chosen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.reproductions.retrieval.tiny import plan

from reproductions.frame import Runs, Setting
from reproductions.retrieval.ablations import ablate, batch_of, effects
from reproductions.retrieval.benches import Pretrained, Trial
from reproductions.retrieval.features import features_of
from reproductions.retrieval.measure import Measurer
from reproductions.retrieval.methods import ABLATIONS, METHODS

NAMED = {method.name: method for method in METHODS}
SETTING = Setting(seed=4)


@pytest.fixture(scope="module")
def bench():
    tiny = plan(ablation_seeds=2, methods=(NAMED["SOPRC"], NAMED["StableAP"]))
    features = features_of(tiny.problems[0].splits, tiny.extractor, tiny.extractor_views)
    return Pretrained(tiny.problems[0], tiny, features)


@pytest.fixture(scope="module")
def chosen(bench):
    return Measurer(bench, Runs(None, {})).compare(bench.plan.methods, 2, SETTING)


@pytest.fixture(scope="module")
def found(bench, chosen):
    return effects(bench, chosen, SETTING, Runs(None, {}))


def of(found, of, value, method):
    (effect,) = (e for e in found if (e.of, e.value, e.cells[0].method) == (of, value, method))
    return effect.cells


def test_both_losses_at_every_width_and_size(found):
    places = [(effect.of, effect.value, effect.cells[0].method) for effect in found]
    # 80 images are not to be had of 6 classes of 4 images: all of them are the largest batch.
    assert places == [
        (kind, value, method)
        for kind, values in (("tau", (0.1, 0.3)), ("batch", (4, 6, 24)))
        for value in values
        for method in ("SOPRC", "StableAP")
    ]
    assert all([cell.seed for cell in effect.cells] == [4, 5] for effect in found)


def test_the_rate_is_the_chosen_one_and_of_a_batch_the_loss_as_well(found, chosen):
    before = {cell.method: cell for cell in chosen}
    for effect in found:
        for cell in effect.cells:
            assert cell.rate == before[cell.method].rate
            if effect.of == "batch":
                assert cell.objective == before[cell.method].objective
            else:
                assert f"={effect.value:g}".replace("0.", ".") in cell.objective


def test_another_choice_of_the_comparison_is_kept_for_the_batches_only(bench, chosen):
    second = [replace(cell, objective=NAMED[cell.method].tries[1], rate=0.03) for cell in chosen]
    small = replace(bench, plan=replace(bench.plan, taus=(".1",), sizes=(4,), ablation_seeds=1))
    for effect in effects(small, second, SETTING, Runs(None, {})):
        (cell,) = effect.cells
        assert cell.objective == NAMED[cell.method].tries[effect.of == "batch"]
        assert cell.rate == 0.03


@pytest.mark.parametrize("method", ["SOPRC", "StableAP"])
def test_the_size_of_the_comparison_is_the_comparison(found, chosen, method):
    own = [cell for cell in chosen if cell.method == method]
    assert list(of(found, "batch", 6, method)) == own
    assert list(of(found, "batch", 24, method)) != own


@pytest.mark.parametrize(("tau", "same"), [(0.1, True), (0.3, False)])
def test_the_width_of_the_comparison_is_the_comparison(bench, tau, same):
    trial = Trial(NAMED["StableAP"], NAMED["StableAP"].tries[0], 0.1, 4)  # of width .1
    own = Measurer(bench, Runs(None, {})).test(trial, [4, 5])
    soprc = [replace(cell, method="SOPRC") for cell in own]
    found = effects(bench, [*own, *soprc], SETTING, Runs(None, {}))
    assert (list(of(found, "tau", tau, "StableAP")) == own) == same


def test_sizes_beyond_the_images_there_are_are_one(bench, chosen):
    more = replace(bench, plan=replace(bench.plan, taus=(".1",), sizes=(24, 25, 100)))
    found = effects(more, chosen, SETTING, Runs(None, {}))
    assert [(e.of, e.value, e.named) for e in found] == [
        *[("tau", 0.1, ".1")] * 2,
        *[("batch", 24.0, "6 × 4")] * 2,
    ]


@pytest.mark.parametrize(
    ("images", "counts", "expected"),
    [
        (112, [20] * 92, (28, 4)),
        (224, [20] * 92, (56, 4)),
        (168, [75] * 40, (28, 6)),  # 42 classes of 4 would be too many, 5 do not divide it
        (224, [75] * 40, (32, 7)),
        (224, [75] * 39 + [6], (37, 6)),  # 222: no class has 7 images, and 4 or 5 are too few
        (7, [9, 9], (1, 7)),
    ],
)
def test_a_batch_has_its_images_in_classes_that_there_are(images, counts, expected):
    assert batch_of(images, 4, counts) == expected


def test_a_batch_smaller_than_a_class_is_refused():
    with pytest.raises(ValueError, match=r"images must be at least 4, .* got 3"):
        batch_of(3, 4, [9, 9])


def test_choices_of_another_bench_are_not_taken(bench, chosen):
    elsewhere = [replace(cell, problem="second", rate=7.0) for cell in chosen]
    small = replace(bench, plan=replace(bench.plan, taus=(".1",), sizes=(4,), ablation_seeds=1))
    found = effects(small, [*chosen, *elsewhere], SETTING, Runs(None, {}))
    assert 7.0 not in {cell.rate for effect in found for cell in effect.cells}


def test_of_the_effects_only_what_the_comparison_has_not_is_trained(bench, tmp_path):
    small = replace(bench, plan=replace(bench.plan, taus=(".03",), sizes=(4, 6), ablation_seeds=1))
    runs = Runs(tmp_path, {})
    own = Measurer(small, runs).compare(small.plan.methods, 1, SETTING)
    first = effects(small, own, SETTING, runs)
    # Tries and tests; of the effects a width and one of the sizes, the other is the comparison's.
    assert len(runs.known) == 2 * (4 + 1) + 2 * 2
    again = effects(small, own, SETTING, Runs(tmp_path, {}))
    assert again == first
    assert list(of(first, "batch", 6, "SOPRC")) == [c for c in own if c.method == "SOPRC"]


def test_a_line_that_repeats_a_method_is_that_method_and_shares_its_trainings(bench):
    lines = [line for line in ABLATIONS if line.repeats]
    assert {NAMED[line.repeats] for line in lines} == {m for m in METHODS if m.ours}
    for line in lines:
        same = NAMED[line.repeats]
        assert line.tries == same.tries[:1]
        assert replace(line, name="", tries=(), repeats="") == replace(
            same, name="", tries=(), ours=False
        )
    (line,) = (line for line in lines if line.repeats == "StableAP")
    runs = Runs(None, {})
    measurer = Measurer(bench, runs)
    measurer.compare([NAMED["StableAP"]], 2, SETTING)
    before = set(runs.known)
    cells = measurer.compare([line], 2, SETTING)
    assert {cell.method for cell in cells} == {line.name}
    new = set(runs.known) - before
    assert not any(name.endswith("try") for name in new)  # all rates were tried there


def test_every_line_is_chosen_among_the_same_rates(bench):
    runs = Runs(None, {})
    cells = ablate(bench, SETTING, runs)
    lines = [method.name for method in bench.plan.ablations]
    assert [(c.method, c.seed) for c in cells] == [(name, s) for name in lines for s in (4, 5)]
    for line in lines:
        tried = {
            float(name.split(" / ")[3].rpartition(" ")[2]): worth
            for name, worth in runs.known.items()
            if name.split(" / ")[2] == line and name.endswith("try")
        }
        assert tried.keys() == set(bench.budget.rates)
        first = next(cell for cell in cells if cell.method == line)
        assert tried[first.rate] == max(tried.values()) == first.validation
