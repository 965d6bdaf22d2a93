"""SOPRC: the vector v, the ablations, and that its memory makes the estimate right."""

from __future__ import annotations

import pytest
import torch

from rankwise.objectives import SOPRC, AveragePrecision


def population(n: int = 20_000, rate: float = 0.1) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    target = torch.rand(n) < rate
    return torch.randn(n, dtype=torch.float64) + target, target


def test_v_converges_to_the_quantiles_of_all_positives():
    """Proposition 1: with a fixed model v tends to what φ gives for all positives."""
    scores, target = population()
    positives = scores[target]
    loss = SOPRC(0.1, ema_rate=0.05, score_scale=1.0)
    for _ in range(300):
        few = positives[torch.randint(0, len(positives), (8,))]
        batch = torch.cat([few, scores[~target][:50]]).requires_grad_()
        loss(batch, torch.arange(58) < 8)
    p = (torch.arange(100, dtype=torch.float64) + 0.5) / 100
    inner = slice(10, 90)  # eight positives say little of the far ends
    found = loss.vector.value[0, inner].double()
    expected = torch.quantile(positives, p)[inner]
    assert float((found - expected).abs().mean()) < 0.1


def test_the_estimate_does_not_depend_on_the_rate_of_the_batch():
    scores, target = population()
    positives, negatives = scores[target], scores[~target]

    def estimate(loss, n_positive: int) -> float:
        values = []
        for step in range(150):
            p = positives[torch.randint(0, len(positives), (n_positive,))]
            n = negatives[torch.randint(0, len(negatives), (500 - n_positive,))]
            value = loss(torch.cat([p, n]).requires_grad_(), torch.arange(500) < n_positive)
            values.append(float(value.detach())) if step >= 50 else None
        return sum(values) / len(values)

    options = dict(gain="fixed", score_scale=1.0)
    ours = [estimate(SOPRC(0.1, ema_rate=0.1, tau_fpr=0.02, **options), n) for n in (10, 200)]
    own = [estimate(AveragePrecision(**options), n) for n in (10, 200)]
    assert abs(ours[0] - ours[1]) < 0.2 * abs(own[0] - own[1])


def test_several_rows_of_a_list_are_averaged_into_its_vector():
    loss = SOPRC(0.1, num_lists=3, points=4, score_scale=1.0)
    scores = torch.tensor([[1.0, 0.0], [3.0, 0.0], [7.0, 0.0]], requires_grad=True)
    loss(scores, torch.tensor([[1, 0]] * 3), list_ids=torch.tensor([2, 2, 0]))
    assert loss.vector.value[2].tolist() == [2] * 4
    assert loss.vector.value[0].tolist() == [7] * 4
    assert loss.vector.seen.tolist() == [True, False, True]


def test_a_prior_for_every_list():
    priors = torch.tensor([0.5, 0.01])
    scores, target = torch.randn(2, 40), torch.arange(40).expand(2, 40) < 4
    both = SOPRC(priors, num_lists=2, gain="fixed", score_scale=1.0)
    value = both(scores, target, list_ids=torch.tensor([0, 1]))
    each = [
        SOPRC(float(p), gain="fixed", score_scale=1.0)(s, t)
        for p, s, t in zip(priors, scores, target, strict=True)
    ]
    torch.testing.assert_close(value, sum(each) / 2)
    with pytest.raises(
        ValueError, match=r"prior must be None or a number in \(0, 1\) or 2 of them"
    ):
        SOPRC(torch.tensor([0.1, 0.2, 0.3]), num_lists=2)


def test_the_multiplier_is_logged_and_smoothed():
    torch.manual_seed(1)
    loss = SOPRC(0.01)
    assert loss.multiplier is None
    target = torch.arange(200) < 20
    loss(torch.randn(200, requires_grad=True), target)
    first = float(loss.multiplier)
    assert first < 99  # the printed gain would be (1 − .01)/.01
    for _ in range(200):
        loss((torch.randn(200) + 10 * target).requires_grad_(), target)
    assert float(loss.multiplier) == pytest.approx(99, rel=0.01)  # a good ranking: the full gain


def test_the_published_settings_are_accepted():
    loss = SOPRC(
        0.02,
        tau_fpr=0.1,
        tau_tpr=0.001,
        ema_rate=0.001,
        semi_variance=(1.0, 5.0),
        gain="fixed",
        score_scale=1.0,
        score_range=(-1.0, 1.0),
    )
    cosines = (2 * torch.rand(30, 60) - 1).requires_grad_()
    value = loss(cosines, torch.arange(60).expand(30, 60) < 3)
    value.backward()
    assert torch.isfinite(value)
    assert loss.vector.value.abs().max() <= 1


def test_quantiles_are_not_rounded_to_half_precision():
    # In bfloat16 the neighbors of 99.5 are 0.5 away: all of v would be tied with a positive.
    scores, target = torch.tensor([100.0, 99.5, 99.0]), torch.tensor([0, 1, 1])
    found = [
        SOPRC(0.1, score_scale=1.0)(scores.to(dtype), target).item()
        for dtype in (torch.bfloat16, torch.float64)
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-2)
