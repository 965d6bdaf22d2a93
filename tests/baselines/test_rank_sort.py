"""Rank & Sort loss against the published loop; the loop itself is in the rows of detection."""

from __future__ import annotations

import pytest
import torch
from tests.objectives.rows.detection import rank_sort_loop

from rankwise.baselines import ErrorDrivenAP, RankSort


def data(n: int, *, ties: bool, seed: int = 0):
    generator = torch.Generator().manual_seed(seed)
    scores = 2 * torch.randn(n, dtype=torch.float64, generator=generator)
    labels = torch.rand(n, dtype=torch.float64, generator=generator)
    labels = labels * (torch.rand(n, generator=generator) < 0.2)
    labels[0] = 0.5
    if ties:
        scores, labels = (2 * scores).round() / 2, (4 * labels).ceil() / 4
    return scores.requires_grad_(), labels


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(("n", "delta"), [(12, 0.5), (60, 0.05), (60, 3.0), (2000, 0.5)])
def test_value_and_gradient_are_those_of_the_published_loop(n, delta, ties):
    scores, labels = data(n, ties=ties)
    loss, expected = RankSort(delta)(scores, labels), rank_sort_loop(delta)(scores, labels)
    torch.testing.assert_close(loss, expected)
    (found,) = torch.autograd.grad(loss, scores)
    (wanted,) = torch.autograd.grad(expected, scores)
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-14)


def test_the_gradient_adds_up_to_zero_and_its_size_to_the_loss():
    """The identity update: what goes up goes down, each positive by its own error."""
    scores, labels = data(300, ties=False)
    loss = RankSort()(scores, labels)
    (gradient,) = torch.autograd.grad(loss, scores)
    assert gradient.sum().item() == pytest.approx(0, abs=1e-12)
    assert (gradient[labels == 0] >= 0).all()


def test_a_wide_list_of_single_precision_stays_near_double():
    scores, labels = data(20_000, ties=False)
    narrow = scores.detach().float().requires_grad_()
    loss, expected = RankSort()(narrow, labels.float()), RankSort()(scores, labels)
    torch.testing.assert_close(loss.double(), expected, rtol=1e-5, atol=1e-7)


def test_positives_in_the_order_of_their_labels_have_no_sorting_error():
    scores = torch.tensor([9.0, 6.0, 3.0, 0.0], requires_grad=True)
    loss = RankSort()(scores, torch.tensor([0.9, 0.7, 0.7, 0.0]))
    assert loss.item() == pytest.approx(0, abs=1e-6)
    (gradient,) = torch.autograd.grad(loss, scores)
    assert gradient.abs().max() < 1e-6


def test_labels_of_one_give_the_ranking_error_alone():
    """It is AP-loss but for the item itself, which counts ½ in its rank there and 1 in AP-loss."""
    scores = torch.tensor([3.0, 0.0, -3.0], requires_grad=True)
    target = torch.tensor([0, 1, 0])
    loss = RankSort()(scores, target)
    assert loss.item() == pytest.approx(1 / 1.5)
    (found,) = torch.autograd.grad(loss, scores)
    (other,) = torch.autograd.grad(ErrorDrivenAP()(scores, target), scores)
    torch.testing.assert_close(found * (1 / 2), other * (1 / 1.5))


def test_a_label_that_is_no_share_is_named():
    with pytest.raises(ValueError, match="target must lie between 0 and 1, got values from 0 to 2"):
        RankSort()(torch.zeros(2), torch.tensor([0, 2]))
