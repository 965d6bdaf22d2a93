"""LibAUC's SOAP on the network, the batches and the stopping of NeuralRanker.

Run by ``benchmarks.tabular.neural`` with the peers' interpreter. Every line of the standard input
is a fit: ``[METRIC, SEED, ROWS.npz, SCORES.npy]``, answered by ``done``.
"""

from __future__ import annotations

import copy
import json
import math
import sys

import numpy as np
import torch
from benchmarks.tabular.fits import training
from libauc.losses import APLoss
from libauc.optimizers import SOAP

from rankwise.baselines import CrossEntropy
from rankwise.estimators import NeuralRanker
from rankwise.estimators.data import Floats, Part, Training
from rankwise.estimators.neural._training import Encoding, epoch_batches
from rankwise.objectives import AveragePrecision


def scores(data: Training, test: Part) -> Floats:
    """Cross-entropy for the epochs NeuralRanker warms up with, then SOAP, by its defaults."""
    plan, train = NeuralRanker("ap"), data.train
    plan.encoding_ = Encoding.learn(train.X, None, {})
    network = plan._make_network(data.seed)
    rows = plan.encoding_(train.X, torch.float32)
    target = torch.from_numpy(train.target).float()
    judged = APLoss(len(train), device=torch.device("cpu"))
    plain = CrossEntropy()
    best, kept, since = -math.inf, copy.deepcopy(network.state_dict()), 0
    warm = plan.warm_start_epochs
    # A pairwise objective of ours only says that batches are to be balanced.
    for shape, epochs in ((plain, warm), (AveragePrecision(), plan.epochs - warm)):
        if shape is plain:
            optimizer: torch.optim.Optimizer = torch.optim.AdamW(
                network.parameters(), plan.learning_rate, weight_decay=plan.weight_decay
            )
        else:
            optimizer = SOAP(network.parameters(), lr=plan.learning_rate, mode="adam")
        batches = epoch_batches(data, shape, plan.batch_size, None)
        since = 0
        for _ in range(epochs):
            for chosen in next(batches):
                index = torch.from_numpy(chosen)
                found = network(*(part[index] for part in rows))
                optimizer.zero_grad()
                if shape is plain:
                    loss = plain(found, target[index])
                else:
                    loss = judged(found.sigmoid(), target[index], index)
                loss.backward()
                optimizer.step()
            value = data.evaluate(plan._run(network, data.held_out.X))
            since = 0 if value > best else since + 1
            if not value < best:
                best, kept = value, copy.deepcopy(network.state_dict())
            if shape is not plain and since >= plan.patience:
                break
    network.load_state_dict(kept)
    return plan._run(network.double(), test.X)


def main(metric: str, seed: int, rows: str, out: str) -> None:
    arrays = np.load(rows)
    train, valid, test = (Part(arrays[f"X{i}"], arrays[f"target{i}"]) for i in range(3))
    np.save(out, scores(training(train, valid, metric, seed), test))


if __name__ == "__main__":
    torch.set_num_threads(1)
    for line in sys.stdin:
        main(*json.loads(line))
        print("done", flush=True)
