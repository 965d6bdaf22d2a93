"""The formulas of the AP family as functions of lists: the stateless core of its objectives."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.lists import Lists
from rankwise.pairs import Surrogate, pair_sum


def false_positive_rate(surrogate: Surrogate, lists: Lists) -> Tensor:
    """Compute the surrogate false positive rate mean_{j∈N} ℓ(s_i − s_j) at every positive.

    Args:
        surrogate: Pairwise loss ℓ.
        lists: Lists with both classes.

    Returns:
        One rate per positive, shape (lists, positives).

    Example:
        >>> import torch
        >>> from rankwise.functional import false_positive_rate, split_lists
        >>> from rankwise.pairs import Sigmoid
        >>> lists = split_lists(torch.tensor([2.0, 0.0, 1.0, -1.0]), torch.tensor([1, 1, 0, 0]))
        >>> false_positive_rate(Sigmoid(20.0), lists).round(decimals=4)  # 0 and 1 of 2 above
        tensor([[0.0000, 0.5000]])

    Reference:
        SOPRC, Eq. 4.
    """
    return negatives_above(surrogate, lists) / lists.negative_mass


def negatives_above(surrogate: Surrogate, lists: Lists) -> Tensor:
    """Compute Σ_{j∈N} w_j · ℓ(s_i − s_j), the surrogate number of negatives above a positive."""
    weight = None if lists.even else lists.negative_weight
    return pair_sum(surrogate, lists.positives, lists.negatives, weight=weight)


def true_positive_rate(surrogate: Surrogate, lists: Lists) -> Tensor:
    """Compute the surrogate true positive rate (1 + Σ_{j≠i} ℓ(s_i − s_j))/n⁺ at every positive.

    The item itself counts once, so that the rate of the highest positive is not 0.

    Args:
        surrogate: Pairwise loss ℓ.
        lists: Lists with both classes.

    Returns:
        One rate per positive, shape (lists, positives).

    Example:
        >>> import torch
        >>> from rankwise.functional import split_lists, true_positive_rate
        >>> from rankwise.pairs import Sigmoid
        >>> lists = split_lists(torch.tensor([2.0, 0.0, 1.0, -1.0]), torch.tensor([1, 1, 0, 0]))
        >>> true_positive_rate(Sigmoid(100.0), lists)  # 1 and 2 of 2 positives
        tensor([[0.5000, 1.0000]])

    Reference:
        SOPRC, Eq. 4, with the item itself as in the authors' code.
    """
    return positives_above(surrogate, lists) / lists.positive_mass


def positives_above(surrogate: Surrogate, lists: Lists) -> Tensor:
    """Compute 1 + Σ_{j≠i} w_j · ℓ(s_i − s_j), the surrogate rank of a positive among them."""
    weight = None if lists.even else lists.positive_weight
    total = pair_sum(surrogate, lists.positives, lists.positives, weight=weight)
    return total + (1 - surrogate.maximum(0, 0))  # 1 in place of ℓ(0), which the sum has


def rate_among_positives(surrogate: Surrogate, lists: Lists) -> Tensor:
    """Compute mean_{j∈P, j≠i} ℓ(s_i − s_j), the surrogate share of other positives above one.

    A positive of weight 2 is two of them. Where weights are not whole numbers, and where there is
    no other, the item itself counts. One rate per positive, (lists, positives).
    """
    weight = None if lists.even else lists.positive_weight
    total = pair_sum(surrogate, lists.positives, lists.positives, weight=weight)
    if lists.even:
        n = lists.positives.shape[-1]
        return (total - surrogate.maximum(0, 0)) / (n - 1) if n > 1 else total
    mass, present = lists.n_positives, lists.positive_weight
    counts = (present == present.round()).all(-1, keepdim=True) & (mass > 1)
    itself = counts.to(mass)
    return (total - itself * surrogate.maximum(0, 0)) / (mass - itself)


def saturating(x: Tensor) -> Tensor:
    """Compute σ(x) = x/(1 + x), which turns FPR/TPR odds into 1 − precision.

    Args:
        x: Numbers ≥ 0 of any shape.

    Returns:
        Numbers in [0, 1) of the same shape.

    Example:
        >>> import torch
        >>> from rankwise.functional import saturating
        >>> saturating(torch.tensor([0.0, 1.0, 3.0]))
        tensor([0.0000, 0.5000, 0.7500])

    Reference:
        SOPRC, Eq. 3.
    """
    return x / (1 + x)


def precision_loss(x: Tensor, power: float = 1.0) -> Tensor:
    """Compute (1 − p^q)/q of the precision p = 1/(1 + x), the outer function of the AP family.

    q = 1 is 1 − p = x/(1 + x). Its slope falls like 1/x², so that positives far down the list are
    given up. q → 0 is −log p = log(1 + x), whose slope falls like 1/x only.

    Args:
        x: Odds of an error, numbers ≥ 0 of any shape.
        power: q in [0, 1].

    Returns:
        Numbers ≥ 0 of the same shape.

    Example:
        >>> import torch
        >>> from rankwise.functional import precision_loss
        >>> x = torch.tensor([0.0, 1.0, 3.0])  # precisions 1, 1/2 and 1/4
        >>> precision_loss(x), precision_loss(x, power=0.0)
        (tensor([0.0000, 0.5000, 0.7500]), tensor([0.0000, 0.6931, 1.3863]))

    Reference:
        SOPRC, Eq. 3, for q = 1; the others are the generalized logarithm of the precision.
    """
    return x / (1 + x) if power == 1 else surprise_loss(torch.log1p(x), power)


def error_share(wrong: Tensor, right: Tensor, power: float) -> Tensor:
    """Compute ``precision_loss(wrong / right, power)``: for q = 1 it is wrong/(wrong + right).

    With a constant ``right`` the graph has two operations, which a small batch notices.
    """
    return wrong / (wrong + right) if power == 1 else precision_loss(wrong / right, power)


def surprise_loss(surprise: Tensor, power: float) -> Tensor:
    """Compute (1 − p^q)/q from −log p, which stays finite where the odds do not."""
    return surprise if power == 0 else -torch.expm1(-power * surprise) / power


def weighted_median(values: Tensor, weight: Tensor) -> Tensor:
    """Return the lower median of every row, (rows, 1): weight 2 is the value twice, 0 absent."""
    ordered, order = values.sort(-1)
    through = weight.double().gather(-1, order).cumsum(-1)
    place = (through < through[..., -1:] / 2).sum(-1, keepdim=True)
    return ordered.gather(-1, place)


def semi_variance(lists: Lists, below: float, above: float) -> Tensor:
    """Compute the penalty λ₁ mean_P[(s−μ⁺)²; s<μ⁺] + λ₂ mean_N[(s−μ⁻)²; s>μ⁻].

    Args:
        lists: Lists with both classes.
        below: λ₁, for positives below their mean.
        above: λ₂, for negatives above their mean.

    Returns:
        One number per list, shape (lists,).

    Example:
        >>> import torch
        >>> from rankwise.functional import semi_variance, split_lists
        >>> lists = split_lists(torch.tensor([2.0, 0.0, 3.0, 1.0]), torch.tensor([1, 1, 0, 0]))
        >>> semi_variance(lists, below=1.0, above=5.0)  # 1 · 1²/2 + 5 · 1²/2
        tensor([3.])

    Reference:
        SOPRC, Eq. 9.
    """
    low = lists.positives - lists.mean_over_positives(lists.positives).unsqueeze(-1)
    high = lists.negatives - lists.mean_over_negatives(lists.negatives).unsqueeze(-1)
    return below * lists.mean_over_positives(low.clamp_max(0) ** 2) + above * (
        lists.mean_over_negatives(high.clamp_min(0) ** 2)
    )


def stable_weights(surrogate: Surrogate, gap: Tensor, width: float, a: float, t: float) -> Tensor:
    """Compute the weights w̃(r) = ((1+a)/(r+a))^t with r = ℓ(gap)/B in [0, 1], without a gradient.

    Args:
        surrogate: Pairwise loss ℓ.
        gap: s_i − μ⁺ of any shape.
        width: Largest difference of two scores; B is the largest ℓ within it.
        a: a > 0, which bounds the weights.
        t: Exponent t ≥ 0.

    Returns:
        Weights between 1 and ((1+a)/a)^t, of the shape of ``gap``.

    Example:
        >>> import torch
        >>> from rankwise.functional import stable_weights
        >>> from rankwise.pairs import OneSidedHuber
        >>> stable_weights(OneSidedHuber(1.0), torch.tensor([1.0, -1.0]), width=1.0, a=0.1, t=2.0)
        tensor([121.,   1.])

    Reference:
        StableAP, Eq. 4.
    """
    r = (surrogate.value(gap.detach()) / surrogate.maximum(-width, width)).clamp_(0, 1)
    return r.add_(a).reciprocal_().mul_(1 + a).pow_(t)
