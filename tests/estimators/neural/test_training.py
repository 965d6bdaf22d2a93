from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np
import pytest
import torch

from rankwise.baselines import CrossEntropy
from rankwise.estimators.data import Part, Training
from rankwise.estimators.neural.network import Network
from rankwise.estimators.neural.training import Plan, objective_for, train_network
from rankwise.objectives import SOAP, AveragePrecision

Y = (np.arange(80) % 4 == 0).astype(float)
X = np.random.default_rng(0).normal(size=(80, 2)) + 0.5 * Y[:, None]


def data(values: Iterable[float], **beside: np.ndarray) -> Training:
    """Rows whose metric after every epoch is the next of ``values``."""
    coming: Iterator[float] = iter(values)
    part = Part(X, Y, **beside)
    return Training(part, part, 0.25, 0, lambda scores, rows: next(coming))


def plan(objective: str, **options: int) -> Plan:
    given = {"epochs": 40, "warm_start_epochs": 5, "patience": 3} | options
    return Plan(
        objective,
        given["epochs"],
        given["warm_start_epochs"],
        batch_size=32,
        positives=None,
        learning_rate=0.01,
        weight_decay=0.0,
        patience=given["patience"],
        device=torch.device("cpu"),
    )


def trained(network: Network, rows: Training, how: Plan) -> tuple[list[float], list[torch.Tensor]]:
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
        tell=lambda epoch, value: told.append(epoch),
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
    assert remembers.index_kind == "item"


def test_whole_lists_have_their_own_share_of_positives() -> None:
    made = objective_for("ap", data([], groups=np.arange(80) // 8))
    assert isinstance(made, AveragePrecision)
    assert made.prior is None


def test_what_takes_no_scores_and_targets_is_refused() -> None:
    with pytest.raises(ValueError, match="is not one of scores and targets; use 'ap'"):
        objective_for("openauc", data([]))
