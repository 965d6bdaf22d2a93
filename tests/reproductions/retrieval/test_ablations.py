"""One number changed and all else as it was chosen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.reproductions.retrieval.tiny import plan

from reproductions.frame import Runs, Setting
from reproductions.retrieval.ablations import ablate, effects
from reproductions.retrieval.benches import Pretrained, Trial
from reproductions.retrieval.features import features_of
from reproductions.retrieval.measure import Measurer
from reproductions.retrieval.methods import METHODS

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
    # There are 6 classes: no batch has 40 of them. A batch has two images of each.
    assert places == [
        (kind, value, method)
        for kind, values in (("tau", (0.1, 0.3)), ("batch", (4, 6, 12)))
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
    small = replace(bench, plan=replace(bench.plan, taus=(".1",), sizes=(2,), ablation_seeds=1))
    for effect in effects(small, second, SETTING, Runs(None, {})):
        (cell,) = effect.cells
        assert cell.objective == NAMED[cell.method].tries[effect.of == "batch"]
        assert cell.rate == 0.03


@pytest.mark.parametrize("method", ["SOPRC", "StableAP"])
def test_the_size_of_the_comparison_is_the_comparison(found, chosen, method):
    own = [cell for cell in chosen if cell.method == method]
    assert list(of(found, "batch", 6, method)) == own
    assert list(of(found, "batch", 12, method)) != own


@pytest.mark.parametrize(("tau", "same"), [(0.1, True), (0.3, False)])
def test_the_width_of_the_comparison_is_the_comparison(bench, tau, same):
    trial = Trial(NAMED["StableAP"], NAMED["StableAP"].tries[0], 0.1, 4)  # of width .1
    own = Measurer(bench, Runs(None, {})).test(trial, [4, 5])
    soprc = [replace(cell, method="SOPRC") for cell in own]
    found = effects(bench, [*own, *soprc], SETTING, Runs(None, {}))
    assert (list(of(found, "tau", tau, "StableAP")) == own) == same


def test_sizes_beyond_the_classes_there_are_are_one(bench, chosen):
    more = replace(bench, plan=replace(bench.plan, taus=(".1",), sizes=(6, 7, 100)))
    found = effects(more, chosen, SETTING, Runs(None, {}))
    assert [(e.of, e.value) for e in found] == [("tau", 0.1)] * 2 + [("batch", 12.0)] * 2


def test_choices_of_another_bench_are_not_taken(bench, chosen):
    elsewhere = [replace(cell, problem="second", rate=7.0) for cell in chosen]
    small = replace(bench, plan=replace(bench.plan, taus=(".1",), sizes=(2,), ablation_seeds=1))
    found = effects(small, [*chosen, *elsewhere], SETTING, Runs(None, {}))
    assert 7.0 not in {cell.rate for effect in found for cell in effect.cells}


def test_runs_of_the_effects_do_not_mix_with_those_of_the_comparison(bench, tmp_path):
    small = replace(bench, plan=replace(bench.plan, taus=(".1",), sizes=(2, 3), ablation_seeds=1))
    runs = Runs(tmp_path, {})
    own = Measurer(small, runs).compare(small.plan.methods, 1, SETTING)
    first = effects(small, own, SETTING, runs)
    assert len(runs.known) == 2 * (4 + 1) + 2 * 3  # tries and tests; a width and two sizes
    again = effects(small, own, SETTING, Runs(tmp_path, {}))
    assert again == first


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
