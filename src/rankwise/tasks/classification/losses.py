"""Loss of logits by any objective: two classes, several classes, or several labels per image."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from rankwise._grammar import parse
from rankwise.baselines import LDAM, CrossBatchMemory
from rankwise.baselines.class_balanced import effective_number_weights
from rankwise.errors import UsageError
from rankwise.naming import objective as by_name
from rankwise.naming.lookup import signature_of_objective
from rankwise.naming.signatures import bind
from rankwise.naming.table import find_objective
from rankwise.objectives import Objective, OneVsRest
from rankwise.objectives.classes import ClassObjective
from rankwise.tasks.classification.settings import Objective as Chosen

_BALANCED = ("class_balanced", "classbalanced")
_CROSS_ENTROPY = ("cross_entropy", "bce", "crossentropy")
_LDAM = "ldam"
_SCALE = 30.0  # of cosines, as LDAM's


class ClassificationLoss(nn.Module):
    """``loss(logits, target)`` of a batch; priors and sizes of a memory follow from the data.

    Two classes: one logit, and the batch is one list. Several: each class ranks all items
    (:class:`~rankwise.objectives.OneVsRest`), π is its share of the training images, and a memory
    by list has a list for every class. ``cross_entropy`` and ``class_balanced`` of one class by
    image are the usual ones, over a softmax. ``index`` are the rows of the images in the training
    set, for objectives that remember them.
    """

    weights: Tensor | None

    def __init__(
        self, chosen: Chosen, target: Tensor, classes: int, *, cosine: bool = False
    ) -> None:
        """``target`` is that of the training set, (n,) or (n, classes)."""
        super().__init__()
        self.chosen, self.classes, self.items = chosen, classes, len(target)
        self.multi_label = target.ndim == 2
        self.binary = not self.multi_label and classes == 2
        self.cosine = cosine
        self.several = not self.binary
        self.plain: Callable[[Tensor, Tensor], Tensor] | None = None
        self.objective: nn.Module | None = None
        hot = target if self.multi_label else nn.functional.one_hot(target, classes)
        _require_both(hot.sum(0), self.items)
        # A class of no image, or of all, has no list: its count is not used, but must not be 0.
        self.counts = hot.sum(0).double().clamp(1, self.items - 1)
        self.register_buffer("weights", None, persistent=False)
        short = chosen.short.strip().lower()
        try:
            if self.several and short in (*_CROSS_ENTROPY, *_BALANCED):
                self._plain(short)
            else:
                self._by_name(short)
        except (ValueError, RuntimeError) as error:
            if isinstance(error, UsageError):
                raise
            raise UsageError(f"objective.name: {error}") from None
        takes = self.objective is not None and _takes_previous(self.objective)
        if chosen.previous and not takes:
            raise UsageError(f"objective.previous is for stable_ap, got {chosen.name}")

    def _plain(self, short: str) -> None:
        """Set the cross-entropy of several classes: over a softmax, or a sigmoid per label."""
        if short in _BALANCED:
            spec = parse(self.chosen.name)
            options = bind(signature_of_objective(find_objective(spec)), spec)
            beta = options.get("beta", 0.9999)
            assert isinstance(beta, (int, float))
            if self.multi_label:
                pairs = torch.stack([self.items - self.counts, self.counts], 1)
                rows = [effective_number_weights(pair, beta) for pair in pairs]
                self.weights = torch.stack(rows, 1).float()  # (2, classes)
            else:
                self.weights = effective_number_weights(self.counts, beta).float()
        self.plain = self._sigmoids if self.multi_label else self._softmax

    def _by_name(self, short: str) -> None:
        name, entry = self.chosen.name, find_objective(parse(self.chosen.name))
        shares = self.counts / self.items
        prior: Tensor | float = shares
        if self.binary:
            prior = float(shares[1])
        elif "num_lists" not in entry.facts:  # one number for all: that of the mean class
            prior = float(shares.mean())
        if short in (*_BALANCED, _LDAM) and "counts" not in name:
            numbers = ", ".join(str(int(value)) for value in self.counts)
            inside = name.partition("(")[2].rstrip().removesuffix(")")
            name = f"{short}(counts=[{numbers}]{', ' + inside if inside.strip() else ''})"
        lists = 1 if self.binary else self.classes
        items = self.items if self.binary else self.items * self.classes
        found = by_name(name, prior=prior, num_items=items, num_lists=lists)
        if isinstance(found, CrossBatchMemory):
            raise UsageError("objective.name: xbm is for embeddings")
        if isinstance(found, ClassObjective):
            if self.multi_label:
                raise UsageError(
                    f"objective.name: {self.chosen.short} is for one class by image; for several "
                    "labels take an objective of one list, such as auc"
                )
        elif not isinstance(found, Objective):
            raise UsageError(f"objective.name: {name} is no loss of logits")
        elif self.several:
            found = OneVsRest(found)
        self.objective = found

    def begin(self, epoch: int) -> None:
        """Set the epoch, from which on LDAM uses its deferred weights."""
        if isinstance(self.objective, LDAM):
            self.objective.set_epoch(epoch)

    def forward(
        self,
        logits: Tensor,
        target: Tensor,
        *,
        step: int = 0,
        rows: Tensor | None = None,
        previous: Tensor | None = None,
    ) -> Tensor:
        """Return the loss of step ``step``; ``previous`` are the logits by the last parameters."""
        if self.cosine and not isinstance(self.objective, LDAM):  # which has a scale of its own
            logits = _SCALE * logits
            previous = None if previous is None else _SCALE * previous
        if step < self.chosen.warm_start:
            return self.cross_entropy(logits, target)
        if self.plain is not None:
            return self.plain(logits, target)
        assert self.objective is not None
        kind = getattr(getattr(self.objective, "objective", self.objective), "memory_by", None)
        if kind == "item" and rows is None:
            raise ValueError(f"rows is needed: {self.chosen.name} remembers images")
        if isinstance(self.objective, ClassObjective):
            both: Tensor = self.objective(self._two_sided(logits), target)
            return both
        scores = logits.squeeze(-1) if self.binary else logits
        more = {} if kind != "item" or rows is None else {"item_ids": rows}
        if previous is not None:
            more["previous_scores"] = previous.squeeze(-1) if self.binary else previous
        loss: Tensor = self.objective(scores, target, **more)
        return loss

    def cross_entropy(self, logits: Tensor, target: Tensor) -> Tensor:
        """Return the loss of the warm start."""
        if self.binary:
            return binary_cross_entropy_with_logits(logits.squeeze(-1), target.to(logits.dtype))
        if self.multi_label:
            return binary_cross_entropy_with_logits(logits, target.to(logits.dtype))
        return cross_entropy(logits, target)

    def _two_sided(self, logits: Tensor) -> Tensor:
        """Return logits of both of two classes: ± the logit for LDAM, else ± half of it."""
        if not self.binary:
            return logits
        half = logits if isinstance(self.objective, LDAM) else logits / 2
        return torch.cat([-half, half], dim=-1)

    def _softmax(self, logits: Tensor, target: Tensor) -> Tensor:
        if self.weights is None:
            return cross_entropy(logits, target)
        return (cross_entropy(logits, target, reduction="none") * self.weights[target]).mean()

    def _sigmoids(self, logits: Tensor, target: Tensor) -> Tensor:
        weight = None
        if self.weights is not None:
            weight = torch.where(target == 1, self.weights[1], self.weights[0])
        return binary_cross_entropy_with_logits(logits, target.to(logits.dtype), weight)


def _takes_previous(objective: nn.Module) -> bool:
    inner = getattr(objective, "objective", objective)
    return isinstance(inner, Objective) and inner.uses_previous_scores


def _require_both(counts: Tensor, items: int) -> None:
    if not bool(((counts > 0) & (counts < items)).any()):
        raise UsageError("the training images must have both classes of some label, got none")
