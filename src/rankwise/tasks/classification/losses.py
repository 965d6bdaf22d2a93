"""Loss of logits by any objective: two classes, several classes, or several labels per image."""

from __future__ import annotations

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
_SCALE = 30.0  # of cosines, as LDAM's


class ClassificationLoss(nn.Module):
    """``loss(logits, target)`` of a batch; priors and sizes of a memory follow from the data.

    Two classes: one logit, and the batch is one list. Several: each class ranks all items
    (:class:`~rankwise.objectives.OneVsRest`), π is its share of the training images, and a memory
    by list has a list for every class. ``cross_entropy`` and ``class_balanced`` of one class by
    image are the usual ones, over a softmax. ``rows`` are those of the images in the training
    set, for objectives that remember them.
    """

    weights: Tensor | None  # of the classes, of class-balanced cross-entropy

    def __init__(
        self, chosen: Chosen, target: Tensor, classes: int, *, cosine: bool = False
    ) -> None:
        """``target`` is that of the training set, (n,) or (n, classes)."""
        super().__init__()
        self.chosen, self.classes, self.items = chosen, classes, len(target)
        self.multi_label, self.cosine = target.ndim == 2, cosine
        self.binary = not self.multi_label and classes == 2
        self.objective: nn.Module | None = None  # None: cross-entropy of several classes
        counts = (target if self.multi_label else nn.functional.one_hot(target, classes)).sum(0)
        if not bool(((counts > 0) & (counts < self.items)).any()):
            raise UsageError("the training images must have both classes of some label, got none")
        # A class of no image, or of all, has no list: its count is not used, but must not be 0.
        self.counts = counts.double().clamp(1, self.items - 1)
        self.register_buffer("weights", None, persistent=False)
        short = chosen.short.strip().lower()
        try:
            if self.binary or short not in (*_CROSS_ENTROPY, *_BALANCED):
                self.objective = self._by_name(short)
            elif short in _BALANCED:
                self.weights = self._balanced().float()
        except UsageError:
            raise
        except (ValueError, RuntimeError) as error:
            raise UsageError(f"objective.name: {error}") from None
        # The objective of one list may be inside of that of several classes.
        inner = getattr(self.objective, "objective", self.objective)
        self.by_item = isinstance(inner, Objective) and inner.memory_by == "item"
        if chosen.previous and not (isinstance(inner, Objective) and inner.uses_previous_scores):
            raise UsageError(f"objective.previous is for stable_ap, got {chosen.name}")

    def _balanced(self) -> Tensor:
        """Return the weights of the classes; with several labels those of both sides, (2, n)."""
        spec = parse(self.chosen.name)
        beta = bind(signature_of_objective(find_objective(spec)), spec).get("beta", 0.9999)
        assert isinstance(beta, (int, float))
        if not self.multi_label:
            return effective_number_weights(self.counts, beta)
        pairs = torch.stack([self.items - self.counts, self.counts], 1)
        return torch.stack([effective_number_weights(pair, beta) for pair in pairs], 1)

    def _by_name(self, short: str) -> nn.Module:
        name, entry = self.chosen.name, find_objective(parse(self.chosen.name))
        shares = self.counts / self.items
        prior: Tensor | float = shares
        if self.binary:
            prior = float(shares[1])
        elif "num_lists" not in entry.facts:  # one number for all: that of the mean class
            prior = float(shares.mean())
        if short in (*_BALANCED, "ldam") and "counts" not in name:
            numbers = ", ".join(str(int(value)) for value in self.counts)
            inside = name.partition("(")[2].rstrip().removesuffix(")")
            name = f"{short}(counts=[{numbers}]{', ' + inside if inside.strip() else ''})"
        lists = 1 if self.binary else self.classes
        found = by_name(name, prior=prior, num_items=self.items * lists, num_lists=lists)
        if isinstance(found, CrossBatchMemory):
            raise UsageError("objective.name: xbm is for embeddings")
        if isinstance(found, ClassObjective) and self.multi_label:
            raise UsageError(
                f"objective.name: {self.chosen.short} is for one class by image; for several "
                "labels take an objective of one list, such as auc"
            )
        if not isinstance(found, (ClassObjective, Objective)):
            raise UsageError(f"objective.name: {name} is not a loss of logits")
        return OneVsRest(found) if isinstance(found, Objective) and not self.binary else found

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
        if self.objective is None:
            return self.cross_entropy(logits, target, self.weights)
        if isinstance(self.objective, ClassObjective):
            if self.binary:  # logits of both classes: ± the logit for LDAM, else ± half of it
                half = logits if isinstance(self.objective, LDAM) else logits / 2
                logits = torch.cat([-half, half], dim=-1)
            both: Tensor = self.objective(logits, target)
            return both
        more = {}
        if self.by_item:
            if rows is None:
                raise ValueError(f"rows is needed: {self.chosen.name} remembers images")
            more["item_ids"] = rows
        if previous is not None:
            more["previous_scores"] = previous.squeeze(-1) if self.binary else previous
        loss: Tensor = self.objective(logits.squeeze(-1) if self.binary else logits, target, **more)
        return loss

    def cross_entropy(
        self, logits: Tensor, target: Tensor, weights: Tensor | None = None
    ) -> Tensor:
        """Return the cross-entropy: of a softmax over the classes, or of a sigmoid per label."""
        if self.binary or self.multi_label:
            logits = logits.squeeze(-1) if self.binary else logits
            weight = None if weights is None else torch.where(target == 1, weights[1], weights[0])
            return binary_cross_entropy_with_logits(logits, target.to(logits.dtype), weight)
        if weights is None:
            return cross_entropy(logits, target)
        return (cross_entropy(logits, target, reduction="none") * weights[target]).mean()
