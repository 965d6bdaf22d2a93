"""H-AP, ASI and NDCG of embeddings by a loop over the queries."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rankwise.retrieval import evaluate_hierarchy


def by_loop(scores, levels, depth, alpha):
    """The three metrics of one query, with ties against the ranking."""
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], levels[i]))
    ranked = [levels[i] for i in order]
    counts = {level: ranked.count(level) for level in range(1, depth + 1)}
    rel = [(v / depth) ** alpha / counts[v] if v else 0.0 for v in ranked]
    hap = asi = 0.0
    best, relevant = sorted(ranked, reverse=True), sum(v > 0 for v in ranked)
    # By relevance, which a level with few items may have more of than a finer one.
    pairs = [(scores[i], y) for i, y in zip(order, rel, strict=True)]
    tied = sorted(pairs, key=lambda pair: (-pair[0], pair[1]))
    for k, (_, y) in enumerate(tied):
        last = max(j for j in range(len(tied)) if tied[j] == tied[k])
        hap += sum(min(z, y) for _, z in tied[: last + 1]) / (last + 1)
        if k < relevant:
            common = [min(ranked[: k + 1].count(v), best[: k + 1].count(v)) for v in counts]
            asi += sum(common) / (k + 1) / relevant
    discount = 1 / np.log2(np.arange(len(ranked)) + 2)
    gains, ideal = (2.0 ** np.array(x) - 1 for x in (ranked, best))
    return hap / sum(rel), asi, (gains * discount).sum() / (ideal * discount).sum()


def data():
    generator = torch.Generator().manual_seed(0)
    labels = torch.randint(0, 6, (40,), generator=generator)
    tree = torch.stack([labels // 4, labels // 2, labels], 1)
    # Few directions: many cosines are tied exactly.
    vectors = torch.eye(5)[torch.randint(0, 5, (40,), generator=generator)]
    return vectors, tree


@pytest.mark.parametrize("alpha", [1.0, 2.0])
@pytest.mark.parametrize("tied", [False, True])
def test_every_query_by_a_loop(alpha, tied):
    vectors, tree = data()
    if not tied:
        vectors = vectors + torch.randn(vectors.shape, generator=torch.manual_seed(1))
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    rows = []
    for q in range(len(unit)):
        others = [i for i in range(len(unit)) if i != q]
        levels = [int((tree[q] == tree[i]).int().cumprod(0).sum()) for i in others]
        if any(levels):
            rows.append(by_loop((unit[q] @ unit.T)[others].tolist(), levels, 3, alpha))
    found = evaluate_hierarchy(vectors, tree, alpha=alpha)
    means = np.mean(rows, axis=0)
    assert found.hierarchical_ap == pytest.approx(means[0], rel=1e-6)
    assert found.asi == pytest.approx(means[1], rel=1e-6)
    if not tied:  # tied classes that share a level share its discounts
        assert found.ndcg == pytest.approx(means[2], rel=1e-6)


def test_queries_from_elsewhere_and_those_without_an_answer():
    vectors, tree = data()
    asked = torch.tensor([[9, 9, 9], tree[0].tolist()])
    found = evaluate_hierarchy(vectors, tree, vectors[:2], asked)
    assert np.isnan(found.values).tolist() == [True, False]


def test_bad_input_is_named():
    vectors, tree = data()
    with pytest.raises(ValueError, match=r"labels must have shape \(40, levels\), got \(40,\)"):
        evaluate_hierarchy(vectors, tree[:, 0])
    with pytest.raises(ValueError, match="must be given together"):
        evaluate_hierarchy(vectors, tree, vectors)
    with pytest.raises(ValueError, match="there is nothing to find"):
        evaluate_hierarchy(vectors[:2], torch.tensor([[0, 0], [1, 1]]))
