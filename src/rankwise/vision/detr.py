"""``DetectionLoss`` as the loss of DETR-style models of transformers, imported where it is used."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from rankwise.extras import require
from rankwise.vision.anchors import Target
from rankwise.vision.detection_loss import DetectionLoss, DetectionLosses


def set_detr_loss(model: nn.Module, loss: DetectionLoss) -> None:
    """Make a DETR-style model of transformers train on a detection loss.

    The model's own Hungarian matching assigns queries to objects. Class scores are ranked by the
    loss; boxes have its GIoU part and, as in DETR, the L1 distance with the weight of the model's
    configuration. A head with a "no object" class (DETR) is ranked by the log-odds of each
    class, which sort as its probabilities do. With ``config.auxiliary_loss``, and in RT-DETR,
    every decoder layer, the encoder's queries and the denoising queries have the same loss. Each
    has a copy of its own in ``model.detection_losses``, so that its memory is saved with the model.

    Args:
        model: ``DetrForObjectDetection``, ``ConditionalDetr…``, ``DabDetr…``, ``DeformableDetr…``,
            ``RTDetr…``, ``RTDetrV2…``, ``TableTransformer…`` or ``YolosForObjectDetection``,
            called with ``labels`` as usual.
        loss: The loss; its ``assign`` is not used.

    Raises:
        MissingExtraError: If transformers or scipy, which matches, is not installed.
        ValueError: If the model is of another kind.

    Example:
        >>> from rankwise.vision import DetectionLoss, set_detr_loss
        >>> from transformers import DetrConfig, DetrForObjectDetection, ResNetConfig
        >>> small = {"d_model": 8, "encoder_layers": 1, "decoder_layers": 1, "num_queries": 5}
        >>> heads = {"encoder_attention_heads": 1, "decoder_attention_heads": 1}
        >>> layers = {"encoder_ffn_dim": 8, "decoder_ffn_dim": 8, "num_labels": 2}
        >>> backbone = ResNetConfig(embedding_size=4, hidden_sizes=[4, 4], depths=[1, 1])
        >>> backbone.out_features = ["stage2"]
        >>> config = DetrConfig(backbone_config=backbone, **small, **heads, **layers)
        >>> model = DetrForObjectDetection(config)
        >>> set_detr_loss(model, DetectionLoss("rank_sort"))
        >>> model.detection_losses["decoder_0"].ranked.objective
        RankSort()
    """
    require("rankwise.vision", "transformers", "scipy")
    detector: Any = model
    config = detector.config
    matcher = _matcher(model, config)
    names = [f"{kind}_{i}" for kind in ("decoder", "denoising") for i in range(_layers(config))]
    losses = nn.ModuleDict({name: copy.deepcopy(loss) for name in (*names, "encoder")})
    detector.detection_losses = losses
    detector.loss_function = _DetrLoss(losses, matcher)


def _layers(config: Any) -> int:
    # YOLOS has no decoder: its queries pass through the layers of the encoder.
    return int(getattr(config, "decoder_layers", None) or config.num_hidden_layers)


def _matcher(model: nn.Module, config: Any) -> Callable[..., Any]:
    """Return the Hungarian matcher that the model's own loss would use."""
    from transformers.loss import loss_deformable_detr as deformable  # noqa: PLC0415
    from transformers.loss import loss_for_object_detection as plain  # noqa: PLC0415
    from transformers.loss.loss_rt_detr import RTDetrHungarianMatcher  # noqa: PLC0415

    kind = str(getattr(model, "loss_type", None))
    if kind.startswith("RTDetr"):
        of_rt_detr: Callable[..., Callable[..., Any]] = RTDetrHungarianMatcher
        return of_rt_detr(config)
    made = {
        "ForObjectDetection": plain.HungarianMatcher,
        "DeformableDetrForObjectDetection": deformable.DeformableDetrHungarianMatcher,
        "ConditionalDetrForObjectDetection": deformable.DeformableDetrHungarianMatcher,
        "DabDetrForObjectDetection": deformable.DeformableDetrHungarianMatcher,
    }
    if kind not in made:
        raise ValueError(
            f"model must be a DETR, Conditional, DAB, Deformable or RT-DETR for object detection "
            f"of transformers, got {type(model).__name__} with the loss {kind}"
        )
    matcher: Callable[..., Any] = made[kind](config.class_cost, config.bbox_cost, config.giou_cost)
    return matcher


Matching = Sequence[tuple[Tensor, Tensor]]
"""For each image the queries that have an object, and their objects."""


@dataclass(frozen=True)
class _DetrLoss:
    """The ``loss_function`` of a DETR-style model by detection losses."""

    losses: nn.ModuleDict
    matcher: Callable[..., Matching]

    def __call__(  # noqa: PLR0917  (the call of transformers)
        self,
        logits: Tensor,
        labels: Sequence[Target],
        device: torch.device,
        pred_boxes: Tensor,
        config: Any,
        outputs_class: Any = None,
        outputs_coord: Any = None,
        enc_topk_logits: Tensor | None = None,
        enc_topk_bboxes: Tensor | None = None,
        denoising_meta_values: Any = None,
        **_: object,
    ) -> tuple[Tensor, dict[str, Tensor], list[dict[str, Tensor]] | None]:
        last = _layers(config) - 1
        outputs: dict[str, tuple[Tensor, Tensor]] = {}
        known: Matching | None = None  # of the denoising queries
        by_image = outputs_class is not None and hasattr(config, "weight_loss_bbox")  # RT-DETR
        layers = (outputs_class, outputs_coord)
        if by_image:  # (images, layers, …) there, (layers, images, …) elsewhere
            layers = tuple(each.transpose(0, 1) for each in layers)
        if denoising_meta_values is not None:
            from transformers.loss.loss_rt_detr import RTDetrLoss  # noqa: PLC0415

            pairs_of: Callable[..., Matching] = RTDetrLoss.get_cdn_matched_indices
            known = pairs_of(denoising_meta_values, labels)
            split = denoising_meta_values["dn_num_split"]
            logits, pred_boxes = (x.split(split, 1)[1] for x in (logits, pred_boxes))
            noisy, layers = zip(*(each.split(split, 2) for each in layers), strict=True)
            outputs |= {f"denoising_{i}": pair for i, pair in enumerate(zip(*noisy, strict=True))}
        outputs[f"decoder_{last}"] = (logits, pred_boxes)
        auxiliary = None
        if config.auxiliary_loss:
            earlier = list(zip(layers[0][:-1], layers[1][:-1], strict=True))
            outputs |= {f"decoder_{i}": pair for i, pair in enumerate(earlier)}
            auxiliary = [{"logits": a, "pred_boxes": b} for a, b in earlier]
            if enc_topk_logits is not None and enc_topk_bboxes is not None:
                outputs["encoder"] = (enc_topk_logits, enc_topk_bboxes)
        elif known is not None:
            outputs = {name: pair for name, pair in outputs.items() if "denoising" not in name}
        weight = config.weight_loss_bbox if by_image else config.bbox_loss_coefficient
        total = logits.new_zeros(())
        parts: dict[str, Tensor] = {}
        for name, (scores, boxes) in outputs.items():
            given = {"logits": scores, "pred_boxes": boxes}
            match = known if name.startswith("denoising") else self.matcher(given, labels)
            assert match is not None
            no_object = scores.shape[-1] == config.num_labels + 1  # the last class
            ranked = _log_odds(scores)[..., :-1] if no_object else scores
            found, distance = self._of_output(name, ranked, boxes, labels, match)
            total = total + found.total + weight * distance
            kept = vars(found) | {"l1": distance}
            kinds = ("classification", "boxes", "bias", "l1")
            parts |= {f"loss_{kind}_{name}": kept[kind] for kind in kinds}
        return total, parts, auxiliary

    def _of_output(
        self,
        name: str,
        logits: Tensor,
        boxes: Tensor,
        targets: Sequence[Target],
        match: Matching,
    ) -> tuple[DetectionLosses, Tensor]:
        """The loss of one layer's output, and the mean L1 distance of its boxes to the objects."""
        label = torch.full(logits.shape[:2], -1, dtype=torch.long, device=logits.device)
        predicted, objects = [], []
        for image, (target, (asked, answers)) in enumerate(zip(targets, match, strict=True)):
            queries, order = asked.sort()  # positives in the order of the labels
            own = answers[order]
            label[image, queries] = target["class_labels"][own].to(label)
            predicted.append(boxes[image, queries])
            objects.append(target["boxes"][own].to(boxes))
        found, wanted = torch.cat(predicted), torch.cat(objects)
        loss = self.losses[name]
        assert isinstance(loss, DetectionLoss)
        parts = loss.matched(
            logits.flatten(0, 1), label.flatten(), _corners(found), _corners(wanted)
        )
        return parts, (found - wanted).abs().sum() / max(1, len(found))


def _log_odds(logits: Tensor) -> Tensor:
    """log p − log(1 − p) of the softmax probabilities p, finite for p near 0 and 1."""
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    log_p = wide.log_softmax(-1).clamp_max(-torch.finfo(wide.dtype).eps)
    return log_p - torch.log(-torch.expm1(log_p))


def _corners(boxes: Tensor) -> Tensor:
    """Boxes of center, width and height as corners."""
    center, half = boxes[..., :2], boxes[..., 2:] / 2
    return torch.cat([center - half, center + half], dim=-1)
