from __future__ import annotations

import pytest
import torch
from datasets import Dataset
from sentence_transformers import CrossEncoderTrainer, CrossEncoderTrainingArguments

from rankwise.objectives import NDCG, AveragePrecision, ListNet
from rankwise.text import CrossEncoderLoss, RerankingEvaluator, hard_negatives

QUERIES = ["w1 w2", "w3", "w4 w5 w6"]
DOCUMENTS = [["w1", "w2 w7", "w8"], ["w3 w9", "w10"], ["w4", "w11", "w5 w6 w12 w13", "w14"]]
GRADES = [torch.tensor(grades) for grades in ([0.0, 2, 1], [1.0, 0], [0.0, 0, 3, 1])]


def gradients(model, loss, labels=GRADES):
    model.train()
    model.zero_grad()
    value = loss([QUERIES, DOCUMENTS], labels)
    value.backward()
    return value.item(), {
        name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None
    }


@pytest.mark.parametrize("objective", [NDCG(), AveragePrecision(outer="log")], ids=["ndcg", "ap"])
def test_it_is_the_objective_of_ragged_lists(reranker, objective):
    reranker.double()
    found, _ = gradients(reranker, CrossEncoderLoss(reranker, objective))
    scores = [
        reranker(reranker.preprocess([(query, document)]))["scores"].flatten()
        for query, own in zip(QUERIES, DOCUMENTS, strict=True)
        for document in own
    ]
    groups = torch.tensor([0, 0, 0, 1, 1, 2, 2, 2, 2])
    grades = torch.cat(GRADES)
    target = grades if objective.graded else grades > 0
    expected = objective(torch.cat(scores), target, groups=groups)
    assert found == pytest.approx(expected.item(), rel=1e-5)


@pytest.mark.parametrize("size", [1, 4, 100])
def test_cached_gradients_are_those_of_the_whole_batch(reranker, size):
    reranker.double()
    plain, cached = (
        gradients(reranker, CrossEncoderLoss(reranker, NDCG(), mini_batch_size=n))
        for n in (None, size)
    )
    assert cached[0] == pytest.approx(plain[0], rel=1e-5)
    assert cached[1].keys() == plain[1].keys()
    for name, gradient in plain[1].items():
        torch.testing.assert_close(cached[1][name], gradient, rtol=1e-4, atol=1e-6)


def test_the_trainer_trains_with_it(encoder, reranker, collection, tmp_path):
    evaluator = RerankingEvaluator(collection, encoder, ["ndcg@10", "ap"], k=40)
    before = evaluator(reranker)
    columns = collection.lists(hard_negatives(encoder, collection, num_negatives=4))
    loss = CrossEncoderLoss(reranker, ListNet(), mini_batch_size=24)
    trainer = CrossEncoderTrainer(
        reranker,
        CrossEncoderTrainingArguments(
            output_dir=str(tmp_path),
            per_device_train_batch_size=12,
            max_steps=25,
            learning_rate=1e-2,
            report_to="none",
            save_strategy="no",
            disable_tqdm=True,
            use_cpu=True,
            logging_strategy="no",
        ),
        train_dataset=Dataset.from_dict(columns),
        loss=loss,
    )
    trainer.train()
    assert evaluator(reranker)["ap"] > before["ap"] + 0.05
    assert loss.get_config_dict() == {"objective": "ListNet()", "mini_batch_size": 24}


def test_arguments_are_checked(reranker):
    loss = CrossEncoderLoss(reranker, NDCG())
    with pytest.raises(ValueError, match=r"one grade per document, \[3, 2, 4\], got \[3, 2\]"):
        gradients(reranker, loss, GRADES[:2])
    with pytest.raises(ValueError, match="got one number each"):
        gradients(reranker, loss, torch.ones(3))
    with pytest.raises(ValueError, match="queries and lists of documents, got 3"):
        loss([QUERIES, DOCUMENTS, DOCUMENTS], GRADES)
    with pytest.raises(ValueError, match="mini_batch_size"):
        CrossEncoderLoss(reranker, NDCG(), mini_batch_size=0)
