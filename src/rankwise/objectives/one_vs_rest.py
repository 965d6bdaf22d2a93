"""Classes as lists: any objective on logits of shape (items, classes)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from rankwise.checks import require_binary, require_values
from rankwise.eager import eager_only
from rankwise.objectives._options import ReprFromOptions
from rankwise.objectives.base import Objective


class OneVsRest(ReprFromOptions, nn.Module):
    """Any objective on logits of several classes: each class ranks all items.

    The items of a class are its positives, all other items its negatives. An objective with a
    memory by list is made with ``num_lists`` equal to the number of classes and gets the class ids
    from here; one with a memory by item is made with ``num_items`` = items × classes. Logits of one
    class (items, 1) with a multi-hot target are one list.

    Args:
        objective: Objective of every class; its ``reduction`` is the one over classes.

    Example:
        >>> import torch
        >>> from rankwise.objectives import OneVsRest, PairwiseAUC
        >>> logits, target = torch.tensor([[1.0, 0.0], [0.0, 0.0]]), torch.tensor([0, 1])
        >>> OneVsRest(PairwiseAUC())(logits, target)  # squared hinge: class 0 has 0, class 1 has 1
        tensor(0.5000)
        >>> OneVsRest(PairwiseAUC(reduction="none"))(logits, target)
        tensor([0., 1.])
    """

    def __init__(self, objective: Objective) -> None:
        super().__init__()
        self.objective = objective

    @eager_only
    def forward(
        self,
        logits: Tensor,
        target: Tensor,
        *,
        weight: Tensor | None = None,
        item_ids: Tensor | None = None,
        previous_scores: Tensor | None = None,
    ) -> Tensor:
        """Compute the objective over the classes that the batch has.

        Args:
            logits: Shape (items, classes).
            target: One class per item, or multi-hot of shape (items, classes); −1 leaves an item,
                or one of its labels, out.
            weight: Weight of each item, shape (items,).
            item_ids: Id of each item, shape (items,), for objectives with a memory by item.
            previous_scores: Logits under the previous parameters, for objectives that use them.

        Returns:
            One number; with ``reduction="none"`` one per class.
        """
        require_values("logits", logits)
        if logits.dim() != 2:
            raise ValueError(f"logits must have shape (items, classes), got {tuple(logits.shape)}")
        items, classes = logits.shape
        ids = torch.arange(classes, device=logits.device)
        hot, mask = self._by_class(target, items, ids)
        given = {"mask": mask}
        if self.objective.memory_by == "list" and self.objective.memory_size > 1:
            given["list_ids"] = ids
        elif self.objective.memory_by == "item":
            if item_ids is None or item_ids.shape != (items,):
                raise ValueError(f"item_ids must hold one id per item, shape ({items},)")
            given["item_ids"] = (item_ids * classes).unsqueeze(0) + ids.unsqueeze(1)
        if weight is not None and weight.shape != (items,):
            raise ValueError(
                f"weight must have one number per item, shape ({items},), "
                f"got shape {tuple(weight.shape)}"
            )
        given["weight"] = None if weight is None else weight.expand(classes, items)
        if previous_scores is not None:
            given["previous_scores"] = previous_scores.T
        # A class's items side by side: everything that follows goes over them again and again.
        scores = logits.T.contiguous()
        if items == 1:
            scores, hot, given = _with_an_absent_item(scores, hot, given)
        loss: Tensor = self.objective(scores, hot, **given)
        return loss

    @staticmethod
    def _by_class(target: Tensor, items: int, ids: Tensor) -> tuple[Tensor, Tensor | None]:
        """Which items are of each class, (classes, items), and which are known, if not all."""
        classes = len(ids)
        if target.shape == (items, classes):
            labeled = target != -1
            require_binary("target", target.masked_fill(~labeled, 0))
            mask = None if bool(labeled.all()) else labeled.T.contiguous()
            return (target > 0).T.contiguous(), mask
        if target.shape != (items,) or target.is_floating_point():
            raise ValueError(
                f"target must be class ids of shape ({items},) or multi-hot of shape "
                f"({items}, {classes}), got {target.dtype} of shape {tuple(target.shape)}"
            )
        low, high = (int(end) for end in target.aminmax()) if target.numel() else (0, 0)
        if low < -1 or high >= classes:
            raise ValueError(
                f"target must be class ids from 0 to {classes - 1}, or -1 to leave an item out, "
                f"got values from {low} to {high}"
            )
        known = None if low >= 0 else (target != -1).expand(classes, items)
        return target == ids.unsqueeze(1), known


def _with_an_absent_item(
    scores: Tensor, hot: Tensor, given: dict[str, Tensor | None]
) -> tuple[Tensor, Tensor, dict[str, Tensor | None]]:
    """Lists of one item with a masked one behind it.

    An objective refuses lists of one item, which are nearly always a column of scores; here they
    are the last batch of an epoch.
    """
    if given["mask"] is None:
        given = {**given, "mask": torch.ones_like(hot)}
    padded = {name: t if t is None or t.dim() < 2 else pad(t, (0, 1)) for name, t in given.items()}
    return pad(scores, (0, 1)), pad(hot, (0, 1)), padded
