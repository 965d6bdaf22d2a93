"""DetectionLoss in other libraries: models of transformers, the interface of torchvision."""

from __future__ import annotations

import ast
import copy
import re
from pathlib import Path

import pytest
import torch
import transformers
from scipy.optimize import linear_sum_assignment
from torch import nn

import rankwise.vision
from rankwise.vision import (
    DetectionLoss,
    encode_boxes,
    giou,
    set_detr_loss,
    set_retinanet_loss,
)

WIDTH, LAYERS, QUERIES, CLASSES = 32, 2, 12, 2
SIZES = {
    "d_model": WIDTH,
    "encoder_layers": 1,
    "decoder_layers": LAYERS,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": WIDTH,
    "decoder_ffn_dim": WIDTH,
    "num_queries": QUERIES,
    "num_labels": CLASSES,
    "dropout": 0.0,
}
RESNET = {
    "embedding_size": 4,
    "hidden_sizes": [4, 8, 8, 8],
    "depths": [1, 1, 1, 1],
    "layer_type": "basic",
}
STAGES = ["stage2", "stage3", "stage4"]
OBJECTS = [
    {
        "class_labels": torch.tensor([0, 1]),
        "boxes": torch.tensor([[0.3, 0.3, 0.2, 0.2], [0.7, 0.6, 0.3, 0.4]]),
    },
    {"class_labels": torch.tensor([1]), "boxes": torch.tensor([[0.5, 0.5, 0.4, 0.4]])},
]


def made(kind: str, **options):
    torch.manual_seed(0)
    if kind == "RTDetr":
        backbone = transformers.RTDetrResNetConfig(**RESNET, out_features=STAGES)
        sizes = {
            **SIZES,
            "encoder_hidden_dim": WIDTH,
            "encoder_in_channels": [8] * 3,
            "decoder_in_channels": [WIDTH] * 3,
            "num_denoising": 4,
        }
        return transformers.RTDetrForObjectDetection(
            transformers.RTDetrConfig(backbone_config=backbone, **sizes, **options)
        )
    if kind == "Yolos":
        sizes = {
            "hidden_size": WIDTH,
            "num_hidden_layers": LAYERS,
            "num_attention_heads": 2,
            "intermediate_size": WIDTH,
            "image_size": [64, 64],
            "num_detection_tokens": QUERIES,
            "num_labels": CLASSES,
        }
        return transformers.YolosForObjectDetection(transformers.YolosConfig(**sizes, **options))
    stages = STAGES if kind == "DeformableDetr" else STAGES[-1:]
    backbone = transformers.ResNetConfig(**RESNET, out_features=stages)
    if kind == "DeformableDetr":
        options["num_feature_levels"] = len(stages)
    config = getattr(transformers, f"{kind}Config")
    network = getattr(transformers, f"{kind}ForObjectDetection")
    return network(config(backbone_config=backbone, **SIZES, **options))


@pytest.mark.parametrize(
    ("kind", "name", "outputs"),
    [
        ("Detr", "stable_ap", 1),
        ("Yolos", "rank_sort", 1),
        ("ConditionalDetr", "rank_sort", LAYERS),
        ("DeformableDetr", "soprc", LAYERS),
        ("RTDetr", "rank_sort", 2 * LAYERS + 1),  # decoder, denoising, encoder
    ],
)
def test_a_detr_of_transformers_trains_on_it(kind, name, outputs):
    model = made(kind, auxiliary_loss=outputs > 1).train()
    set_detr_loss(model, DetectionLoss(name))
    images = torch.rand(2, 3, 64, 64)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    values = []
    for _ in range(15):
        found = model(images, labels=OBJECTS)
        optimizer.zero_grad()
        found.loss.backward()
        optimizer.step()
        values.append(found.loss.item())
    assert min(values[-3:]) < 0.95 * values[0]
    assert len(found.loss_dict) == 4 * outputs
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


def corners(boxes):
    x, y, w, h = boxes.unbind(-1)
    return torch.stack([x - w / 2, y - h / 2, x + w / 2, y + h / 2], -1)


def test_the_parts_of_detr_by_hand():
    """Own matching by DETR's costs, probabilities by softmax: AP of what DETR ranks by."""
    model = made("Detr").eval()
    set_detr_loss(model, DetectionLoss("ap(score_scale=1, gain=fixed)", bias_weight=0.0))
    found = model(torch.rand(2, 3, 64, 64), labels=OBJECTS)
    p = found.logits.softmax(-1)[..., :-1]
    scores, hot, overlaps, distances = torch.logit(p), torch.zeros_like(p), [], []
    for image, target in enumerate(OBJECTS):
        boxes, wanted = found.pred_boxes[image], target["boxes"]
        cost = -p[image][:, target["class_labels"]] + 5 * torch.cdist(boxes, wanted, p=1)
        for j, box in enumerate(wanted):
            cost[:, j] -= 2 * giou(corners(boxes), corners(box).expand(QUERIES, 4))
        for query, j in zip(*linear_sum_assignment(cost.detach()), strict=True):
            hot[image, query, target["class_labels"][j]] = 1
            overlaps.append(giou(corners(boxes[query])[None], corners(wanted[j])[None]))
            distances.append((boxes[query] - wanted[j]).abs().sum())
    parts = found.loss_dict
    ranked = DetectionLoss("ap(score_scale=1, gain=fixed)").ranked.objective
    classification = ranked(scores.flatten(), hot.flatten())
    last = f"decoder_{LAYERS - 1}"
    torch.testing.assert_close(parts[f"loss_classification_{last}"], classification)
    torch.testing.assert_close(parts[f"loss_boxes_{last}"], (1 - torch.cat(overlaps)).mean())
    torch.testing.assert_close(parts[f"loss_l1_{last}"], torch.stack(distances).mean())
    expected = classification + 2 * (1 - torch.cat(overlaps)).mean()
    expected = expected + 5 * torch.stack(distances).mean()
    torch.testing.assert_close(found.loss, expected)


def test_images_without_objects_and_saturated_scores_are_finite():
    model = made("Detr").train()
    set_detr_loss(model, DetectionLoss("focal"))
    with torch.no_grad():
        model.class_labels_classifier.bias.copy_(torch.tensor([1e3, 0.0, -1e3]))
    nothing = {"class_labels": torch.zeros(0, dtype=torch.long), "boxes": torch.zeros(0, 4)}
    found = model(torch.rand(2, 3, 64, 64), labels=[OBJECTS[0], nothing])
    found.loss.backward()
    assert found.loss.isfinite()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


def test_the_memory_is_part_of_the_model_and_every_layer_has_its_own():
    model = made("Detr", auxiliary_loss=True).train()
    set_detr_loss(model, DetectionLoss("stable_ap"))
    model(torch.rand(2, 3, 64, 64), labels=OBJECTS)
    state = model.state_dict()
    layers = {name.split(".")[1] for name in state if name.startswith("detection_losses.")}
    assert {"decoder_0", "decoder_1"} <= layers
    other = made("Detr", auxiliary_loss=True)
    set_detr_loss(other, DetectionLoss("stable_ap"))
    other.load_state_dict(state)
    assert copy.deepcopy(other).loss_function is not model.loss_function


def test_another_model_is_refused():
    class Other(nn.Module):
        config, loss_type = None, "ForImageClassification"

    with pytest.raises(ValueError, match="got Other with the loss ForImageClassification"):
        set_detr_loss(Other(), DetectionLoss("ap"))
    with pytest.raises(ValueError, match="got Linear without classification_head"):
        set_retinanet_loss(nn.Linear(1, 1), DetectionLoss("ap"))


class ClassificationHead(nn.Module):
    """The interface of torchvision's RetinaNetClassificationHead."""

    BETWEEN_THRESHOLDS = -2

    def compute_loss(self, targets, head_outputs, matched_idxs): ...


class RegressionHead(nn.Module):
    def compute_loss(self, targets, head_outputs, anchors, matched_idxs): ...


class RetinaNetHead(nn.Module):
    """Its head: outputs of features, and the losses of both parts."""

    def __init__(self) -> None:
        super().__init__()
        self.classification_head, self.regression_head = ClassificationHead(), RegressionHead()
        self.scores, self.boxes = nn.Linear(8, 3), nn.Linear(8, 4)

    def compute_loss(self, targets, head_outputs, anchors, matched_idxs):
        return {
            "classification": self.classification_head.compute_loss(
                targets, head_outputs, matched_idxs
            ),
            "bbox_regression": self.regression_head.compute_loss(
                targets, head_outputs, anchors, matched_idxs
            ),
        }

    def forward(self, x):
        return {"cls_logits": self.scores(x), "bbox_regression": self.boxes(x)}


class RetinaNet(nn.Module):
    """Its training call: outputs of the head, a matching by IoU, the loss of the head."""

    def __init__(self) -> None:
        super().__init__()
        self.head = RetinaNetHead()

    def forward(self, features, anchors, targets, matched_idxs):
        return self.head.compute_loss(targets, self.head(features), anchors, matched_idxs)


def retinanet():
    torch.manual_seed(0)
    features, low = torch.randn(2, 30, 8), 40 * torch.rand(2, 30, 2)
    anchors = list(torch.cat([low, low + 16], -1))
    targets = [
        {"boxes": anchors[0][:2] + 1.0, "labels": torch.tensor([1, 2])},
        {"boxes": torch.zeros(0, 4), "labels": torch.zeros(0, dtype=torch.long)},
    ]
    matched = [torch.full((30,), -1) for _ in range(2)]
    matched[0][:6] = torch.tensor([0, 1, 0, -2, -2, 1])
    return RetinaNet(), (features, anchors, targets, matched)


@pytest.mark.parametrize("name", ["ap", "rank_sort", "dr", "focal"])
def test_a_head_of_torchvisions_interface_trains_on_it(name):
    model, data = retinanet()
    set_retinanet_loss(model, DetectionLoss(name))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    values = []
    for _ in range(30):
        loss = sum(model(*data).values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        values.append(loss.item())
    assert values[-1] < 0.8 * values[0]


def test_its_parts_add_up_and_anchors_between_the_thresholds_are_left_out():
    model, (features, anchors, targets, matched) = retinanet()
    loss = DetectionLoss("ap", classification_weight=3.0)
    set_retinanet_loss(model.head, loss)
    parts = model(features, anchors, targets, matched)
    outputs = model.head(features)
    kept = torch.cat(matched) != -2
    labels = torch.full((60,), -1)
    labels[:6] = torch.tensor([1, 2, 1, -1, -1, 2])
    positive = torch.tensor([0, 1, 2, 5])
    deltas, own = outputs["bbox_regression"][0, positive], anchors[0][positive]
    objects = targets[0]["boxes"][[0, 1, 0, 1]]
    wanted = encode_boxes(own, objects)
    assert wanted.shape == deltas.shape  # the same box coder as torchvision's: weights of 1
    center = (own[:, :2] + own[:, 2:]) / 2 + 16 * deltas[:, :2]
    side = 16 * deltas[:, 2:].exp()
    predicted = torch.cat([center - side / 2, center + side / 2], 1)
    expected = loss.matched(
        outputs["cls_logits"].flatten(0, 1)[kept], labels[kept], predicted, objects
    )
    torch.testing.assert_close(parts["classification"], 3 * expected.classification)
    torch.testing.assert_close(parts["bbox_regression"], 2 * expected.boxes)
    torch.testing.assert_close(sum(parts.values()), expected.total)
    assert dict(model.named_modules())["head.detection_loss"] is loss


@pytest.mark.parametrize("module", ["detr", "retinanet"])
def test_neither_library_is_imported_with_the_module(module):
    source = Path(rankwise.vision.__file__).with_name(f"{module}.py").read_text()
    for statement in ast.parse(source).body:
        assert not isinstance(statement, ast.Import | ast.ImportFrom) or not re.search(
            "transformers|torchvision", ast.unparse(statement)
        )
