"""``DetectionLoss`` as the loss of RetinaNet of torchvision, which is not imported here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from rankwise.vision.anchors import Target
from rankwise.vision.boxes import decode_boxes
from rankwise.vision.detection_loss import DetectionLoss

_IGNORED = -2  # torchvision's Matcher.BETWEEN_THRESHOLDS


def set_retinanet_loss(model: nn.Module, loss: DetectionLoss) -> None:
    """Make a torchvision RetinaNet, or its head, train on a detection loss.

    Anchors, their matching and the box coder stay torchvision's; anchors between its two
    thresholds are left out. The call of the model in training returns the parts of the loss as
    ``classification``, ``bbox_regression`` and ``bias``, whose sum is minimized. The loss becomes a
    part of the model, ``head.detection_loss``, so that its memory is saved with it.

    Args:
        model: ``torchvision.models.detection.RetinaNet``, its ``head``, or a model with a head of
            that interface.
        loss: The loss; its ``assign`` is not used.

    Raises:
        ValueError: If there is no such head.

    Example:
        >>> import torch
        >>> from torch import nn
        >>> from rankwise.vision import DetectionLoss, set_retinanet_loss
        >>> class Head(nn.Module):  # the interface of RetinaNetHead
        ...     classification_head = regression_head = None
        ...     def compute_loss(self, targets, head_outputs, anchors, matched_idxs): ...
        >>> head = Head()
        >>> set_retinanet_loss(head, DetectionLoss("ap"))
        >>> box = torch.tensor([[0.0, 0.0, 8.0, 8.0]])
        >>> outputs = {"cls_logits": torch.zeros(1, 2, 3), "bbox_regression": torch.zeros(1, 2, 4)}
        >>> target = {"boxes": box, "labels": torch.tensor([1])}
        >>> anchors = torch.cat([box, box + 8])
        >>> found = head.compute_loss([target], outputs, [anchors], [torch.tensor([0, -1])])
        >>> list(found), found["bbox_regression"].item()
        (['classification', 'bbox_regression', 'bias'], 0.0)
    """
    head: Any = getattr(model, "head", model)
    missing = [
        name
        for name in ("classification_head", "regression_head", "compute_loss")
        if not hasattr(head, name)
    ]
    if missing:
        raise ValueError(
            f"model must be a RetinaNet of torchvision or its head, got {type(model).__name__} "
            f"without {', '.join(missing)}"
        )
    head.detection_loss = loss
    head.compute_loss = _RetinaNetLoss(loss)


@dataclass(frozen=True)
class _RetinaNetLoss:
    """``RetinaNetHead.compute_loss`` by a detection loss."""

    loss: DetectionLoss

    def __call__(
        self,
        targets: Sequence[Target],
        head_outputs: dict[str, Tensor],
        anchors: Sequence[Tensor],
        matched_idxs: Sequence[Tensor],
    ) -> dict[str, Tensor]:
        logits, labels, predicted, objects = [], [], [], []
        outputs = head_outputs["cls_logits"], head_outputs["bbox_regression"]
        for target, scores, deltas, own, match in zip(
            targets, *outputs, anchors, matched_idxs, strict=True
        ):
            positive, kept = match >= 0, match != _IGNORED
            label = torch.full_like(match, -1)
            label[positive] = target["labels"][match[positive]]
            logits.append(scores[kept])
            labels.append(label[kept])
            predicted.append(decode_boxes(own[positive], deltas[positive]))
            objects.append(target["boxes"][match[positive]].to(own))
        parts = map(torch.cat, (logits, labels, predicted, objects))
        found = self.loss.matched(*parts)
        classification = self.loss.classification_weight * found.classification
        bias = self.loss.bias_weight * found.bias
        return {
            "classification": classification,
            "bbox_regression": found.total - classification - bias,
            "bias": bias,
        }
