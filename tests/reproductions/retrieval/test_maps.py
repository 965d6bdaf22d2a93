"""Maps of embeddings: the same images before and after, and the network that was measured."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from tests.reproductions.retrieval.cells import CELL
from tests.reproductions.retrieval.tiny import plan, pretrained

from rankwise.data import DataError
from rankwise.retrieval import evaluate
from reproductions.frame import Runs, Setting
from reproductions.retrieval.benches import Scratch, Trial
from reproductions.retrieval.maps import Map, Side, map_figure, map_of, rows_of
from reproductions.retrieval.measure import Measurer
from reproductions.retrieval.methods import METHODS
from reproductions.retrieval.plan import Plan

OURS = ("SOPRC", "StableAP")
SUPCON = METHODS[3]


@pytest.fixture(scope="module", params=["pretrained", "from scratch"])
def bench(request):
    tiny = plan(mapped=3)
    if request.param == "from scratch":
        return Scratch(tiny.problems[0], tiny)
    return replace(pretrained(), plan=tiny)


@pytest.fixture(scope="module")
def cells(bench):
    return Measurer(bench, Runs(None, {})).compare(bench.plan.methods, 1, Setting(seed=5))


def test_all_images_of_some_classes_are_drawn():
    labels = torch.tensor([3, 1, 3, 2, 1, 9, 9, 2])
    rows = rows_of(labels, 2)
    assert len(rows) == 4
    drawn = set(labels[rows].tolist())
    assert len(drawn) == 2
    assert set(rows.tolist()) == {n for n, label in enumerate(labels.tolist()) if label in drawn}
    assert len(rows_of(labels, 12)) == 8
    assert drawn <= set(labels[rows_of(labels, 3)].tolist())


def test_a_map_has_the_network_that_was_measured_and_the_one_before_it(bench, cells):
    found = map_of(bench, cells, OURS, Runs(None, {}))
    labels = bench.problem.splits.test.labels
    rows = rows_of(labels, 3)
    best = max((c for c in cells if c.method in OURS), key=lambda c: c.validation)
    assert (found.method, found.seed) == (best.method, 5)
    assert found.classes == tuple(labels[rows].tolist())
    (method,) = (m for m in METHODS if m.name == best.method)
    trial = Trial(method, best.objective, best.rate, 5)
    trained = bench.test(bench.train(trial)[0])
    assert evaluate(trained, labels).map == pytest.approx(best.map)
    for side, embeddings in (
        (found.after, trained),
        (found.before, bench.test(bench.start(trial))),
    ):
        own = embeddings[rows].detach().double().numpy()
        assert side.map == pytest.approx(evaluate(own, labels[rows]).map)
        points = np.array(side.points)
        assert points.shape == (len(rows), 2)
        # Two principal components keep what a map can keep of the distances.
        values = np.linalg.svd(own - own.mean(0), compute_uv=False) ** 2
        assert side.share == pytest.approx(values[:2].sum() / values.sum(), abs=1e-6)
        centered = points - points.mean(0)
        assert (centered**2).sum() == pytest.approx(values[:2].sum(), abs=1e-2)
    assert found.before.points != found.after.points


def test_all_methods_start_alike_and_no_generator_is_moved(bench):
    before = torch.get_rng_state()
    first, second = (
        bench.start(Trial(method, method.tries[0], 0.01, 1)) for method in (SUPCON, METHODS[11])
    )
    assert torch.equal(before, torch.get_rng_state())
    assert torch.equal(bench.test(first), bench.test(second))


def test_a_map_is_kept_by_its_classes_and_reduction(bench, cells, tmp_path, monkeypatch):
    found = map_of(bench, cells, OURS, Runs(tmp_path, {}))
    assert map_of(bench, cells, OURS, Runs(tmp_path, {})) == found

    class UMAP:
        def __init__(self, **options):
            assert (options["n_components"], options["random_state"]) == (2, 0)

        def fit_transform(self, rows):
            return rows[:, :2]

    monkeypatch.setitem(sys.modules, "umap", SimpleNamespace(UMAP=UMAP))
    other = replace(bench, plan=replace(bench.plan, reduction="umap"))
    by_umap = map_of(other, cells, OURS, Runs(tmp_path, {}))
    assert by_umap.after.points != found.after.points
    assert (by_umap.after.map, by_umap.after.share) == (found.after.map, None)
    fewer = replace(bench, plan=replace(bench.plan, mapped=2))
    assert len(set(map_of(fewer, cells, OURS, Runs(tmp_path, {})).classes)) == 2


def drawn(after: tuple[tuple[float, float], ...], **changed: object) -> Map:
    before = Side(((0.0, 1.0), (1.0, 0.0), (1.0, 1.0)), 0.25, 0.5)
    given = {"problem": CELL.problem, "kind": CELL.kind, "method": "SOPRC", "seed": 0}
    sides = {"classes": (0, 0, 2), "before": before, "after": Side(after, 0.75, 0.5)}
    return Map(**{**given, **sides, **changed})


def test_what_is_drawn_follows_the_points_and_what_is_said_the_map():
    here, there = ((0.0, 0.0), (0.1, 0.0), (1.0, 1.0)), ((0.0, 0.0), (0.9, 0.0), (1.0, 1.0))
    names = ("a", "b", "c")
    first = map_figure([drawn(here)], names, "pca")
    assert first.png == map_figure([drawn(here)], names, "pca").png
    assert first.png != map_figure([drawn(there)], names, "pca").png
    assert first.png != map_figure([drawn(here, classes=(0, 2, 2))], names, "pca").png
    assert "all 3 images of 2 test classes by their two principal components" in first.caption
    assert "pretrained, before training: mAP 0.250 (50% of the variance is shown)" in first.caption
    assert "after training by SOPRC: mAP 0.750" in first.description
    free = replace(drawn(here).before, share=None)
    by_umap = map_figure([replace(drawn(here), before=free, after=free)], names, "umap")
    assert "by UMAP" in by_umap.caption
    assert "variance" not in by_umap.caption


def test_umap_that_is_not_there_is_refused_before_any_training(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(DataError, match="umap-learn, which is not installed"):
        Plan.of(Setting(data=tmp_path, options={"reduction": "umap"}))
    with pytest.raises(ValueError, match=r"reduction must be one of pca, umap, got 'tsne'"):
        Plan.of(Setting(data=tmp_path, options={"reduction": "tsne"}))
