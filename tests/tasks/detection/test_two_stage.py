"""Two stages: RoIAlign by hand, proposals, the loss of both stages, training, and a whole run."""

from __future__ import annotations

import pytest
import torch
from PIL import Image
from tests.tasks.detection.cases import losses, pictures, settings, splits
from tests.tasks.retrieval.cases import states_equal
from tests.training.processes import run_two

from rankwise.errors import UsageError
from rankwise.tasks.detection.dataset import DetectionBatch
from rankwise.tasks.detection.inference import detect_all
from rankwise.tasks.detection.network import Dense
from rankwise.tasks.detection.pipeline import load_run, predict, run
from rankwise.tasks.detection.task import DetectionTask, make_losses, new_detector, train
from rankwise.tasks.detection.two_stage import (
    Regions,
    TwoStageDetector,
    TwoStageLoss,
    assign_by_iou,
    roi_align,
)
from rankwise.training import Learner
from rankwise.vision import Anchors, ClassificationLoss, DetectionLoss, decode_boxes, giou

TWO = {"stages": 2, "proposals": 20, "region_width": 16}
BOXES = [torch.tensor([[4.0, 4, 22, 24], [30, 30, 50, 48]]), torch.tensor([[10.0, 20, 28, 38]])]
LABELS = [torch.tensor([0, 1]), torch.tensor([1])]
TARGETS = [{"boxes": b, "labels": n} for b, n in zip(BOXES, LABELS, strict=True)]


@pytest.fixture(autouse=True)
def own_random_numbers():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


def batch(seed=0):
    images = torch.rand(2, 3, 64, 64, generator=torch.Generator().manual_seed(seed))
    return DetectionBatch(images, TARGETS)


def bilinear(one, x, y):
    """The value of a map (h, w) at a place in cells, whose centers are at ½."""
    height, width = one.shape
    x, y = min(max(x - 0.5, 0), width - 1), min(max(y - 0.5, 0), height - 1)
    left, top = min(int(x), width - 2), min(int(y), height - 2)
    a, b = x - left, y - top
    upper = (1 - a) * one[top, left] + a * one[top, left + 1]
    lower = (1 - a) * one[top + 1, left] + a * one[top + 1, left + 1]
    return (1 - b) * upper + b * lower


def test_roi_align_by_hand():
    maps = torch.rand(2, 3, 5, 6)
    boxes = torch.tensor([[3.0, 5, 21, 37], [-9, 2, 60, 11], [16, 16, 24, 24]])
    images = torch.tensor([1, 0, 1])
    found = roi_align(maps, boxes, images, 8, size=2, samples=2)
    assert found.shape == (3, 3, 2, 2)
    for n, (x1, y1, x2, y2) in enumerate((boxes / 8).tolist()):
        for row in range(2):
            for column in range(2):
                values = [
                    torch.stack(
                        [
                            bilinear(
                                channel,
                                x1 + (x2 - x1) * (2 * column + i + 0.5) / 4,
                                y1 + (y2 - y1) * (2 * row + j + 0.5) / 4,
                            )
                            for channel in maps[images[n]]
                        ]
                    )
                    for i in range(2)
                    for j in range(2)
                ]
                mean = torch.stack(values).mean(0)
                torch.testing.assert_close(found[n, :, row, column], mean, rtol=1e-4, atol=1e-5)


def test_a_box_of_whole_cells_is_their_values():
    one = torch.arange(24.0).reshape(1, 1, 4, 6)
    found = roi_align(
        one, torch.tensor([[8.0, 8, 32, 24]]), torch.tensor([0]), 8, size=2, samples=1
    )
    # Samples at 1.75 and 3.25 across (in cells), 1.5 and 2.5 down: 6 for a row, 1 for a column.
    assert found.flatten().tolist() == pytest.approx([7.25, 8.75, 13.25, 14.75])


def test_a_box_at_the_edge_sees_no_other_image():
    maps = torch.zeros(3, 1, 4, 4)
    maps[1] = 100
    boxes = torch.tensor([[0.0, 20, 32, 90], [0, -50, 32, 8], [5, 5, 9, 9]])
    found = roi_align(maps, boxes, torch.tensor([0, 2, 1]), 8)
    assert (found[:2] == 0).all()
    assert (found[2] == 100).all()


def test_the_gradient_of_roi_align_goes_to_the_map():
    maps = torch.rand(2, 1, 3, 3, dtype=torch.float64, requires_grad=True)
    boxes = torch.tensor([[1.0, 2, 13, 9], [4, 4, 20, 22]], dtype=torch.float64)
    images = torch.tensor([0, 1])
    assert torch.autograd.gradcheck(
        lambda m: roi_align(m, boxes, images, 8, size=2, samples=2), (maps,)
    )


def test_proposals_are_the_best_boxes_of_the_first_stage_and_the_known_ones():
    network = new_detector(settings(network=TWO), 2)
    assert isinstance(network, TwoStageDetector)
    found = network(batch().images, BOXES)
    assert isinstance(found, Regions)
    assert found.logits.shape == (2, 80, 1)  # one class: object
    assert found.scores.shape == (len(found.proposals), 2)
    assert found.offsets.shape == found.proposals.shape
    assert not found.proposals.requires_grad
    for image, known in enumerate(BOXES):
        own = found.proposals[found.images == image]
        assert len(known) < len(own) <= 20 + len(known)
        assert torch.equal(own[-len(known) :], known)
        best = int(found.logits[image, :, 0].argmax())
        box = decode_boxes(found.anchors.boxes[best], found.regression[image, best])
        torch.testing.assert_close(own[0], box.detach().clamp(0, 64))
    alone = network(batch().images)
    assert [int((alone.images == i).sum()) <= 20 for i in range(2)] == [True, True]


def test_a_region_is_pooled_from_the_level_of_its_size(monkeypatch):
    network = new_detector(settings(network={**TWO, "levels": [8, 16, 32]}), 2)  # sides 16, 32, 64
    seen = {}

    def pooled(maps, boxes, images, stride):
        seen[stride] = boxes[:, 2].tolist()
        return torch.zeros(len(boxes), maps.shape[1], 7, 7)

    monkeypatch.setattr("rankwise.tasks.detection.two_stage.roi_align", pooled)
    boxes = torch.tensor([[0.0, 0, s, s] for s in (2, 16, 22, 23, 45, 46, 500)])
    maps = network.levels(batch().images)
    network._pooled(maps, boxes, torch.zeros(7, dtype=torch.long))
    assert seen == {8: [2, 16, 22], 16: [23, 45], 32: [46, 500]}


def test_a_region_has_the_object_that_it_overlaps_most():
    regions = Anchors(torch.tensor([[0.0, 0, 10, 10], [0, 0, 10, 4], [6, 0, 16, 10]]), (3,))
    boxes = torch.tensor([[0.0, 0, 10, 8], [7, 0, 17, 10]])
    assert assign_by_iou(regions, boxes).tolist() == [0, 0, 1]
    assert assign_by_iou(regions, boxes[1:]).tolist() == [-1, -1, 0]


@pytest.mark.parametrize("regions", [None, "stable_ap", "focal"])
def test_the_loss_is_that_of_objects_and_that_of_the_regions_of_all_images(regions):
    asked = settings(network=TWO, objective={"regions": regions})
    loss = make_losses(asked, 2)
    assert isinstance(loss, TwoStageLoss)
    found = new_detector(asked, 2)(batch().images, BOXES)
    both = loss(found, TARGETS)
    objects = [
        {"boxes": b, "labels": torch.zeros_like(n)} for b, n in zip(BOXES, LABELS, strict=True)
    ]
    options = {"bias_form": "mean", "bias_weight": 0.1}
    first = DetectionLoss("stable_ap", **options)(
        found.logits, found.regression, found.anchors, objects
    )
    labels, overlaps, scores = torch.full((len(found.images),), -1), [], []
    for i, image in enumerate(found.images.tolist()):
        region = Anchors(found.proposals[i : i + 1], (1,))
        (own,) = assign_by_iou(region, BOXES[image]).tolist()
        if own >= 0:
            labels[i] = LABELS[image][own]
            box = decode_boxes(found.proposals[i], found.offsets[i])
            overlaps.append(giou(box, BOXES[image][own]))
            scores.append(found.scores[i, labels[i]])
    name = regions or "cross_entropy"
    classes = ClassificationLoss(name)(found.scores, labels)
    boxes = 1 - torch.stack(overlaps).mean()
    bias = 0 if name != "stable_ap" else torch.stack(scores).mean() ** 2
    torch.testing.assert_close(both.classification, first.classification + classes)
    torch.testing.assert_close(both.boxes, first.boxes + boxes)
    torch.testing.assert_close(both.total, first.total + classes + 2 * boxes + 0.1 * bias)
    assert both.positives == first.positives + len(overlaps)


@pytest.mark.parametrize("name", ["focal", "stable_ap", "alrp", "soprc"])
def test_gradients_reach_both_stages(name):
    learner = Learner(DetectionTask(splits(), settings(network=TWO, objective={"name": name})))
    losses(learner, batch()).total.backward()
    network = learner.task.network
    for part in (network.head, network.regions, network.pyramid):
        for called, parameter in part.named_parameters():
            assert parameter.grad is not None, called
            assert parameter.grad.abs().sum() > 0, called
    for parameter in (*network.regions.parameters(), *network.head.parameters()):
        parameter.grad = None
    found = network(batch().images, BOXES)
    found.scores.sum().backward()  # the second stage is no loss of the proposals
    assert all(p.grad is None for p in network.head.parameters())


@pytest.mark.parametrize("regions", ["stable_ap", None])
def test_the_previous_parameters_score_the_same_regions(regions):
    asked = settings(network=TWO, objective={"previous": True, "regions": regions})
    learner = Learner(DetectionTask(splits(), asked))
    task, seen = learner.task, []
    call = task.loss.forward
    task.loss.forward = lambda *given: seen.append(given) or call(*given)
    earlier = new_detector(asked, 2)
    for seed in range(2):
        found = task.network(batch(seed).images, BOXES)
        expected = earlier(batch(seed).images, at=found)
        earlier.load_state_dict(task.network.state_dict())
        learner.step(batch(seed))
        now, _, previous = seen[-1]
        assert torch.equal(now.proposals, previous.proposals)
        torch.testing.assert_close(previous.scores, expected.scores)
        torch.testing.assert_close(previous.logits, expected.logits)
        assert not previous.scores.requires_grad
    assert not torch.equal(now.scores, previous.scores)


def test_the_printed_form_is_that_of_both_stages():
    objective = {"printed": True, "bias_form": "sum", "regions": "stable_ap"}
    loss = make_losses(settings(network=TWO, objective=objective), 2)
    assert loss.first.printed
    assert loss.regions.printed
    alone = settings(network=TWO, objective={**objective, "regions": None})
    with pytest.raises(UsageError, match=r"printed=True is for stable_ap .* got CrossEntropy"):
        make_losses(alone, 2)


@pytest.mark.filterwarnings("ignore:.*no list of this batch has both classes:RuntimeWarning")
@pytest.mark.parametrize("regions", [None, "stable_ap"])
def test_batches_without_objects_are_finite(regions):
    asked = settings(network=TWO, objective={"regions": regions})
    learner = Learner(DetectionTask(splits(), asked))
    nothing = {"boxes": torch.zeros(0, 4), "labels": torch.zeros(0, dtype=torch.long)}
    empty = DetectionBatch(batch().images, [nothing, nothing])
    assert losses(learner, empty).total.isfinite()
    learner.step(empty)
    assert all(p.isfinite().all() for p in learner.task.network.parameters())


def test_a_warm_start_is_focal_loss_and_cross_entropy():
    asked = settings(network=TWO, objective={"warm_start": 1, "regions": "stable_ap"})
    plain = settings(network=TWO, objective={"name": "focal"})
    warm, focal = (Learner(DetectionTask(splits(), one)) for one in (asked, plain))
    torch.testing.assert_close(losses(warm, batch()).total, losses(focal, batch()).total)
    warm.done = 1
    assert losses(warm, batch()).total != losses(focal, batch()).total


@pytest.mark.parametrize(
    "objective", [{"name": "focal"}, {}, {"regions": "stable_ap"}], ids=["focal", "first", "both"]
)
def test_it_learns_to_detect(objective):
    asked = settings(
        network={**TWO, "width": 16},
        augmentations={"expand": 1, "colors": False},
        objective=objective,
        optimizer={"learning_rate": 0.003},
        training={"steps": 150, "validate_every": 150, "batch": 4, "clip": 10.0},
    )
    done = train(splits(12), asked)
    assert done.start < 0.05
    assert done.best_value > done.start + 0.1


def test_a_whole_run_is_written_loaded_and_drawn(tmp_path):
    parts, asked = splits(), settings(network=TWO)
    done = run(parts, asked, tmp_path / "run")
    kept = load_run(tmp_path / "run")
    assert isinstance(kept.network, TwoStageDetector)
    assert states_equal(kept.network.state_dict(), done.trained.network.state_dict())
    found = detect_all(kept.network, parts.test, kept.settings)
    assert all(len(one) <= 40 for one in found)  # 20 proposals, two classes
    image = tmp_path / "image.png"
    Image.fromarray(pictures("x").load(0).permute(1, 2, 0).contiguous().numpy()).save(image)
    drawing, _ = predict(kept, image, tmp_path / "detections", min_score=0.01)
    assert drawing.is_file()
    again = run(parts, asked, tmp_path / "run", resume=True)
    assert again.results["stable_ap"].as_json() == done.results["stable_ap"].as_json()


def test_regions_of_an_image_are_its_own():
    dense = Dense(torch.zeros(3, 1, 1), torch.zeros(3, 1, 4), Anchors(torch.zeros(1, 4), (1,)))
    scores = torch.arange(6.0).reshape(3, 2)
    boxes = torch.arange(12.0).reshape(3, 4)
    found = Regions(
        **vars(dense),
        images=torch.tensor([0, 2, 2]),
        proposals=boxes,
        scores=scores,
        offsets=torch.zeros(3, 4),
    )
    parts = list(found.by_image())
    assert [len(part[0]) for part in parts] == [1, 0, 2]
    assert torch.equal(parts[2][0], scores[1:])
    assert torch.equal(parts[2][2], boxes[1:])


def work(rank: int, folder: str) -> None:
    """Called in two processes, with half of the images each."""
    still = {"expand": 1, "colors": False, "flip": False, "cache": False}
    asked = settings(network=TWO, augmentations=still, training={"batch": 2, "steps": 2})
    trained = train(splits(), asked)
    torch.save(trained.history, f"{folder}/{rank}.pt")


def test_two_processes_train_on_their_images_together(tmp_path):
    run_two("tests.tasks.detection.test_two_stage", "work", str(tmp_path))
    one, other = (torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in range(2))
    assert one == other
    still = {"expand": 1, "colors": False, "flip": False, "cache": False}
    asked = settings(network=TWO, augmentations=still, training={"batch": 4, "steps": 2})
    alone = train(splits(), asked)
    assert one[0]["loss"] == pytest.approx(alone.history[0]["loss"], rel=1e-3)
