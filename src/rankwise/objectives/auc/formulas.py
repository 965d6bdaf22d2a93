"""The formulas of the AUC family as functions of lists: the stateless core of its objectives."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from rankwise.lists import Lists
from rankwise.objectives.ap.formulas import false_positive_rate
from rankwise.pairs import Surrogate
from rankwise.pairs.rows import accumulating

__all__ = ["class_means", "pair_mean", "precise", "require_surrogate", "square_about"]


def pair_mean(surrogate: Surrogate, lists: Lists) -> Tensor:
    """mean_{i∈P, j∈N} ℓ(s_i − s_j) of every list, (lists,)   (EXM 2.3.1)."""
    return lists.mean_over_positives(false_positive_rate(surrogate, lists))


def class_means(lists: Lists) -> tuple[Tensor, Tensor]:
    """mean_P s and mean_N s of every list, (lists,) each."""
    return lists.mean_over_positives(lists.positives), lists.mean_over_negatives(lists.negatives)


def square_about(lists: Lists, a: Tensor, b: Tensor) -> Tensor:
    """mean_P (s − a)² + mean_N (s − b)² of every list, with one a and one b for each."""
    above = lists.mean_over_positives((lists.positives - a.unsqueeze(-1)) ** 2)
    return above + lists.mean_over_negatives((lists.negatives - b.unsqueeze(-1)) ** 2)


def precise(lists: Lists) -> Lists:
    """The same lists in the dtype sums are made in: means of half precision need more digits."""
    return replace(
        lists,
        positives=accumulating(lists.positives),
        negatives=accumulating(lists.negatives),
        positive_weight=accumulating(lists.positive_weight),
        negative_weight=accumulating(lists.negative_weight),
    )


def require_surrogate(surrogate: object) -> None:
    """A function of the differences that the engine can sum, not its name."""
    if not isinstance(surrogate, Surrogate):
        raise ValueError(
            f"surrogate must be one of rankwise.pairs, such as SquaredHinge(1.0), got {surrogate!r}"
        )
