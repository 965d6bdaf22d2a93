"""The losses of the study: bounded by their ranges, and their rows independent."""

from __future__ import annotations

import pytest
import torch

from reproductions.generalization.losses import METRICS, make_loss, metric_risks, risks, top_of
from reproductions.generalization.words import range_of


def scores(rows=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return 2 * torch.rand(rows, 25, generator=generator) - 1


@pytest.mark.parametrize("name", METRICS)
def test_rows_side_by_side_are_as_if_each_were_alone(name):
    whole = risks(make_loss(name, 3, 2), scores(), 5)
    alone = [risks(make_loss(name, 1, 2), row.unsqueeze(0), 5) for row in scores()]
    torch.testing.assert_close(whole, torch.cat(alone))


@pytest.mark.parametrize("name", METRICS)
def test_a_call_leaves_no_trace_in_the_next(name):
    """With an ema_rate of 1 the full batch is the risk itself, not a mean with the past."""
    used = make_loss(name, 3, 2)
    risks(used, scores(seed=1), 5)
    torch.testing.assert_close(risks(used, scores(), 5), risks(make_loss(name, 3, 2), scores(), 5))


@pytest.mark.parametrize("name", ["SOPRC", "StableAP", "plain AP", "SmoothAP", "AUC"])
def test_values_lie_within_the_range_that_the_report_compares_with(name):
    worst = torch.cat([-torch.ones(5), torch.ones(20)]).unsqueeze(0)
    best = -worst
    high, low = (float(risks(make_loss(name, 1, 2), row, 5)) for row in (worst, best))
    assert 0 < high - low <= range_of(name) + 1e-6
    assert high - low > 0.5 * range_of(name)


def test_metrics_by_hand():
    row = torch.tensor([[0.9, 0.3, 0.5, 0.1]])  # positives 0.9 and 0.3
    assert float(metric_risks("AP", row, 2, 1)) == pytest.approx(1 - (1 + 2 / 3) / 2)
    assert float(metric_risks("AUC", row, 2, 1)) == pytest.approx(1 / 4)
    assert float(metric_risks("pAp@k", row, 2, 1)) == pytest.approx(0)


def test_k_is_a_tenth_of_the_negatives():
    assert [top_of(n) for n in (3, 20, 640)] == [1, 2, 64]


def test_an_unknown_loss_is_an_error():
    with pytest.raises(ValueError, match="SOPRC, StableAP"):
        make_loss("AP", 1, 1)
