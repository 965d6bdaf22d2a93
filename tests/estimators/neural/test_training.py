from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np
import pytest
import torch

from rankwise.baselines import CrossEntropy
from rankwise.estimators import NeuralRanker
from rankwise.estimators.data import Part, Training
from rankwise.estimators.neural._training import (
    Network,
    epoch_batches,
    objective_for,
    train_network,
)
from rankwise.objectives import SOAP, AveragePrecision

Y = (np.arange(80) % 4 == 0).astype(float)
X = np.random.default_rng(0).normal(size=(80, 2)) + 0.5 * Y[:, None]


def data(values: Iterable[float], **beside: np.ndarray) -> Training:
    """Rows whose metric after every epoch is the next of ``values``."""
    coming: Iterator[float] = iter(values)
    part = Part(X, Y, **beside)
    return Training(part, part, 0.25, 0, lambda scores, rows: next(coming))


def plan(objective: str, **options: int) -> NeuralRanker:
    given = {"epochs": 40, "warm_start_epochs": 5, "patience": 3} | options
    return NeuralRanker(objective, batch_size=32, learning_rate=0.01, weight_decay=0.0, **given)


def trained(
    network: Network, rows: Training, how: NeuralRanker
) -> tuple[list[float], list[torch.Tensor]]:
    """The metric of every epoch, and a weight as it was after each."""
    seen: list[torch.Tensor] = []

    def held_out_scores() -> np.ndarray:
        seen.append(network.layers[0].weight.detach().clone())
        return np.zeros(len(Y))

    def forward(chosen: np.ndarray) -> torch.Tensor:
        numbers = torch.from_numpy(X[chosen]).float()
        return network(numbers, torch.zeros((len(chosen), 0), dtype=torch.long))

    told: list[int] = []
    found = train_network(
        network,
        rows,
        how,
        forward=forward,
        held_out_scores=held_out_scores,
        progress=lambda epoch, value: told.append(epoch),
    )
    assert told == list(range(1, len(found) + 1))
    return found, seen


def network() -> Network:
    torch.manual_seed(0)
    return Network(2, [], [4])


NEVER_BETTER = [0.9] + [0.1] * 100
BEST_AT_TEN = [0.1] * 9 + [0.9] + [0.1] * 100
RISING = [n / 100 for n in range(100)]


@pytest.mark.parametrize(
    ("values", "epochs"), [(NEVER_BETTER, 5 + 3), (BEST_AT_TEN, 5 + 3), (RISING, 40)]
)
@pytest.mark.parametrize("objective", ["log_loss", "ap"])
def test_log_loss_and_a_metric_have_the_same_epochs_and_patience(objective, values, epochs) -> None:
    found, _ = trained(network(), data(values), plan(objective))
    assert found == values[:epochs]


@pytest.mark.parametrize("objective", ["log_loss", "ap"])
@pytest.mark.parametrize(("warm", "ends"), [(0, 4), (2, 5), (99, 6)])
def test_patience_begins_after_the_warm_epochs(objective, warm, ends) -> None:
    # The first value is the best; an epoch of the warm start never counts against it.
    found, _ = trained(
        network(), data(NEVER_BETTER), plan(objective, warm_start_epochs=warm, epochs=6)
    )
    assert len(found) == ends


def test_the_weights_of_the_best_epoch_are_kept() -> None:
    made = network()
    _, weights = trained(made, data([0.2, 0.7, 0.4, 0.1]), plan("ap", epochs=4))
    assert made.layers[0].weight.equal(weights[1])
    assert not weights[1].equal(weights[3])


def test_of_equal_epochs_the_later() -> None:
    made = network()
    _, weights = trained(made, data([0.2, 0.7, 0.7, 0.1]), plan("ap", epochs=4))
    assert made.layers[0].weight.equal(weights[2])


def test_without_any_value_the_last_epoch_is_kept() -> None:
    made = network()
    found, weights = trained(made, data([math.nan] * 4), plan("ap", epochs=4, patience=9))
    assert all(map(math.isnan, found))
    assert made.layers[0].weight.equal(weights[3])


def test_the_first_epochs_are_the_same_whatever_is_asked() -> None:
    _, plain = trained(network(), data(RISING), plan("log_loss", epochs=8))
    _, metric = trained(network(), data(RISING), plan("ap", epochs=8))
    assert all(a.equal(b) for a, b in zip(plain[:5], metric[:5], strict=True))
    assert not plain[5].equal(metric[5])


def test_an_objective_is_told_the_prior_and_the_rows() -> None:
    rows = data([])
    assert isinstance(objective_for("log_loss", rows), CrossEntropy)
    made = objective_for("ap", rows)
    assert isinstance(made, AveragePrecision)
    assert made.prior == pytest.approx(0.25)
    remembers = objective_for("soap", rows)
    assert isinstance(remembers, SOAP)
    assert remembers.memory_by == "item"


def test_whole_lists_have_their_own_share_of_positives() -> None:
    made = objective_for("ap", data([], groups=np.arange(80) // 8))
    assert isinstance(made, AveragePrecision)
    assert made.prior is None


def test_what_takes_no_scores_and_targets_is_refused() -> None:
    with pytest.raises(ValueError, match="is not one of scores and targets; use 'ap'"):
        objective_for("openauc", data([]))


def _data(positives: int, n: int, groups: np.ndarray | None = None) -> Training:
    part = Part(np.zeros((n, 1)), (np.arange(n) < positives).astype(float), None, groups)
    return Training(part, part, positives / n, 0, lambda scores, rows: 0.0)


def _first_epoch(data: Training, objective, size: int, positives: int | None = None):
    return next(epoch_batches(data, objective, size, positives))


def test_an_eighth_of_the_batch_is_positive() -> None:
    data = _data(20, 1000)
    for batch in _first_epoch(data, AveragePrecision(), 64):
        assert len(batch) == 64
        assert data.train.target[batch].sum() == 8


def test_or_their_share_or_what_was_asked_or_what_there_is() -> None:
    assert (
        _data(40, 100).train.target[_first_epoch(_data(40, 100), AveragePrecision(), 50)[0]].sum()
        == 20
    )
    data = _data(20, 1000)
    assert data.train.target[_first_epoch(data, AveragePrecision(), 64, 3)[0]].sum() == 3
    assert data.train.target[_first_epoch(data, AveragePrecision(), 64, 99)[0]].sum() == 20
    assert len(_first_epoch(_data(2, 10), AveragePrecision(), 512)[0]) == 10


def test_single_items_come_as_they_are_every_one_once() -> None:
    batches = _first_epoch(_data(20, 1000), CrossEntropy(), 64)
    assert sorted(np.concatenate(batches)) == list(range(1000))
    assert max(len(batch) for batch in batches) == 64


def test_lists_come_whole() -> None:
    groups = np.arange(100) // 10
    for batch in _first_epoch(_data(50, 100, groups), AveragePrecision(), 32):
        assert len(batch) == 30
        assert np.unique(groups[batch], return_counts=True)[1].tolist() == [10, 10, 10]


def test_epochs_differ_and_follow_from_the_seed() -> None:
    one, other = (epoch_batches(_data(20, 1000), CrossEntropy(), 64, None) for _ in range(2))
    first = next(one)
    assert all((a == b).all() for a, b in zip(first, next(other), strict=True))
    assert not (first[0] == next(one)[0]).all()
