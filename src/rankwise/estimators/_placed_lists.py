"""Lists of rows without their scores: scored again, nothing is checked or split again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from torch import Tensor

from rankwise.lists import Lists
from rankwise.objectives._batch import CallArguments, lists_of_rows


@dataclass(frozen=True)
class PlacedLists:
    """Lists of similar length with both classes, and the rows of their items, (lists, items)."""

    lists: Lists
    positives: Tensor
    negatives: Tensor

    def at(self, scores: Tensor) -> Lists:
        """Return the lists under every row of ``scores``, (settings, rows), in one sequence."""
        return replace(
            self.lists,
            positives=_taken(scores, self.positives),
            negatives=_taken(scores, self.negatives),
            positive_weight=self.lists.positive_weight.to(scores.dtype).repeat(len(scores), 1),
            negative_weight=self.lists.negative_weight.to(scores.dtype).repeat(len(scores), 1),
            list_ids=None,
        )


def placed_lists(
    target: Tensor, groups: Tensor | None, weight: Tensor | None, list_ids: Tensor | None = None
) -> Iterator[PlacedLists]:
    """Split rows into lists by size; lists without both classes are left out."""
    arguments = CallArguments(groups=groups, weight=weight, list_ids=list_ids)
    for lists in lists_of_rows(target, arguments, None if list_ids is None else "list"):
        yield PlacedLists(lists, lists.positives.long(), lists.negatives.long())


def _taken(scores: Tensor, rows: Tensor) -> Tensor:
    return scores.index_select(1, rows.flatten()).view(-1, rows.shape[1])
