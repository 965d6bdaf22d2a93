from __future__ import annotations

import ir_measures
import numpy as np
import pytest
import torch
from ir_measures import AP, RR, Qrel, R, ScoredDoc, nDCG

from rankwise.text import RerankingEvaluator, SearchEvaluator
from rankwise.text import evaluation as module

PEERS = {
    "ap": AP,
    "ndcg@10(gain=linear)": nDCG @ 10,
    "mrr@10": RR @ 10,
    "recall@10": R @ 10,
}


def expected(collection, scores):
    """The metrics by ir-measures, of scores (queries, documents)."""
    query_rows, document_rows = collection.pair_rows
    grades = collection.pair_grades.int().tolist()
    qrels = [Qrel(f"{q}", f"{d}", g)
             for q, d, g in zip(query_rows, document_rows, grades, strict=True)]  # fmt: skip
    run = [ScoredDoc(f"{q}", f"{d}", float(s)) for (q, d), s in np.ndenumerate(scores)]
    found = {(m.measure, int(m.query_id)): m.value
             for m in ir_measures.iter_calc(list(PEERS.values()), qrels, run)}  # fmt: skip
    rows = range(len(collection.queries))
    return {name: [found[peer, row] for row in rows] for name, peer in PEERS.items()}


@pytest.mark.parametrize("block", [1, 100, 1 << 23])
def test_the_metrics_of_a_search_are_those_of_ir_measures(encoder, collection, block, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", block)
    scores = encoder.encode(collection.queries, normalize_embeddings=True) @ encoder.encode(
        collection.documents, normalize_embeddings=True
    ).T  # fmt: skip
    evaluator = SearchEvaluator(collection, list(PEERS), name="test")
    values = evaluator.values(encoder)
    for name, wanted in expected(collection, scores).items():
        assert values[name].tolist() == pytest.approx(wanted, abs=1e-6), name
    means = evaluator(encoder)
    assert means["test_ap"] == pytest.approx(values["ap"].mean().item())
    assert evaluator.primary_metric == "test_ap"


def test_the_metrics_of_reranking_are_those_of_the_joined_ranking(encoder, reranker, collection):
    for name, parameter in reranker.named_parameters():
        if name.endswith("classifier.weight"):
            parameter.data *= 1000  # far apart, and beyond where a sigmoid is 1
    evaluator = RerankingEvaluator(collection, encoder, list(PEERS), k=7)
    first = encoder.encode(collection.queries, normalize_embeddings=True) @ encoder.encode(
        collection.documents, normalize_embeddings=True
    ).T  # fmt: skip
    joined = first.copy()
    for query, text in enumerate(collection.queries):
        best = np.argsort(-first[query])[:7]
        pairs = [(text, collection.documents[d]) for d in best]
        again = reranker.predict(pairs, activation_fn=torch.nn.Identity())
        joined[query, best] = 10 + np.argsort(np.argsort(again))
    assert (joined.argmax(1) != first.argmax(1)).any()
    values = evaluator.values(reranker)
    for name, wanted in expected(collection, joined).items():
        assert values[name].tolist() == pytest.approx(wanted, abs=1e-6), name


def test_equal_scores_of_a_reranker_stay_equal():
    scores = module._above(torch.tensor([[0.5, -3.0, 0.5, 9.0], [1.0, 1.0, 1.0, 1.0]]))
    assert scores.tolist() == [[3, 2, 3, 4], [2, 2, 2, 2]]
    with pytest.raises(ValueError, match="NaN"):
        module._above(torch.tensor([[0.5, float("nan")]]))


def test_there_must_be_a_metric_that_exists(collection):
    with pytest.raises(ValueError, match="metrics must have the name of a metric, got none"):
        SearchEvaluator(collection, [])
    with pytest.raises(ValueError, match='did you mean "ndcg"'):
        SearchEvaluator(collection, ["ncdg"])
