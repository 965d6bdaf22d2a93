"""The loss of a dense detector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from rankwise.baselines.alrp import ALRP
from rankwise.checks import require_finite, require_number, require_one_of, require_shape
from rankwise.lists import Lists
from rankwise.objectives import Objective, StableAP
from rankwise.vision.anchors import Anchors, Assign, Target, atss, match
from rankwise.vision.boxes import decode_boxes, giou, iou
from rankwise.vision.classification_loss import ClassificationLoss, one_hot

_LEAST_QUALITY = 1e-6  # of a positive: a label of 0 would make it a negative


@dataclass(frozen=True)
class DetectionLosses:
    """The loss of a detector and its parts before their weights.

    Args:
        total: What to minimize.
        classification: Loss of the class scores.
        boxes: Mean (or sum) of 1 − GIoU over the positives.
        bias: Square of the sum (or mean) of the scores of the positives.
        positives: Number of anchors with an object.

    Example:
        >>> import torch
        >>> from rankwise.vision import DetectionLosses
        >>> zero = torch.zeros(())
        >>> DetectionLosses(zero, zero, zero, zero, positives=3).positives
        3
    """

    total: Tensor
    classification: Tensor
    boxes: Tensor
    bias: Tensor
    positives: int


class _PrintedStableAP(StableAP):
    """StableAP with the (1/n) Σ over the positives of a list of n in place of ρ·mean."""

    def full_gain(self, lists: Lists) -> Tensor:
        return lists.n_positives / (lists.n_positives + lists.n_negatives)


class DetectionLoss(nn.Module):
    """Loss of any dense detector: class scores are ranked, boxes are moved onto the objects.

    classification + 2·mean_{y=1} (1 − GIoU) + .001·(Σ_{y=1} s)²

    This is the form with means. With ``stable_ap`` its first part is h(ρ·mean_{y=1} w̃ℓ), ρ
    annealed. The paper prints h((1/n)·Σ_{y=1} w̃ℓ) + 2·Σ_{y=1} (1 − GIoU) + .001·(Σ_{y=1} s)² over a
    list of n scores, which is ``printed=True``: the boxes then weigh more, the more objects there
    are.

    A ranking does not change with a constant added to all scores, so a threshold on them would
    have no meaning: the last term keeps the scores of the positives near 0. Losses that do depend
    on the constant (focal, DR) go without it. Where no anchor has an object, a ranking objective,
    boxes and bias give 0 with a graph. Keep the loss with the model: an objective's memory is in
    its buffers.

    Args:
        objective: See :class:`ClassificationLoss`; also ``"alrp"``, whose localization part takes
            the place of GIoU and balances itself, so that ``box_weight`` is not applied to it. With
            ``"rank_sort"`` the label of a positive is the IoU of its box, and as published the
            boxes weigh (class scores)/(boxes), without gradient, in place of ``box_weight``.
        pooled: See :class:`ClassificationLoss`.
        classes: See :class:`ClassificationLoss`.
        box_weight: Weight of the boxes.
        bias_weight: Weight of the bias.
        classification_weight: Weight of the class scores.
        bias_form: ``"sum"`` of the scores as printed in the paper, whose pull on a shared bias
            grows with the *square* of the number of positives n: plain gradient descent oscillates
            from .001·n²·(learning rate) = 1 on, 316 positives at a rate of .01. ``"mean"`` is
            weaker by n² and works for any number of positives with a weight of about .1.
        printed: Whether the loss has the printed form; for ``stable_ap`` and ``"sum"`` only.
        assign: Function of anchors and boxes that returns the box of each anchor, −1 for
            background; None: :func:`atss`.

    Shape:
        - cls_logits: (B, A, classes).
        - box_regression: (B, A, 4), see :func:`decode_boxes`.
        - targets: for each image ``boxes`` (n, 4) in pixels and ``labels`` (n,) from 0. An image
          without objects is all background.

    Returns:
        A call returns :class:`DetectionLosses`.

    Raises:
        ValueError: Where an option, a shape or a box is wrong.

    Example:
        >>> import torch
        >>> from rankwise.vision import DetectionLoss, grid_anchors
        >>> anchors = grid_anchors([(4, 4)], [8], scale=2.0)
        >>> boxes = torch.tensor([[0.0, 0.0, 16.0, 16.0]])
        >>> target = {"boxes": boxes, "labels": torch.tensor([1])}
        >>> logits = torch.zeros(1, 16, 2, requires_grad=True)
        >>> losses = DetectionLoss("stable_ap")(logits, torch.zeros(1, 16, 4), anchors, [target])
        >>> losses.positives, round(losses.boxes.item(), 3)
        (4, 0.689)

    Reference:
        StableAP, section 7.2.1.
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
        printed: bool = False,
        assign: Assign | None = None,
    ) -> None:
        super().__init__()
        require_number("box_weight", box_weight, minimum=0)
        require_number("bias_weight", bias_weight, minimum=0)
        require_number("classification_weight", classification_weight, minimum=0)
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
        if printed:
            self.ranked = _as_printed(self.ranked, bias_form)
        self.classification_weight = classification_weight
        self.box_weight, self.bias_weight, self.bias_form = box_weight, bias_weight, bias_form
        self.printed = printed
        self.assign: Assign = atss if assign is None else assign

    @property
    def uses_previous_logits(self) -> bool:
        """Whether a call takes ``previous_logits`` (StableAP, Eq. 6)."""
        ranked = self.ranked
        return isinstance(ranked, ClassificationLoss) and ranked.objective.uses_previous_scores

    @property
    def shift_sensitive(self) -> bool:
        """Whether a constant added to all scores changes the loss."""
        return isinstance(self.ranked, ClassificationLoss) and self.ranked.shift_sensitive

    def forward(
        self,
        cls_logits: Tensor,
        box_regression: Tensor,
        anchors: Anchors,
        targets: Sequence[Target],
        *,
        previous_logits: Tensor | None = None,
    ) -> DetectionLosses:
        """Return the loss of a batch of images and its parts.

        ``previous_logits`` are the ``cls_logits`` of the same images under the previous parameters
        (:class:`rankwise.memory.PreviousModel`), for objectives that use them.
        """
        if previous_logits is not None and not self.uses_previous_logits:
            raise ValueError(
                "previous_logits are for objectives that use them, such as stable_ap, got them for "
                f"{getattr(self.ranked, 'objective', self.ranked)}; leave them out"
            )
        _check_shapes(cls_logits, box_regression, anchors, targets)
        anchors = anchors.to(cls_logits.device)
        matches = match(anchors, targets, cls_logits.shape[-1], self.assign)
        deltas = box_regression[matches.images, matches.anchors]
        require_finite("box_regression", deltas.detach(), "look for an overflow in the network")
        predicted = decode_boxes(anchors.boxes[matches.anchors], deltas)
        previous = None if previous_logits is None else previous_logits.flatten(0, 1)
        logits, labels = cls_logits.flatten(0, 1), matches.labels.flatten()
        return self.matched(logits, labels, predicted, matches.boxes, previous_logits=previous)

    def matched(
        self,
        logits: Tensor,
        labels: Tensor,
        predicted: Tensor,
        objects: Tensor,
        *,
        previous_logits: Tensor | None = None,
    ) -> DetectionLosses:
        """Return the loss of boxes that have been matched with objects by someone else.

        Args:
            logits: Class scores of all boxes of all images, (n, classes).
            labels: Class of each box, (n,), from 0; −1 for background.
            predicted: Predicted boxes of those with a class, in their order, (positives, 4).
            objects: Their objects, (positives, 4).
            previous_logits: See the call.

        Returns:
            The loss and its parts.
        """
        overlap = giou(predicted, objects)  # of every positive with its object
        box_weight: Tensor | float = self.box_weight
        if isinstance(self.ranked, ALRP):
            hot = one_hot(logits, labels).flatten()
            classification, boxes = self.ranked(logits.flatten(), hot, (1 - overlap) / 2)
            box_weight = 1.0
        else:
            by_quality = isinstance(self.ranked, ClassificationLoss) and self.ranked.takes_quality
            quality = _quality(predicted, objects) if by_quality else None
            classification = self.ranked(logits, labels, previous_logits, quality)
            boxes = (1 - overlap).sum() / (1 if self.printed else max(1, len(overlap)))
            if by_quality:
                box_weight = (classification / torch.where(boxes > 0, boxes, 1)).detach()
        bias = self._bias(logits, labels)
        total = self.classification_weight * classification + box_weight * boxes
        return DetectionLosses(
            total + self.bias_weight * bias, classification, boxes, bias, len(overlap)
        )

    def _bias(self, logits: Tensor, labels: Tensor) -> Tensor:
        """(Σ s)² over the positives' scores of their classes, or the square of their mean."""
        positive = (labels >= 0).nonzero().squeeze(1)
        scores = logits[positive, labels[positive].long()]
        if self.shift_sensitive:
            scores = scores[:0]
        total = scores.sum(dtype=torch.promote_types(scores.dtype, torch.float32))
        return (total / (max(1, len(scores)) if self.bias_form == "mean" else 1)) ** 2


@torch.no_grad()
def _quality(predicted: Tensor, objects: Tensor) -> Tensor:
    """Return the IoU of every predicted box with its object, above 0."""
    overlap = iou(predicted.unsqueeze(1), objects.unsqueeze(1)).flatten()
    return overlap.clamp(_LEAST_QUALITY, 1)


def _as_printed(ranked: nn.Module, bias_form: str) -> ClassificationLoss:
    """Return the classification loss with the printed form of its objective."""
    known = getattr(ranked, "objective", ranked)
    pooled = getattr(ranked, "pooled", True)
    if not isinstance(known, StableAP) or bias_form != "sum":
        raise ValueError(
            'printed=True is for stable_ap with bias_form="sum", '
            f"got {type(known).__name__} with bias_form={bias_form!r}"
        )
    made = _PrintedStableAP(**{**known.options, "gain": "fixed"})  # type: ignore[arg-type]
    return ClassificationLoss(made, pooled=pooled)


def _check_shapes(
    cls_logits: Tensor, box_regression: Tensor, anchors: Anchors, targets: Sequence[Target]
) -> None:
    if cls_logits.dim() != 3 or cls_logits.shape[1] != len(anchors):
        raise ValueError(
            f"cls_logits must have shape (images, {len(anchors)} anchors, classes), "
            f"got {tuple(cls_logits.shape)}"
        )
    images = len(cls_logits)
    require_shape("box_regression", box_regression, images, len(anchors), 4)
    if len(targets) != images:
        raise ValueError(f"targets must be one per image, {images}, got {len(targets)}")
