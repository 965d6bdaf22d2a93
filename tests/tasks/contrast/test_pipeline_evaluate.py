from __future__ import annotations

import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from tests.tasks.contrast.cases import SETTINGS, images
from torch.nn.functional import normalize

from rankwise.tasks.contrast.pipeline import (
    evaluate,
    features_of,
    linear_probe,
    retrieval_map,
)
from rankwise.tasks.contrast.task import new_network


def clouds(n: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    rng = torch.Generator().manual_seed(seed)
    y = torch.arange(n) % 3
    return 2 * torch.randn(n, 5, generator=rng) + 2 * torch.eye(3, 5)[y] + 7, y


def test_the_probe_is_logistic_regression():
    train, test = clouds(300, 0), clouds(200, 1)
    mean, deviation = train[0].mean(0), train[0].std(0)
    ours = linear_probe(train, test, 3)
    theirs = LogisticRegression(C=1 / (1e-3 * 300), max_iter=1000).fit(
        (train[0] - mean) / deviation, train[1]
    )
    accuracy = theirs.score((test[0] - mean) / deviation, test[1])
    assert ours.value == pytest.approx(accuracy, abs=0.0051)  # one image on the border
    assert ours.n == 200
    assert 0.4 < ours.value < 0.95
    assert ours.standard_error == pytest.approx((ours.value * (1 - ours.value) / 200) ** 0.5)


def test_retrieval_leaves_the_query_out():
    features, labels = clouds(40, 2)
    found = retrieval_map(features, labels)
    cosines = normalize(features, dim=1) @ normalize(features, dim=1).T
    values = []
    for i in range(40):
        others = torch.arange(40) != i
        values.append(average_precision_score(labels[others] == labels[i], cosines[i][others]))
    values = torch.tensor(values)
    assert found.value == pytest.approx(values.mean().item(), rel=1e-6)
    assert found.standard_error == pytest.approx(values.std().item() / 40**0.5, rel=1e-6)
    assert found.n == 40


def test_an_image_alone_in_its_class_is_no_query():
    features = torch.tensor([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [1.0, 1.0]])
    found = retrieval_map(features, torch.tensor([0, 0, 1, 2]))
    assert found.n == 2
    assert found.value == 1


def test_features_do_not_depend_on_the_batch_nor_the_mode(tmp_path, monkeypatch):
    data = images(tmp_path)
    network = new_network(data, SETTINGS)
    whole = features_of(network, data.x_train)
    assert network.training
    monkeypatch.setattr("rankwise.tasks.contrast.pipeline._BLOCK", 5)
    torch.testing.assert_close(features_of(network.eval(), data.x_train), whole)
    assert not network.training
    assert evaluate(network, data).probe.n == 12
