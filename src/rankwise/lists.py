"""Lists of scores, split into the items that should be above and those that should be below.

Every objective starts here. A batch of lists becomes two padded rectangles, positives and
negatives, with their weights; what an objective adds is mathematics on these two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property

import torch
from torch import Tensor

from rankwise.checks import (
    require_binary,
    require_floating,
    require_relevance,
    require_same_device,
    require_same_shape,
    require_scores,
    require_weights,
    values_are_checked,
)

__all__ = ["Lists", "split_lists"]


@dataclass(frozen=True)
class Lists:
    """Positives and negatives of every list, padded to rectangles.

    Padding has weight 0 and repeats a score of its list, so that it can be computed with.

    Attributes:
        positives: Scores, shape (lists, n), n the largest number of positives in any list.
        negatives: Scores, shape (lists, m), m the largest number of negatives in any list.
        positive_weight: Weights of the positives.
        negative_weight: Weights of the negatives.
        list_ids: Which list of the data set each one is, shape (lists,).
        item_ids: Which item of the data set each positive is.
        previous: Scores of the positives under the previous parameters.
        negative_previous: Scores of the negatives under the previous parameters.
        relevance: Relevance of the positives; None where all are alike.
        remembered: What the memory of the objective has of each list, shape (lists, width).
        places: Columns of the positives among the negatives, where these are all the items.
        ones: The two weights where they are known to be 1 throughout, without padding.
        scratch: What an objective has computed of the scores without a gradient, by objective.

    Example:
        >>> import torch
        >>> from rankwise.lists import split_lists
        >>> scores, target = torch.tensor([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]]), torch.eye(3)[:2]
        >>> lists = split_lists(scores, target)
        >>> lists.positives.tolist(), lists.negatives.tolist()
        ([[3.0], [5.0]], [[1.0, 2.0], [0.0, 4.0]])
        >>> lists.mean_over_negatives(lists.negatives)
        tensor([1.5000, 2.0000])
    """

    positives: Tensor
    negatives: Tensor
    positive_weight: Tensor
    negative_weight: Tensor
    list_ids: Tensor | None = None
    item_ids: Tensor | None = None
    previous: Tensor | None = None
    negative_previous: Tensor | None = None
    relevance: Tensor | None = None
    remembered: Tensor | None = None
    places: Tensor | None = None
    ones: tuple[Tensor, Tensor] | None = None
    scratch: dict[object, tuple[Tensor, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def even(self) -> bool:
        """Whether all items are known to count once, without reading a weight.

        By identity: lists with other weights are not even, however they were made.
        """
        known = self.ones
        return (
            known is not None
            and known[0] is self.positive_weight
            and known[1] is self.negative_weight
        )

    def widened(self) -> Lists:
        """Return the lists with scores in the dtype of their weights, float32 at least."""
        dtype = self.positive_weight.dtype
        return self.replace(positives=self.positives.to(dtype), negatives=self.negatives.to(dtype))

    @property
    def before(self) -> Lists | None:
        """The same lists under the previous parameters; None where they are not known."""
        if self.previous is None or self.negative_previous is None:
            return None
        return self.replace(positives=self.previous, negatives=self.negative_previous)

    @cached_property
    def ids(self) -> Tensor:
        """Which list of the data set each one is; 0 for all where no ids are given."""
        if self.list_ids is not None:
            return self.list_ids
        return same_ids(self.positives.shape[0], self.positives.device)

    @property
    def present(self) -> Tensor | None:
        """Which positives are there, (lists, positives); None where all are known to be."""
        return None if self.even else self.positive_weight > 0

    @cached_property
    def n_positives(self) -> Tensor:
        """Mass of the positives of each list, (lists, 1)."""
        return self.positive_weight.sum(-1, keepdim=True)

    @cached_property
    def n_negatives(self) -> Tensor:
        """Mass of the negatives of each list, (lists, 1)."""
        return self.negative_weight.sum(-1, keepdim=True)

    @property
    def positive_mass(self) -> Tensor | int:
        """:attr:`n_positives`, as a number where all items count once."""
        return self.positives.shape[-1] if self.even else self.n_positives

    @property
    def negative_mass(self) -> Tensor | int:
        """:attr:`n_negatives`, as a number where all items count once."""
        return self.negatives.shape[-1] if self.even else self.n_negatives

    @cached_property
    def complete(self) -> Tensor:
        """Which lists have both classes, or two relevances: the others have nothing to rank."""
        other = self.n_negatives > 0
        if self.relevance is not None and self.relevance.shape[-1]:
            present = self.positive_weight > 0
            lowest = self.relevance.masked_fill(~present, torch.inf).amin(-1, keepdim=True)
            highest = self.relevance.masked_fill(~present, -torch.inf).amax(-1, keepdim=True)
            other = other | (highest > lowest)
        return ((self.n_positives > 0) & other).squeeze(-1)

    @cached_property
    def scores(self) -> Tensor:
        """All the items, positives first, (lists, positives + negatives).

        Kept once it was asked for: ask where its gradient is wanted, not under ``no_grad``.
        """
        return torch.cat([self.positives, self.negatives], dim=-1)

    @cached_property
    def weight(self) -> Tensor:
        """Weights of all the items, positives first."""
        return torch.cat([self.positive_weight, self.negative_weight], dim=-1)

    @cached_property
    def relevances(self) -> Tensor:
        """Relevance of all the items, positives first: 0 for the negatives."""
        known = self.relevance
        return torch.cat(
            [torch.ones_like(self.positives) if known is None else known, 0 * self.negatives], -1
        ).detach()

    @cached_property
    def rate(self) -> Tensor:
        """Share of the positives in each list, (lists, 1)."""
        return self.n_positives / (self.n_positives + self.n_negatives)

    @property
    def all_complete(self) -> bool:
        """Whether every list has both classes; reads no value where all items count once."""
        both = self.positives.shape[-1] > 0 and self.negatives.shape[-1] > 0
        if self.even and (both or self.relevance is None):
            return both
        return bool(self.complete.all())

    def select(self, chosen: Tensor) -> Lists:
        """Return some of the lists, by a boolean for each."""
        tensors = {name: getattr(self, name) for name in _FIELDS[:-2]}
        return Lists(**{name: t[chosen] for name, t in tensors.items() if t is not None})

    def replace(self, **changes: Tensor | None) -> Lists:
        """Return the lists with other tensors in some fields."""
        # What dataclasses.replace does, in a fifth of its time, which small batches notice.
        lists = object.__new__(Lists)
        own = self.__dict__
        lists.__dict__.update({name: own[name] for name in _FIELDS}, **changes)
        if "positives" in changes:
            lists.__dict__["scratch"] = {}
        if "ids" in own and "list_ids" not in changes:
            lists.__dict__["ids"] = own["ids"]
        return lists

    def detached(self) -> Lists:
        """Return the same lists without a graph."""
        if not (self.positives.requires_grad or self.negatives.requires_grad):
            return self
        lists = self.replace(positives=self.positives.detach(), negatives=self.negatives.detach())
        lists.__dict__["scratch"] = self.scratch
        return lists

    def mean_over_positives(self, values: Tensor) -> Tensor:
        """Return the mean of one value per positive, one number for each list."""
        if self.even:
            return _mean(values, self.positive_weight.dtype)
        return (values * self.positive_weight).sum(-1) / self.n_positives.squeeze(-1)

    def mean_over_negatives(self, values: Tensor) -> Tensor:
        """Return the mean of one value per negative, one number for each list."""
        if self.even:
            return _mean(values, self.negative_weight.dtype)
        return (values * self.negative_weight).sum(-1) / self.n_negatives.squeeze(-1)


def _mean(values: Tensor, dtype: torch.dtype) -> Tensor:
    """The mean along the lists, in this dtype at least."""
    if values.dtype is dtype:
        return values.mean(-1)
    return values.mean(-1, dtype=torch.promote_types(values.dtype, dtype))


def same_ids(count: int, device: torch.device) -> Tensor:
    """Return the id 0 of lists that have none of their own, (count,); it must not be changed."""
    return _constant(0, torch.long, device).expand(count)


@cache
def _constant(value: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """One number, kept: a small batch notices how long it takes to make it."""
    with torch.inference_mode(False):  # else it could never take part in a gradient
        return torch.full((), value, dtype=dtype, device=device)


_FIELDS = tuple(Lists.__dataclass_fields__)  # the last two hold no tensors of their own


def split_lists(
    scores: Tensor,
    target: Tensor,
    mask: Tensor | None = None,
    weight: Tensor | None = None,
    *,
    item_ids: Tensor | None = None,
    previous: Tensor | None = None,
    graded: bool = False,
    whole_positives: bool = False,
    whole_negatives: bool = False,
    list_ids: Tensor | None = None,
) -> Lists:
    """Check lists and split them by their target into positives and negatives.

    Args:
        scores: Scores of any floating dtype, shape (…, items); leading dimensions are flattened.
        target: 0/1 labels, or relevances ≥ 0 with ``graded``.
        mask: True for items that are present.
        weight: Weight of each item.
        item_ids: Which item of the data set each score is of.
        previous: Scores under the previous parameters.
        graded: Whether the target holds relevances; those above 0 are the positives.
        whole_positives: Like ``whole_negatives``, for the positives.
        whole_negatives: Whether to keep all items among the negatives, the positives with weight 0.
            Nothing large is copied, which pays where nearly all items are negatives and none is
            sorted.
        list_ids: Which list of the data set each one is, shape (lists,).

    Returns:
        The lists. All arguments but ``list_ids`` have the shape of ``scores``.

    Raises:
        ValueError: If shapes, devices or values do not fit.

    Example:
        >>> import torch
        >>> from rankwise.lists import split_lists
        >>> lists = split_lists(torch.tensor([3.0, 1.0, 2.0]), torch.tensor([0, 1, 0]))
        >>> lists.positives, lists.negatives
        (tensor([[1.]]), tensor([[3., 2.]]))
    """
    require_floating("scores", scores)
    for name, given in (
        ("target", target),
        ("mask", mask),
        ("weight", weight),
        ("item_ids", item_ids),
    ):
        if given is not None:
            require_same_shape(name, given, "scores", scores)
            require_same_device(name, given, "scores", scores)
    label_check = require_relevance if graded else require_binary
    fill_masked = check_values(scores, target, mask, weight, label_check)
    return split_by_target(
        scores,
        target,
        mask,
        weight,
        item_ids=item_ids,
        previous=previous,
        graded=graded,
        whole_positives=whole_positives,
        whole_negatives=whole_negatives,
        list_ids=list_ids,
        fill_masked=fill_masked,
    )


def check_values(
    scores: Tensor,
    target: Tensor,
    mask: Tensor | None,
    weight: Tensor | None,
    require_target: Callable[[str, Tensor], None],
) -> bool:
    """Raise on values that cannot be ranked; return whether masked items need other values.

    A masked item may hold anything, NaN and a target of −100 included. It seldom does, and then
    nothing has to be copied.
    """
    scores = scores.detach()
    try:
        require_scores("scores", scores)
        require_target("target", target)
        if weight is not None:
            require_weights("weight", weight)
    except ValueError:
        if mask is None:
            raise
        scores, target, weight = _filled(scores, target, weight, mask)
        check_values(scores, target, None, weight, require_target)
        return True
    return mask is not None and not values_are_checked()


def split_by_target(
    scores: Tensor,
    target: Tensor,
    mask: Tensor | None = None,
    weight: Tensor | None = None,
    *,
    item_ids: Tensor | None = None,
    previous: Tensor | None = None,
    graded: bool = False,
    whole_positives: bool = False,
    whole_negatives: bool = False,
    list_ids: Tensor | None = None,
    fill_masked: bool = False,
) -> Lists:
    """Split lists that :func:`check_values` has checked, as :func:`split_lists` does."""
    if scores.dim() != 2:
        scores, target, *others = in_rows(scores, target, mask, weight, item_ids, previous)
        mask, weight, item_ids, previous = others
    if fill_masked and mask is not None:
        scores, target, weight = _filled(scores, target, weight, mask)
    positive = target if target.dtype == torch.bool else target > 0
    negative = ~positive
    if mask is not None:
        positive, negative = positive & mask, negative & mask
    if weight is not None:
        weight = weight.to(torch.promote_types(scores.dtype, torch.float32))
    above, above_weight, even_above = _side(positive, weight, scores.dtype, whole_positives)
    below, below_weight, even_below = _side(negative, weight, scores.dtype, whole_negatives)
    return Lists(
        _taken(scores, above),
        _taken(scores, below),
        above_weight,
        below_weight,
        list_ids,
        item_ids=None if item_ids is None else _taken(item_ids, above),
        previous=None if previous is None else _taken(previous, above),
        negative_previous=None if previous is None else _taken(previous, below),
        relevance=_taken(target, above).to(above_weight.dtype) if graded else None,
        places=above if whole_negatives else None,
        ones=(above_weight, below_weight) if even_above and even_below else None,
    )


def in_rows(
    scores: Tensor, target: Tensor, *others: Tensor | None
) -> tuple[Tensor, Tensor, *tuple[Tensor | None, ...]]:
    """Return tensors of one shape (…, items) as rows of lists, (lists, items)."""
    if scores.dim() == 1:  # the shortest way, which a small batch notices
        rest = [None if t is None else t.unsqueeze(0) for t in others]
        return scores.unsqueeze(0), target.unsqueeze(0), *rest
    rows = math.prod(scores.shape[:-1]), scores.shape[-1]
    reshaped = [None if t is None else t.reshape(rows) for t in others]
    return scores.reshape(rows), target.reshape(rows), *reshaped


def _taken(values: Tensor, where: Tensor | None) -> Tensor:
    return values if where is None else values.gather(-1, where)


def _filled(
    scores: Tensor, target: Tensor, weight: Tensor | None, mask: Tensor
) -> tuple[Tensor, Tensor, Tensor | None]:
    """The same with 0 for every masked item."""
    absent = ~mask
    scores, target = scores.masked_fill(absent, 0), target.masked_fill(absent, 0)
    return scores, target, None if weight is None else weight.masked_fill(absent, 0)


def _side(
    chosen: Tensor, weight: Tensor | None, dtype: torch.dtype, whole: bool
) -> tuple[Tensor | None, Tensor, bool]:
    """Where the chosen items of every row are, moved to the front, and their weights.

    None for all the items, where they are. Last, whether the weights are known to be 1 throughout.
    """
    dtype = torch.promote_types(dtype, torch.float32)
    if whole:
        weights = _as_numbers(chosen, dtype)
        return None, weights if weight is None else weights * weight, False
    if chosen.shape[0] == 1:  # one list needs no padding
        where = chosen.squeeze(0).nonzero().view(1, -1)
        if weight is not None:
            return where, weight.gather(-1, where), False
        return where, _constant(1, dtype, where.device).expand(where.shape), True
    counts = chosen.view(torch.uint8).sum(-1, dtype=torch.int32)
    shortest, longest = (end.item() for end in counts.aminmax()) if len(counts) else (0, 0)
    columns = _columns(chosen, sparse=longest * _SPARSE <= chosen.shape[1])
    even = shortest == longest
    if even:  # as in batches with the same number of items of each class
        where = columns.reshape(len(chosen), int(longest))
        weights = where.new_ones(where.shape, dtype=dtype)
    else:
        where, weights = _padded(columns, counts, int(longest), dtype)
    if weight is not None:
        weights = weights * weight.gather(-1, where)
    return where, weights, even and weight is None


def _padded(
    columns: Tensor, counts: Tensor, longest: int, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Rows of different lengths, (rows, longest), and 1 where there is something."""
    present = torch.arange(longest, device=columns.device) < counts.unsqueeze(-1)
    # Every row's chosen columns in order, filled into the cells that are present: both row-major.
    where = torch.zeros(len(counts), longest, dtype=torch.long, device=columns.device)
    where[present] = columns
    # Padding repeats the row's first chosen score: it must not widen the range of the row.
    return torch.where(present, where, where[:, :1]), _as_numbers(present, dtype)


_SPARSE = 64  # with one mark in 64 nearly every word of eight marks is empty


def _columns(chosen: Tensor, *, sparse: bool) -> Tensor:
    """The columns of all marks, row by row; where they are sparse, first of words of eight marks.

    To look for them is the longest pass over a batch in which every item is a query.
    """
    words_fit = chosen.numel() and chosen.shape[1] % 8 == 0 and chosen.is_contiguous()
    if not (sparse and words_fit):
        return chosen.nonzero(as_tuple=True)[1]
    rows, words = chosen.view(torch.int64).nonzero(as_tuple=True)
    which, within = chosen.view(len(chosen), -1, 8)[rows, words].nonzero(as_tuple=True)
    return words[which] * 8 + within


def _as_numbers(marks: Tensor, dtype: torch.dtype) -> Tensor:
    """0 and 1 for False and True, which are bytes: reading them as such is ten times as fast."""
    return marks.view(torch.uint8).to(dtype)
