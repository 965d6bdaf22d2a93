"""Any objective as the loss of class scores of anchors or regions, most of which are background."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rankwise.baselines import DistributionalRanking
from rankwise.baselines.itemwise import ItemwiseObjective
from rankwise.naming import objective as by_name
from rankwise.naming.spec import Spec
from rankwise.naming.table import find_objective, read
from rankwise.objectives import Objective, OneVsRest

__all__ = ["ClassificationLoss"]


class ClassificationLoss(nn.Module):
    """``loss(logits, labels)``: logits (n, classes), labels (n,) from 0, −1 for background.

    A place (an anchor, a region) stands in the list once for each class, positive for its own.
    ``pooled`` makes all of them one list (StableAP 7.2); else each class is a list of its own and
    the loss is the mean over the classes that the batch has.

    ``objective``: a name (``stable_ap``, ``soprc``, ``ap``, ``error_driven_ap``, ``dr``, ``focal``,
    …) or an :class:`~rankwise.objectives.Objective`. A name that wants to know the share of
    positives is told to take that of each list: all places of all images are in the batch, so it
    is the data's. With ``pooled=False`` a name with a memory by list needs ``classes``. Losses of
    single items are summed and divided by the number of positives, as the focal loss of detectors
    is (α = ¼ unless its name says otherwise).

    Without any positive a ranking objective has nothing to rank and gives 0 with a graph; a loss
    of single items goes on to push the background down.
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
            raise ValueError(f"objective must be one of lists of scores, got {type(made).__name__}")
        if made.index_kind == "item":
            raise ValueError(
                f"objective {type(made).__name__} remembers items, and an anchor is none: "
                "it is another thing in every image"
            )
        if pooled and made.index_kind == "list" and made.keys > 1:
            raise ValueError(
                f"objective {type(made).__name__} remembers {made.keys} lists and there is one; "
                "pass pooled=False for a list of every class"
            )
        self.pooled = pooled or isinstance(made, ItemwiseObjective)
        self.objective: Objective = made

    @property
    def feels_shift(self) -> bool:
        """Whether a constant added to all scores changes the loss; to a ranking it is nothing."""
        return isinstance(self.objective, (ItemwiseObjective, DistributionalRanking))

    def forward(self, logits: Tensor, labels: Tensor) -> Tensor:
        """One number, with a graph whatever the labels."""
        hot = one_hot(logits, labels)
        if not self.pooled:
            by_class: Tensor = OneVsRest(self.objective)(logits, hot)
            return by_class
        loss: Tensor = self.objective(logits.reshape(-1), hot.reshape(-1))
        if isinstance(self.objective, ItemwiseObjective):
            return loss * (hot.numel() / max(1, int((labels >= 0).sum())))
        return loss


def one_hot(logits: Tensor, labels: Tensor) -> Tensor:
    """Which places are of each class, (n, classes)."""
    if logits.dim() != 2:
        raise ValueError(f"logits must have shape (n, classes), got {tuple(logits.shape)}")
    places, classes = logits.shape
    if labels.shape != (places,) or labels.is_floating_point():
        raise ValueError(
            f"labels must be whole numbers of shape ({places},), got {labels.dtype} of shape "
            f"{tuple(labels.shape)}"
        )
    outside = (labels < -1) | (labels >= classes)
    if outside.any():
        raise ValueError(
            f"labels must be from 0 to {classes - 1}, or -1 for background, "
            f"got {int(outside.sum())} others such as {int(labels[outside][0])}"
        )
    hot = torch.zeros(logits.shape, dtype=torch.bool, device=logits.device)
    found = (labels >= 0).nonzero().squeeze(1)
    hot[found, labels[found].long()] = True
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
    if not pooled and "lists" in entry.facts and "lists" not in options:
        if classes is None:
            raise ValueError(
                f'classes is needed: objective "{name}" remembers every class with pooled=False'
            )
        lists = classes
    return by_name(str(Spec(spec.name, spec.k, spec.args, options)), lists=lists)
