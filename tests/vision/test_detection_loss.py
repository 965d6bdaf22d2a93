from __future__ import annotations

import copy

import pytest
import torch

from rankwise.baselines import RankSort
from rankwise.baselines.alrp import ALRP
from rankwise.objectives import AveragePrecision
from rankwise.vision import (
    ClassificationLoss,
    DetectionLoss,
    atss,
    decode_boxes,
    encode_boxes,
    giou,
    grid_anchors,
    iou,
)

ANCHORS = grid_anchors([(16, 16), (8, 8), (4, 4)], [8, 16, 32], scale=4.0)
NOTHING = {"boxes": torch.zeros(0, 4), "labels": torch.zeros(0, dtype=torch.long)}
TARGETS = [
    {
        "boxes": torch.tensor([[10.0, 10, 60, 50], [40, 70, 100, 120]]),
        "labels": torch.tensor([1, 3]),
    },
    NOTHING,
    {"boxes": torch.tensor([[5.0, 60, 50, 100]]), "labels": torch.tensor([0], dtype=torch.int32)},
]
NAMES = ("stable_ap", "soprc", "ap", "error_driven_ap", "alrp", "rank_sort", "dr", "focal")


def outputs(dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(3, len(ANCHORS), 4, generator=generator) - 2
    boxes = 0.1 * torch.randn(3, len(ANCHORS), 4, generator=generator)
    return logits.to(dtype).requires_grad_(), boxes.to(dtype).requires_grad_()


def by_hand(logits, boxes):
    """Labels of all anchors, GIoU and scores of the positives, image after image."""
    labels, found, scores = [], [], []
    for image, target in enumerate(TARGETS):
        number = atss(ANCHORS, target["boxes"])
        of_image = torch.full((len(ANCHORS),), -1)
        for anchor in (number >= 0).nonzero().flatten().tolist():
            box, label = (target[key][number[anchor]] for key in ("boxes", "labels"))
            of_image[anchor] = label
            mine = decode_boxes(ANCHORS.boxes[anchor], boxes[image, anchor])
            found.append(giou(mine[None], box[None]))
            scores.append(logits[image, anchor, label])
        labels.append(of_image)
    return torch.cat(labels), torch.cat(found), torch.stack(scores)


@pytest.mark.parametrize("form", ["sum", "mean"])
@pytest.mark.parametrize("name", ["ap", "stable_ap", "error_driven_ap", "auc"])
def test_the_parts_by_hand(name, form):
    logits, boxes = outputs()
    losses = DetectionLoss(name, bias_form=form)(logits, boxes, ANCHORS, TARGETS)
    labels, found, scores = by_hand(logits, boxes)
    expected = ClassificationLoss(name)(logits.flatten(0, 1), labels)
    torch.testing.assert_close(losses.classification, expected)
    torch.testing.assert_close(losses.boxes, (1 - found).mean())
    bias = (scores.sum() if form == "sum" else scores.mean()) ** 2
    torch.testing.assert_close(losses.bias, bias)
    total = losses.classification + 2 * losses.boxes + 0.001 * losses.bias
    torch.testing.assert_close(losses.total, total)
    assert losses.positives == len(scores) > 5


def printed_by_hand(logits, labels, found, scores, *, tau=0.1, a=0.1, epsilon=0.1):
    """h((1/n) Σ w̃ℓ) + 2 Σ (1 − GIoU) + .001 (Σ s)² with loops, μ⁺ the mean of the batch."""
    hot = (labels.unsqueeze(1) == torch.arange(4)).flatten()
    flat = logits.flatten().double()
    negatives = flat[~hot]

    def huber(x):
        return torch.where(x < 0, 1 - 2 * x / tau, (1 - x.clamp(max=tau) / tau) ** 2)

    inside, mean = 0.0, flat[hot].mean().detach()
    for score in flat[hot]:
        r = (huber(score.detach() - mean) / (1 + 2 * 2 / tau)).clamp(0, 1)  # B of width 2
        inside = inside + ((1 + a) / (r + a)) ** 2 * huber(score - negatives).mean()
    inside = inside / len(flat)
    ranking = (epsilon**2 + inside / (1 + inside)) ** 0.5
    return ranking, (1 - found).sum(), scores.sum() ** 2


def test_the_printed_form_by_hand():
    logits, boxes = outputs()
    name = "stable_ap(score_scale=1, squash=false, dynamic=false)"
    losses = DetectionLoss(name, printed=True)(logits, boxes, ANCHORS, TARGETS)
    parts = printed_by_hand(logits, *by_hand(logits, boxes))
    for got, expected in zip(
        (losses.classification, losses.boxes, losses.bias), parts, strict=True
    ):
        torch.testing.assert_close(got, expected.to(got), rtol=1e-4, atol=1e-6)
    total = losses.classification + 2 * losses.boxes + 0.001 * losses.bias
    torch.testing.assert_close(losses.total, total)
    (gradient,) = torch.autograd.grad(losses.classification, logits, retain_graph=True)
    (expected,) = torch.autograd.grad(parts[0], logits)
    torch.testing.assert_close(gradient, expected, rtol=1e-3, atol=1e-7)


def test_the_printed_form_has_sums_where_the_other_has_means():
    logits, boxes = outputs()
    mean = DetectionLoss("stable_ap")(logits, boxes, ANCHORS, TARGETS)
    printed = DetectionLoss("stable_ap", printed=True)(logits, boxes, ANCHORS, TARGETS)
    torch.testing.assert_close(printed.boxes, mean.boxes * mean.positives)
    torch.testing.assert_close(printed.bias, mean.bias)
    assert printed.classification < mean.classification  # n⁺/n in place of ρ


def test_the_printed_form_of_every_class_keeps_the_options_of_the_name():
    loss = DetectionLoss("stable_ap(tau=0.3)", pooled=False, classes=4, printed=True)
    objective = loss.ranked.objective
    assert (objective.surrogate.tau, objective.gain, objective.memory_size) == (0.3, "fixed", 4)
    assert loss(*outputs(), ANCHORS, TARGETS).total.isfinite()


@pytest.mark.parametrize("pooled", [True, False])
def test_previous_logits_go_to_the_mean_of_the_positives(pooled):
    logits, boxes = outputs()
    labels, _, _ = by_hand(logits, boxes)
    name = "stable_ap(score_scale=1, gain=fixed)"
    loss, oracle = (DetectionLoss(name, pooled=pooled, classes=4) for _ in range(2))
    plain = DetectionLoss(name, pooled=pooled, classes=4)
    for step in range(3):
        now, before = (1 + 0.3 * step) * logits, (1 + 0.3 * max(0, step - 1)) * logits.detach()
        got = loss(now, boxes, ANCHORS, TARGETS, previous_logits=before).classification
        hot = labels.unsqueeze(1) == torch.arange(4)
        flat, old = now.flatten(0, 1), before.flatten(0, 1)
        objective = oracle.ranked.objective
        if pooled:
            given = {"previous_scores": old.flatten()}
            expected = objective(flat.flatten(), hot.flatten(), **given)
        else:
            given = {"previous_scores": old.T, "list_ids": torch.arange(4)}
            expected = objective(flat.T, hot.T, **given)
        torch.testing.assert_close(got, expected)
        without = plain(now, boxes, ANCHORS, TARGETS).classification
    assert got != without  # the plain average lags


@pytest.mark.parametrize("name", ["ap", "focal", "alrp"])
def test_previous_logits_are_refused_where_nothing_remembers_a_mean(name):
    logits, boxes = outputs()
    with pytest.raises(ValueError, match="previous_logits are for objectives that use them"):
        DetectionLoss(name)(logits, boxes, ANCHORS, TARGETS, previous_logits=logits.detach())


def test_weights_of_the_parts():
    logits, boxes = outputs()
    loss = DetectionLoss("ap", classification_weight=3, box_weight=0.5, bias_weight=0.25)
    losses = loss(logits, boxes, ANCHORS, TARGETS)
    total = 3 * losses.classification + 0.5 * losses.boxes + 0.25 * losses.bias
    torch.testing.assert_close(losses.total, total)


def test_alrp_has_its_boxes_inside():
    logits, boxes = outputs()
    losses = DetectionLoss("alrp")(logits, boxes, ANCHORS, TARGETS)
    labels, found, _ = by_hand(logits, boxes)
    hot = labels.unsqueeze(1) == torch.arange(4)
    parts = ALRP()(logits.flatten(), hot.flatten(), (1 - found) / 2)
    torch.testing.assert_close(losses.classification, parts.ranking)
    torch.testing.assert_close(losses.boxes, parts.localization)
    total = losses.classification + losses.boxes + 0.001 * losses.bias
    torch.testing.assert_close(losses.total, total)


@pytest.mark.parametrize("pooled", [True, False])
def test_rank_sort_has_the_overlaps_as_labels_and_balances_the_boxes(pooled):
    logits, boxes = outputs()
    losses = DetectionLoss("rank_sort", pooled=pooled)(logits, boxes, ANCHORS, TARGETS)
    labels, found, _ = by_hand(logits, boxes)
    soft = torch.zeros(len(labels), 4)
    row = 0
    for image, target in enumerate(TARGETS):
        number = atss(ANCHORS, target["boxes"])
        for anchor in range(len(ANCHORS)):
            if number[anchor] >= 0:
                mine = decode_boxes(ANCHORS.boxes[anchor], boxes[image, anchor])
                overlap = iou(mine[None], target["boxes"][number[anchor]][None])
                soft[row, labels[row]] = overlap.item()
            row += 1
    flat = logits.flatten(0, 1)
    lists = (flat.flatten(), soft.flatten()) if pooled else (flat.T, soft.T)
    expected = RankSort()(*lists)
    torch.testing.assert_close(losses.classification, expected)
    torch.testing.assert_close(losses.boxes, (1 - found).mean())
    torch.testing.assert_close(losses.total, 2 * losses.classification + 0.001 * losses.bias)
    (gradient,) = torch.autograd.grad(losses.total, boxes)
    (of_boxes,) = torch.autograd.grad((1 - by_hand(logits, boxes)[1]).mean(), boxes)
    torch.testing.assert_close(gradient, of_boxes * (expected / losses.boxes).detach())


def test_a_box_beside_its_object_stays_a_positive():
    logits, boxes = outputs()
    with torch.no_grad():
        boxes += 100  # no overlap anywhere
    losses = DetectionLoss("rank_sort")(logits, boxes, ANCHORS, TARGETS)
    assert losses.classification > 0


@pytest.mark.parametrize("name", ["focal", "dr"])
def test_losses_that_feel_a_shift_have_no_bias_term(name):
    losses = DetectionLoss(name)(*outputs(), ANCHORS, TARGETS)
    assert losses.bias == 0
    torch.testing.assert_close(losses.total, losses.classification + 2 * losses.boxes)


def test_the_bias_term_brings_the_scores_of_the_positives_to_zero():
    logits, boxes = outputs()
    loss = DetectionLoss("ap", bias_form="mean", bias_weight=0.1, box_weight=0)
    shift = torch.zeros((), requires_grad=True)
    optimizer = torch.optim.SGD([shift], lr=1.0)
    for _ in range(60):
        optimizer.zero_grad()
        loss(logits.detach() + shift, boxes, ANCHORS, TARGETS).total.backward()
        optimizer.step()
    _, _, scores = by_hand(logits.detach() + shift.detach(), boxes)
    assert scores.mean().abs() < 1e-3


@pytest.mark.parametrize(("positives", "settles"), [(300, True), (330, False)])
def test_the_printed_sum_swings_from_316_positives_on(positives, settles):
    """On a shared bias at a rate of .01: .001·n²·.01 = 1 at n = 316."""
    loss = DetectionLoss(
        "ap",
        classification_weight=0,
        box_weight=0,
        assign=lambda anchors, boxes: torch.where(torch.arange(len(anchors)) < positives, 0, -1),
    )
    shift = torch.ones((), requires_grad=True)
    optimizer = torch.optim.SGD([shift], lr=0.01)
    for _ in range(30):
        optimizer.zero_grad()
        logits = torch.zeros(1, len(ANCHORS), 4) + shift
        loss(logits, torch.zeros(1, len(ANCHORS), 4), ANCHORS, TARGETS[2:]).total.backward()
        optimizer.step()
    assert bool(shift.abs() < 1) == settles


def test_a_list_of_every_class():
    logits, boxes = outputs()
    labels, _, _ = by_hand(logits, boxes)
    loss = DetectionLoss("soprc", pooled=False, classes=4)
    expected = ClassificationLoss("soprc", pooled=False, classes=4)(logits.flatten(0, 1), labels)
    found = loss(logits, boxes, ANCHORS, TARGETS).classification
    torch.testing.assert_close(found, expected)


def test_perfect_outputs_have_almost_no_loss():
    logits, _ = outputs()
    labels, _, _ = by_hand(*outputs())
    hot = (labels.unsqueeze(1) == torch.arange(4)).reshape(logits.shape)
    boxes = torch.zeros(3, len(ANCHORS), 4)
    for image, target in enumerate(TARGETS):
        number = atss(ANCHORS, target["boxes"])
        mine = number >= 0
        boxes[image, mine] = encode_boxes(ANCHORS.boxes[mine], target["boxes"][number[mine]])
    losses = DetectionLoss("ap")(20.0 * hot, boxes, ANCHORS, TARGETS)
    assert losses.boxes < 1e-5
    assert losses.classification < 1e-5


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("targets", [TARGETS, [NOTHING] * 3], ids=["objects", "none"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore:.*no list of this batch has:RuntimeWarning")
def test_every_loss_is_finite_with_a_gradient(name, targets, dtype):
    logits, boxes = outputs(dtype)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        losses = DetectionLoss(name)(logits, boxes, ANCHORS, targets)
    assert losses.total.dtype == torch.float32
    assert losses.total.isfinite()
    to_logits, to_boxes = torch.autograd.grad(losses.total, (logits, boxes))
    assert to_logits.isfinite().all()
    assert to_boxes.isfinite().all()
    if targets is TARGETS:
        assert to_logits.abs().sum() > 0
        assert to_boxes.abs().sum() > 0
    else:
        assert losses.positives == 0
        assert (to_boxes == 0).all()
        assert bool((to_logits > 0).any()) == (name == "focal")


def test_images_without_objects_are_negatives():
    logits, boxes = outputs()
    with torch.no_grad():
        before = DetectionLoss("ap")(logits, boxes, ANCHORS, TARGETS).classification
        logits[1, :40] += 9
        after = DetectionLoss("ap")(logits, boxes, ANCHORS, TARGETS).classification
    assert after > before


def test_an_objective_and_an_assignment_of_ones_own():
    logits, boxes = outputs()

    def everything_inside(anchors, boxes):
        inside = (anchors.centers[:, None] > boxes[:, :2]) & (
            anchors.centers[:, None] < boxes[:, 2:]
        )
        best = inside.all(-1).float().max(1)
        return torch.where(best.values > 0, best.indices, -1)

    loss = DetectionLoss(AveragePrecision(), assign=everything_inside)
    more = loss(logits, boxes, ANCHORS, TARGETS).positives
    assert more > DetectionLoss("ap")(logits, boxes, ANCHORS, TARGETS).positives


def test_the_state_resumes_to_the_same_bit():
    logits, boxes = outputs()
    for name in ("stable_ap", "soprc", "alrp"):
        loss = DetectionLoss(name)
        loss(logits, boxes, ANCHORS, TARGETS)
        other = DetectionLoss(name)
        other.load_state_dict(copy.deepcopy(loss.state_dict()))
        assert torch.equal(
            other(0.9 * logits, boxes, ANCHORS, TARGETS).total,
            loss(0.9 * logits, boxes, ANCHORS, TARGETS).total,
        )


def test_bad_input_is_named():
    logits, boxes = outputs()
    loss = DetectionLoss()
    with pytest.raises(ValueError, match=r"cls_logits must have shape \(images, 336 anchors"):
        loss(logits[:, 1:], boxes, ANCHORS, TARGETS)
    with pytest.raises(ValueError, match=r"box_regression must have shape \(3, 336, 4\), got"):
        loss(logits, boxes[..., :3], ANCHORS, TARGETS)
    with pytest.raises(ValueError, match="targets must be one per image, 3, got 2"):
        loss(logits, boxes, ANCHORS, TARGETS[:2])
    with pytest.raises(ValueError, match="scores contains NaN"):
        loss(torch.full_like(logits, torch.nan), boxes, ANCHORS, TARGETS)
    with pytest.raises(ValueError, match="box_regression contains NaN"):
        loss(logits, torch.full_like(boxes, torch.nan), ANCHORS, TARGETS)
    with pytest.raises(ValueError, match="box_weight must be a finite number >= 0, got -1"):
        DetectionLoss(box_weight=-1)
    with pytest.raises(ValueError, match="bias_form must be one of 'sum', 'mean', got 'max'"):
        DetectionLoss(bias_form="max")
    with pytest.raises(ValueError, match="pooled=False is not for alrp"):
        DetectionLoss("alrp", pooled=False)
    with pytest.raises(ValueError, match='printed=True is for stable_ap with bias_form="sum", got'):
        DetectionLoss("ap", printed=True)
    with pytest.raises(ValueError, match="got StableAP with bias_form='mean'"):
        DetectionLoss("stable_ap", printed=True, bias_form="mean")
    with pytest.raises(ValueError, match="got ALRP with"):
        DetectionLoss("alrp", printed=True)
