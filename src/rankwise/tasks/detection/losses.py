"""The loss of a dense detector: its scores ranked, its boxes moved onto the objects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from rankwise.baselines.alrp import ALRP
from rankwise.checks import require_finite, require_one_of
from rankwise.objectives import Objective
from rankwise.tasks.detection.anchors import Anchors
from rankwise.tasks.detection.assignment import atss
from rankwise.tasks.detection.boxes import giou
from rankwise.tasks.detection.classification import ClassificationLoss, one_hot
from rankwise.tasks.detection.coding import decode
from rankwise.tasks.detection.matching import Assign, Matches, Target, match

__all__ = ["DetectionLoss", "DetectionLosses"]


@dataclass(frozen=True)
class DetectionLosses:
    """The loss and its parts before their weights; ``total`` is what to minimize."""

    total: Tensor
    classification: Tensor
    boxes: Tensor
    bias: Tensor
    positives: int  # anchors that had an object to find


class DetectionLoss(nn.Module):
    """classification + 2·mean_{y=1} (1 − GIoU) + .001·(Σ_{y=1} s)²   (StableAP 7.2.1).

    For the outputs of any dense detector: class logits and box differences of every anchor
    (:func:`~rankwise.tasks.detection.decode` says what they mean). ``assign`` decides which anchor
    is to find which object, ATSS unless given. ``objective``, ``pooled`` and ``classes`` are those
    of :class:`~rankwise.tasks.detection.ClassificationLoss`, and so is what happens where no anchor
    has an object: scores of a ranking objective, boxes and bias then give 0 with a graph. Keep it
    with the model: an objective's memory is in its buffers.

    A ranking does not feel a constant added to all scores, and a threshold on them would mean
    nothing. The last term keeps the scores of the positives about 0; losses that do feel the
    constant (focal, DR) go without it. ``bias_form="sum"`` is as printed. Its pull on a shared
    bias grows with the *square* of the number of positives n: plain gradient descent oscillates
    without end from .001·n²·(learning rate) = 1 on, 316 positives at a rate of .01.
    ``"mean"`` takes the mean of the scores in place of their sum, for any number of positives;
    it is weaker by n², so give it a weight of about .1.

    ``"alrp"`` is a name here, too. Its localization part takes the place of GIoU and balances
    itself (:class:`~rankwise.baselines.alrp.ALRP`), so ``box_weight`` is not applied to it.
    """

    def __init__(
        self,
        objective: str | Objective | ALRP = "stable_ap",
        *,
        pooled: bool = True,
        classes: int | None = None,
        box_weight: float = 2.0,
        bias_weight: float = 0.001,
        classification_weight: float = 1.0,
        bias_form: Literal["sum", "mean"] = "sum",
        assign: Assign | None = None,
    ) -> None:
        super().__init__()
        for name, value in (
            ("box_weight", box_weight),
            ("bias_weight", bias_weight),
            ("classification_weight", classification_weight),
        ):
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"{name} must be a finite number >= 0, got {value!r}")
        require_one_of("bias_form", bias_form, ("sum", "mean"))
        if objective == "alrp":
            objective = ALRP()
        self.ranked: nn.Module
        if isinstance(objective, ALRP):
            if not pooled:
                raise ValueError("pooled=False is not for alrp: its boxes are ranked in one list")
            self.ranked = objective
        else:
            self.ranked = ClassificationLoss(objective, pooled=pooled, classes=classes)
        self.classification_weight = classification_weight
        self.box_weight, self.bias_weight, self.bias_form = box_weight, bias_weight, bias_form
        self.assign: Assign = atss if assign is None else assign

    def forward(
        self,
        cls_logits: Tensor,
        box_regression: Tensor,
        anchors: Anchors,
        targets: Sequence[Target],
    ) -> DetectionLosses:
        """Logits (B, A, classes), box differences (B, A, 4), and for each image its objects.

        ``targets[b]`` has ``boxes`` (n, 4) in pixels and ``labels`` (n,), whole numbers from 0. An
        image without objects is all background.
        """
        _check_shapes(cls_logits, box_regression, anchors, targets)
        anchors = anchors.to(cls_logits.device)
        matches = match(anchors, targets, cls_logits.shape[-1], self.assign)
        found = _giou(box_regression, anchors, matches)
        box_weight = self.box_weight
        if isinstance(self.ranked, ALRP):
            classification, boxes = self._alrp(self.ranked, cls_logits, matches, found)
            box_weight = 1.0
        else:
            logits = cls_logits.reshape(-1, cls_logits.shape[-1])
            classification = self.ranked(logits, matches.labels.reshape(-1))
            boxes = (1 - found).sum() / max(1, len(found))
        bias = self._bias(cls_logits, matches)
        total = self.classification_weight * classification + box_weight * boxes
        return DetectionLosses(
            total + self.bias_weight * bias, classification, boxes, bias, len(matches)
        )

    @staticmethod
    def _alrp(
        alrp: ALRP, cls_logits: Tensor, matches: Matches, found: Tensor
    ) -> tuple[Tensor, Tensor]:
        logits = cls_logits.reshape(-1, cls_logits.shape[-1])
        hot = one_hot(logits, matches.labels.reshape(-1))
        parts: tuple[Tensor, Tensor] = alrp(logits.reshape(-1), hot.reshape(-1), (1 - found) / 2)
        return parts

    def _bias(self, cls_logits: Tensor, matches: Matches) -> Tensor:
        """(Σ s)² over the positives' scores of their classes, or the square of their mean."""
        place = matches.images, matches.anchors
        scores = cls_logits[(*place, matches.labels[place])]
        if isinstance(self.ranked, ClassificationLoss) and self.ranked.feels_shift:
            scores = scores[:0]
        total = scores.sum(dtype=torch.promote_types(scores.dtype, torch.float32))
        return (total / (max(1, len(scores)) if self.bias_form == "mean" else 1)) ** 2


def _giou(box_regression: Tensor, anchors: Anchors, matches: Matches) -> Tensor:
    """GIoU of every positive with the box it is to find, (positives,)."""
    found = box_regression[matches.images, matches.anchors]
    require_finite("box_regression", found.detach(), "look for an overflow in the network")
    return giou(decode(anchors.boxes[matches.anchors], found), matches.boxes)


def _check_shapes(
    cls_logits: Tensor, box_regression: Tensor, anchors: Anchors, targets: Sequence[Target]
) -> None:
    if cls_logits.dim() != 3 or cls_logits.shape[1] != len(anchors):
        raise ValueError(
            f"cls_logits must have shape (images, {len(anchors)} anchors, classes), "
            f"got {tuple(cls_logits.shape)}"
        )
    images = len(cls_logits)
    if box_regression.shape != (images, len(anchors), 4):
        raise ValueError(
            f"box_regression must have shape ({images}, {len(anchors)}, 4), "
            f"got {tuple(box_regression.shape)}"
        )
    if len(targets) != images:
        raise ValueError(f"targets must be one per image, {images}, got {len(targets)}")
