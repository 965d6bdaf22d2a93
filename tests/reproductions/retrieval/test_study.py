"""The page against its own rows of data."""

from __future__ import annotations

import importlib

import pytest
from tests.reproductions.retrieval.tiny import plan

from reproductions.frame import Setting

module = importlib.import_module("reproductions.retrieval.study")


@pytest.fixture(scope="module")
def outcome():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module.Plan, "of", classmethod(lambda cls, setting: plan()))
        return module.study(Setting())


def maps(outcome, problem, kind, method):
    return [
        row["map"]
        for row in outcome.rows
        if row["part"] == "comparison"
        and (row["problem"], row["kind"], row["method"]) == (problem, kind, method)
    ]


def test_the_table_has_the_mean_of_the_seeds_of_every_bench(outcome):
    places = [tuple(name.split(", ")) for name in outcome.table.header[1:]]
    assert ("first", "from scratch") in places
    assert ("second", "from scratch") not in places  # nothing is trained there
    seen = 0
    for method, *shown in outcome.table.rows:
        for (problem, kind), cell in zip(places, shown, strict=True):
            found = maps(outcome, problem, kind, method)
            assert bool(cell) == bool(found)
            if found:
                seen += 1
                assert float(cell.split(" ")[0]) == pytest.approx(sum(found) / len(found), abs=1e-4)
    assert seen >= 2 * 4 + 2


def test_every_part_has_rows_and_none_has_a_curve(outcome):
    assert {"comparison", "ablation", "tau", "batch", "time"} < {r["part"] for r in outcome.rows}
    assert not any({"precision", "history", "found", "ranks"} & set(row) for row in outcome.rows)


def test_a_gallery_for_each_problem_and_the_best_of_ours_by_validation(outcome):
    assert [name for name in outcome.figures if name.startswith("gallery")] == [
        "gallery_1",
        "gallery_2",
    ]
    rows = [r for r in outcome.rows if r["part"] == "comparison" and r["kind"] == "pretrained"]
    for problem in ("first", "second"):
        ours = [r for r in rows if r["problem"] == problem and r["method"] in ("SOPRC", "StableAP")]
        means = {
            name: sum(own) / len(own)
            for name in ("SOPRC", "StableAP")
            for own in [[r["validation"] for r in ours if r["method"] == name]]
        }
        best = outcome.summary["best_of_ours"][f"{problem}, pretrained"]
        assert means[best] == max(means.values())


def test_what_is_shown_is_of_the_setting_with_the_better_validation(outcome):
    best = outcome.summary["best_of_ours"]
    rows = [r for r in outcome.rows if r["part"] == "comparison" and r["seed"] == 0]
    worth = {
        place: next(
            r["validation"]
            for r in rows
            if f"{r['problem']}, {r['kind']}" == place and r["method"] == method
        )
        for place, method in best.items()
    }
    shown = list(outcome.summary["queries"])
    assert [place.split(", ")[0] for place in shown] == ["first", "second"]
    for place in shown:
        problem = place.split(", ")[0]
        assert worth[place] == max(v for p, v in worth.items() if p.startswith(problem))
        ours, other = outcome.summary["queries"][place]
        assert ours == best[place]
        assert other in ("triplet", "SupCon")


def test_every_bench_has_a_map_of_its_best_and_every_data_set_a_figure(outcome):
    maps = outcome.summary["maps"]
    assert {place: each["method"] for place, each in maps.items()} == outcome.summary[
        "best_of_ours"
    ]
    assert {"map_1", "map_2", "convergence_tau", "convergence_batch"} <= set(outcome.figures)


def test_every_value_of_an_effect_has_its_curve(outcome):
    curves = outcome.summary["convergence"]
    for row in outcome.rows:
        if row["part"] in ("tau", "batch"):
            assert row["named"] in {
                name.split(f"{row['part']} ")[-1] for name in curves if row["method"] in name
            }
    assert all([step for step, _ in curve] == [2, 4] for curve in curves.values())
