"""First ranks by tiles against all scores of every user."""

from __future__ import annotations

import pytest
import torch
from tests.tasks.recommendation.cases import pairs_of

from rankwise.tasks.recommendation import (
    Scores,
    _passes,
    best_items,
    catalog,
    evaluate,
    measure_of,
    tiles,
)
from rankwise.tasks.recommendation._passes import CompiledPasses, Passes

ITEMS, USERS = 203, 40
ASKED = [measure_of(name) for name in ("ndcg@4", "recall@7", "map@4", "pap@3", "mrr")]


@pytest.fixture(params=["compiled", "torch"])
def small_tiles(monkeypatch, request):
    monkeypatch.setattr(_passes, "_FEW_THREADS", 1000)
    monkeypatch.setenv("RANKWISE_COMPILED", "1" if request.param == "compiled" else "0")
    kind = CompiledPasses if request.param == "compiled" else Passes
    assert _passes.passes() is kind
    monkeypatch.setattr(tiles, "_CHUNK", 8)
    for module in (catalog, tiles):
        monkeypatch.setattr(module, "TILE", 64)
        monkeypatch.setattr(module, "ROWS", 16)


def case(kind, seed=0):
    """Scores without ties, with many, or all the same; what was seen and what is wanted."""
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(USERS, 6, generator=generator)
    items = torch.randn(ITEMS, 6, generator=generator)
    if kind == "ties":
        vectors, items = vectors.round(), items.round()
    if kind == "same":
        items = torch.zeros_like(items)
    if kind == "tiny":  # differences of scores are denormal
        vectors, items = vectors.round() * 1e-20, items.round() * 1e-21
    if kind == "double":
        vectors, items = vectors.round().double(), items.round().double()
    order = torch.rand(USERS, ITEMS, generator=generator).argsort(1).tolist()
    seen = pairs_of([row[: 3 * n] for n, row in enumerate(order)], ITEMS)
    wanted = pairs_of([row[-(n % 4) :] if n % 4 else [] for n, row in enumerate(order)], ITEMS)
    return Scores(lambda users: vectors[users], items), wanted, seen


def by_rows(monkeypatch, function):
    with monkeypatch.context() as patch:
        patch.setattr(catalog.Scores, "in_tiles", lambda self, ranks: False)
        return function()


@pytest.mark.parametrize("kind", ["untied", "ties", "same", "tiny", "double"])
def test_an_evaluation_is_that_of_all_scores(small_tiles, monkeypatch, kind):
    scores, wanted, seen = case(kind)

    def found():
        return evaluate(scores, wanted, seen, ASKED, wanted)

    ours, expected = found(), by_rows(monkeypatch, found)
    for name, values in expected.values.items():
        torch.testing.assert_close(ours.values[name], values, equal_nan=True, rtol=1e-12, atol=0)
    assert ours.catalog == pytest.approx(expected.catalog)
    assert (ours.few_negatives, ours.without_negatives) == (
        expected.few_negatives,
        expected.without_negatives,
    )


@pytest.mark.parametrize("kind", ["untied", "ties"])
def test_the_best_items_have_the_highest_scores(small_tiles, monkeypatch, kind):
    scores, _, seen = case(kind)
    users = torch.arange(USERS).flip(0)
    some, items, values = map(torch.cat, zip(*best_items(scores, users, seen, 9), strict=True))
    assert torch.equal(some, users)
    every = torch.cat([found.clone() for _, found in scores.blocks(users, seen)])
    torch.testing.assert_close(values, every.topk(9).values)
    torch.testing.assert_close(every.gather(1, items), values)


def test_too_many_ties_are_ranked_by_rows(small_tiles, monkeypatch):
    monkeypatch.setattr(tiles, "_MOST", 50)
    scores, wanted, seen = case("same")
    users = torch.arange(USERS)
    assert (
        tiles.search(scores.users(users), scores.items, tiles.Cells(users[:0], users[:0]), 3)
        is None
    )
    found = evaluate(scores, wanted, seen, ASKED)
    expected = by_rows(monkeypatch, lambda: evaluate(scores, wanted, seen, ASKED))
    for name, values in expected.values.items():
        torch.testing.assert_close(found.values[name], values, equal_nan=True)


def test_who_has_seen_nearly_all_gets_what_is_left(small_tiles):
    scores, _, _ = case("untied")
    seen = pairs_of([[item for item in range(ITEMS) if item not in (5, 150)]], ITEMS, USERS)
    ((_, items, values),) = best_items(scores, torch.tensor([0]), seen, 4)
    assert set(items[0, :2].tolist()) == {5, 150}
    assert (values > -torch.inf).tolist() == [[True, True, False, False]]


def test_nan_is_refused(small_tiles):
    scores, wanted, _ = case("untied")
    scores.items[100] = torch.nan
    with pytest.raises(ValueError, match="scores contains NaN: the training has diverged"):
        evaluate(scores, wanted, None, ASKED)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_is_above_a_score_and_as_high_is_counted(dtype):
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(30, 500, generator=generator, dtype=dtype)
    scores[:, ::3] = scores[:, :1]
    scores[:, 7], scores[:, 8], scores[:, 9] = torch.inf, -torch.inf, 0.0
    best = scores[:, :1].clone()
    best[1], best[2] = torch.nextafter(best[1], best[2]), 1e-25
    assert tiles.comparable(best).all()
    least, top = torch.full_like(best, 5.0), best.new_empty(30, 5)
    for kind in (Passes, CompiledPasses):
        passes = kind(30, dtype, best, 512, 1000)
        assert passes.read(scores[:, :496].clone(), least, top.new_empty(30, 62), 0)
        assert passes.read(scores[:, 496:].repeat(1, 2), least, top[:, :1], 496)
        known = torch.cat([scores, scores[:, 496:]], dim=1)
        for found, counts in zip(passes.counts(), ((known > best), (known == best)), strict=True):
            assert torch.equal(found, counts.sum(1).double())
        rows, items, values = passes.found()  # the infinite ones
        assert sorted(rows.tolist()) == list(range(30))
        assert (items == 7).all()
        assert (values == torch.inf).all()
    assert not tiles.comparable(torch.tensor([0.0, 1e-31, torch.inf, -torch.inf, torch.nan])).any()
