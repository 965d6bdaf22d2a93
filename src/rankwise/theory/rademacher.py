"""The pairwise Rademacher complexity of StableAP, by Monte Carlo over the signs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from rankwise.checks import require_count, require_each, require_positive
from rankwise.pairs import OneSidedHuber, Surrogate, pair_sum
from rankwise.theory.summary import Mean, mean_of


@dataclass(frozen=True)
class WeightedPairs:
    """The pairwise loss w̃(r_i)·ℓ(s_i − s_j) of StableAP, of which the complexity is taken.

    Args:
        surrogate: ℓ.
        width: Largest difference of two scores; B is the largest ℓ within it.
        a, t: Offset and exponent of the weights w̃(r) = ((1+a)/(r+a))^t; ``t=0`` weighs all alike.

    Example:
        >>> from rankwise.pairs import OneSidedHuber
        >>> from rankwise.theory import WeightedPairs
        >>> WeightedPairs(OneSidedHuber(0.5)).t
        2.0
    """

    surrogate: Surrogate = OneSidedHuber(0.1)  # noqa: RUF009  (surrogates are frozen)
    width: float = 2.0
    a: float = 0.1
    t: float = 2.0

    def coefficients(self, scores: Tensor, target: Tensor) -> Tensor:
        """Return the factor of every sign σ in T_f(σ), (rows, items), positives first.

        σ_i⁺ has w̃_i·mean_j ℓ_ij/(2n⁺), σ_j⁻ has mean_i w̃_i ℓ_ij/(2n⁻). μ⁺ of the weights is the
        mean of the row's positives. Differentiable in the scores, through the weights as well.
        """
        positives, negatives = scores[..., target], scores[..., ~target]
        n_positives, n_negatives = positives.shape[-1], negatives.shape[-1]
        gap = positives - positives.mean(-1, keepdim=True)
        bound = self.surrogate.maximum(-self.width, self.width)
        rank = (self.surrogate.value(gap) / bound).clamp(0, 1)
        weights = ((1 + self.a) / (rank + self.a)) ** self.t
        above = weights * pair_sum(self.surrogate, positives, negatives)
        below = pair_sum(self.surrogate, -negatives, -positives, weight=weights)
        return torch.cat([above, below], dim=-1) / (2 * n_positives * n_negatives)


def pairwise_rademacher(
    scores: Tensor,
    target: Tensor,
    *,
    pairs: WeightedPairs | None = None,
    draws: int = 200,
    seed: int = 0,
) -> Mean:
    """Estimate the empirical pairwise Rademacher complexity of a finite class of scorers.

    E_σ max_f |Σ_ij (σ_i⁺ + σ_j⁻)/(2n⁺n⁻) · w̃(r_i)ℓ(f(x_i) − f(x_j))|. The maximum over the class is
    exact; the expectation over the signs is a mean over draws.

    Args:
        scores: Scores of the sample by every scorer f of the class, (scorers, items).
        target: 0/1 labels of the sample, (items,).
        pairs: The pairwise loss with its weights.
        draws: Number of draws of the signs.
        seed: Seed of the signs.

    Returns:
        The mean over the draws, with its standard error.

    Example:
        >>> import torch
        >>> from rankwise.theory import pairwise_rademacher
        >>> scores = torch.tensor([[0.5, -0.5], [-0.5, 0.5]])  # no error, and an error of ℓ = 21
        >>> found = pairwise_rademacher(scores, torch.tensor([1, 0]), draws=1000)
        >>> # w̃ = (1.1/(1/41 + .1))², and |σ⁺ + σ⁻|/2 is 0 or 1
        >>> abs(found.value - 0.5 * 21 * (1.1 / (1 / 41 + 0.1)) ** 2) < 3 * found.standard_error
        True

    Reference:
        StableAP, Definition 2.
    """
    require_count("draws", draws)
    present = _present(target)
    if scores.ndim != 2 or scores.shape[-1] != len(target):
        raise ValueError(
            f"scores must have shape (scorers, {len(target)}), got {tuple(scores.shape)}; pass one "
            "row for every scorer of the class"
        )
    factors = (pairs or WeightedPairs()).coefficients(scores.double(), present)
    return mean_of((factors @ _signs(draws, len(target), seed).T).abs().amax(0))


def linear_rademacher(
    features: Tensor,
    target: Tensor,
    radius: float = 1.0,
    *,
    pairs: WeightedPairs | None = None,
    link: Callable[[Tensor], Tensor] | None = None,
    draws: int = 30,
    starts: int = 4,
    steps: int = 100,
    seed: int = 0,
) -> Mean:
    """Estimate the pairwise Rademacher complexity of linear scores with ‖w‖₂ ≤ radius.

    The supremum over w is searched by projected gradient ascent from several starts for every draw
    of the signs. It is exact where the loss is linear in w, and a lower bound of it otherwise, so
    the estimate does not overstate the complexity.

    Args:
        features: Features of the sample, (items, features).
        target: 0/1 labels of the sample, (items,).
        radius: Largest norm of the weights.
        pairs: The pairwise loss with its weights.
        link: Function of w·x that makes the scores, such as ``torch.tanh``; None for w·x itself.
        draws: Number of draws of the signs.
        starts: Starts of the ascent for every draw.
        steps: Steps of the ascent.
        seed: Seed of the signs and of the starts.

    Returns:
        The mean over the draws, with its standard error.

    Example:
        >>> import torch
        >>> from rankwise.theory import linear_rademacher
        >>> features = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
        >>> target = torch.arange(40) < 8
        >>> small, large = (linear_rademacher(features, target, r, draws=5) for r in (0.1, 1.0))
        >>> small.value < large.value
        True

    Reference:
        StableAP, Definition 2.
    """
    require_each(require_count, draws=draws, starts=starts, steps=steps)
    require_positive("radius", radius)
    present, pairs = _present(target), pairs or WeightedPairs()
    x = features.double()
    x = torch.cat([x[present], x[~present]])
    positives_first = torch.arange(len(x)) < int(present.sum())
    signs = _signs(draws, len(x), seed).repeat_interleave(starts, 0)
    generator = torch.Generator().manual_seed(seed)
    start = torch.randn(len(signs), x.shape[1], generator=generator, dtype=torch.float64)
    weights = (radius * start / start.norm(dim=1, keepdim=True)).requires_grad_()
    best = torch.zeros(len(signs), dtype=torch.float64)
    for step in range(steps + 1):
        scores = weights @ x.T
        factors = pairs.coefficients(scores if link is None else link(scores), positives_first)
        sums = (factors * signs).sum(-1).abs()
        best = torch.maximum(best, sums.detach())
        (uphill,) = torch.autograd.grad(sums.sum(), weights)
        # Steps of a fixed length, which falls: the size of the gradient depends on the weights w̃.
        length = radius / 2 * (1 - step / (steps + 1))
        with torch.no_grad():
            weights += length * uphill / uphill.norm(dim=1, keepdim=True).clamp_min(1e-300)
            weights *= (radius / weights.norm(dim=1, keepdim=True)).clamp(max=1)
    return mean_of(best.view(draws, starts).amax(1))


def _present(target: Tensor) -> Tensor:
    present = target.bool()
    if present.ndim != 1 or bool(present.all()) or not bool(present.any()):
        raise ValueError(
            f"target must be one row of labels with both classes, got shape {tuple(target.shape)} "
            f"with {int(present.sum())} positives; pass the labels of one list"
        )
    return present


def _signs(draws: int, n: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return 2 * torch.randint(2, (draws, n), generator=generator, dtype=torch.float64) - 1
