from __future__ import annotations

import math

import torch

from rankwise.metrics import at_rank

HITS = torch.tensor([[1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]]).double()
RELEVANT = torch.tensor([3.0, 1.0, 2.0]).double()


def same(found, expected):
    torch.testing.assert_close(found, torch.tensor(expected).double())


def test_counts():
    same(at_rank.precision(HITS, 3), [2 / 3, 0, 0])
    same(at_rank.precision(HITS, 8), [2 / 8, 1 / 8, 0])
    same(at_rank.recall(HITS, RELEVANT, 4), [2 / 3, 1, 0])
    same(at_rank.hit(HITS, 3), [1, 0, 0])


def test_average_precision():
    same(at_rank.average_precision(HITS, RELEVANT), [(1 + 2 / 3) / 3, 1 / 4, 0])
    same(at_rank.average_precision(HITS, RELEVANT.clamp_max(2), 2), [1 / 2, 0, 0])


def test_reciprocal_rank():
    same(at_rank.reciprocal_rank(HITS), [1, 1 / 4, 0])


def test_discounted_gain():
    gains = torch.tensor([[3.0, 0.0, 1.0]]).double()
    same(at_rank.dcg(gains), [3 + 1 / 2])
    same(at_rank.dcg(gains.flip(1), 3), [1 + 3 / 2])
    same(at_rank.dcg(gains.roll(1, 1), 2), [1 + 3 / math.log2(3)])
