"""The loss of the class scores of a detector."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rankwise._grammar import Spec
from rankwise.baselines import DistributionalRanking
from rankwise.baselines.pointwise import PointwiseObjective
from rankwise.checks import require_shape
from rankwise.naming import objective as by_name
from rankwise.naming.table import find_objective, read
from rankwise.objectives import Objective, OneVsRest


class ClassificationLoss(nn.Module):
    """Any objective as the loss of class scores of anchors, most of which are background.

    An anchor (or a region) is in the list once for each class, positive for its own. A named
    objective takes its prior from each list: all anchors of all images are in the batch, so it is
    that of the data. Losses of single items are summed and divided by the number of positives, as
    the focal loss of detectors is (α = ¼ unless its name says otherwise). Without any positive a
    ranking objective gives 0 with a graph; a loss of single items still pushes the background down.

    Args:
        objective: Name (``stable_ap``, ``soprc``, ``ap``, ``error_driven_ap``, ``dr``, ``focal``,
            ``rank_sort``, …) or an :class:`~rankwise.objectives.Objective`.
        pooled: Whether all classes make one list (StableAP 7.2); else each class is a list and the
            loss is the mean over the classes that the batch has.
        classes: Number of classes; needed by a name with a memory per list and ``pooled=False``.

    Raises:
        ValueError: Where the objective remembers items, or more lists than there are.

    Example:
        >>> import torch
        >>> from rankwise.vision import ClassificationLoss
        >>> loss = ClassificationLoss("ap")
        >>> logits = torch.tensor([[9.0, -9.0], [-9.0, 9.0], [-9.0, -9.0]])
        >>> round(loss(logits, torch.tensor([0, 1, -1])).item(), 3)  # every positive is above
        0.0
    """

    def __init__(
        self,
        objective: str | Objective = "stable_ap",
        *,
        pooled: bool = True,
        classes: int | None = None,
    ) -> None:
        super().__init__()
        made = _named(objective, pooled, classes) if isinstance(objective, str) else objective
        if not isinstance(made, Objective):
            raise ValueError(f"objective must rank lists of scores, got {type(made).__name__}")
        if made.memory_by == "item":
            raise ValueError(
                f"objective {type(made).__name__} remembers items, and anchors have no "
                "identity across images; choose an objective without a memory per item"
            )
        if pooled and made.memory_by == "list" and made.memory_size > 1:
            raise ValueError(
                f"objective {type(made).__name__} remembers {made.memory_size} lists and there is "
                "one; pass pooled=False for a list of every class"
            )
        self.pooled = pooled or isinstance(made, PointwiseObjective)
        self.objective: Objective = made

    @property
    def takes_quality(self) -> bool:
        """Whether the labels of the positives may be the quality of their boxes (RankSort)."""
        return self.objective.graded and self.objective.soft_labels

    @property
    def shift_sensitive(self) -> bool:
        """Whether a constant added to all scores changes the loss; a ranking does not change."""
        return isinstance(self.objective, (PointwiseObjective, DistributionalRanking))

    def forward(
        self,
        logits: Tensor,
        labels: Tensor,
        previous_logits: Tensor | None = None,
        quality: Tensor | None = None,
    ) -> Tensor:
        """Return the loss of logits (n, classes) and labels (n,) from 0, −1 for background.

        ``previous_logits`` are those of the previous parameters, for objectives that use them;
        ``quality`` in (0, 1] is that of the boxes of the positives in their order, for objectives
        that take soft labels.
        """
        hot = one_hot(logits, labels)
        if quality is not None:
            soft = torch.zeros_like(hot, dtype=quality.dtype)
            soft[hot] = quality
            lists = (logits, soft) if self.pooled else (logits.T, soft.T)
            shape = (-1,) if self.pooled else lists[0].shape
            by_quality: Tensor = self.objective(*(each.reshape(shape) for each in lists))
            return by_quality
        if not self.pooled:
            by_class: Tensor = OneVsRest(self.objective)(
                logits, hot, previous_scores=previous_logits
            )
            return by_class
        previous = None if previous_logits is None else previous_logits.reshape(-1)
        loss: Tensor = self.objective(logits.reshape(-1), hot.reshape(-1), previous_scores=previous)
        if isinstance(self.objective, PointwiseObjective):
            return loss * (hot.numel() / max(1, int((labels >= 0).sum())))
        return loss


def one_hot(logits: Tensor, labels: Tensor) -> Tensor:
    """Return which anchors are of each class, bool (n, classes)."""
    require_shape("logits", logits, "n", "classes")
    anchors, classes = logits.shape
    if labels.shape != (anchors,) or labels.is_floating_point():
        raise ValueError(
            f"labels must be whole numbers of shape ({anchors},), got {labels.dtype} of shape "
            f"{tuple(labels.shape)}"
        )
    outside = (labels < -1) | (labels >= classes)
    if outside.any():
        raise ValueError(
            f"labels must be from 0 to {classes - 1}, or -1 for background, "
            f"got {int(outside.sum())} others such as {int(labels[outside][0])}"
        )
    hot = torch.zeros(logits.shape, dtype=torch.bool, device=logits.device)
    positive = (labels >= 0).nonzero().squeeze(1)
    hot[positive, labels[positive].long()] = True
    return hot


def _named(name: str, pooled: bool, classes: int | None) -> nn.Module:
    spec = read(name)
    entry = find_objective(spec)
    options = dict(spec.options)
    if entry.names[0] == "focal" and len(spec.args) < 2:
        options.setdefault("alpha", 0.25)
    if "prior" in entry.facts and not spec.args:
        options.setdefault("prior", None)
    lists = None
    if not pooled and "num_lists" in entry.facts and "num_lists" not in options:
        if classes is None:
            raise ValueError(
                f'classes is needed: objective "{name}" remembers every class with pooled=False'
            )
        lists = classes
    return by_name(str(Spec(spec.name, spec.k, spec.args, options)), num_lists=lists)
