"""Training: it learns, it goes on with the same bits, batches without objects are fine."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from tests.tasks.detection.cases import losses, pictures, settings, splits

from rankwise.data.detection import DetectionSplits, Objects
from rankwise.errors import UsageError
from rankwise.tasks.detection.dataset import DetectionBatch
from rankwise.tasks.detection.settings import Objective
from rankwise.tasks.detection.task import DetectionTask, fingerprint, make_loss, new_detector, train
from rankwise.training import Learner

HEADS = ("focal", "error_driven_ap", "alrp", "rank_sort", "dr", "soprc", "stable_ap")


class StopError(Exception):
    pass


@pytest.mark.parametrize(
    ("network", "objective"),
    [
        ({"frozen": 0}, {}),
        ({"frozen": 5}, {}),
        ({"frozen": 5}, {"previous": True}),
        ({"frozen": 5, "stages": 2, "region_width": 8}, {"regions": "stable_ap", "previous": True}),
    ],
    ids=["whole", "frozen", "previous", "two stages"],
)
def test_a_resumed_run_ends_with_the_same_bits(tmp_path, network, objective):
    views = {"expand": 1, "colors": False} if network["frozen"] else {}
    asked = settings(network=network, augmentations=views, objective=objective)
    parts = splits()
    torch.manual_seed(3)
    before = torch.random.get_rng_state()
    whole = train(parts, asked)
    assert torch.equal(before, torch.random.get_rng_state())

    def stop(step):
        if step.step == 3:
            raise StopError

    with pytest.raises(StopError):
        train(parts, asked, tmp_path, on_step=stop)
    again = train(parts, asked, tmp_path, resume=True)
    assert again.history == whole.history
    assert again.best_step == whole.best_step
    one, other = whole.network.state_dict(), again.network.state_dict()
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert (tmp_path / "metrics.csv").read_text().count("\n") == 3


def test_other_settings_or_images_are_not_continued(tmp_path):
    asked = settings(training={"steps": 2})
    train(splits(), asked, tmp_path)
    other = asked.replace(training=asked.training.replace(batch=2))
    with pytest.raises(UsageError, match=r"training.batch was 3 and is 2"):
        train(splits(), other, tmp_path, resume=True)
    with pytest.raises(UsageError, match="other training data"):
        train(splits(7), asked, tmp_path, resume=True)


@pytest.mark.parametrize("name", HEADS)
def test_every_head_learns_on_a_batch(name):
    """The same batch again and again: the loss of it goes down."""
    asked = settings(objective={"name": name}, training={"clip": 5.0, "warm_up": 2})
    learner = Learner(DetectionTask(splits(), asked))
    parts = splits()
    known = [parts.train.load(i).float() / 255 for i in range(3)]
    picture = torch.nn.functional.interpolate(torch.stack(known), (64, 64))
    factor = torch.tensor([64 / 80, 64 / 60, 64 / 80, 64 / 60])
    targets = []
    for i in range(3):
        boxes, labels = parts.train.objects[i].trained()
        targets.append({"boxes": boxes * factor, "labels": labels})
    batch = DetectionBatch(picture, targets)
    with torch.no_grad():
        first = losses(learner, batch).classification
    assert all(math.isfinite(learner.step(batch)) for _ in range(30))
    with torch.no_grad():
        last = losses(learner, batch).classification
    assert last < 0.9 * first


@pytest.mark.parametrize("name", HEADS)
@pytest.mark.filterwarnings("ignore:.*no list of this batch has:RuntimeWarning")
def test_batches_without_objects_are_finite(name):
    learner = Learner(DetectionTask(splits(), settings(objective={"name": name})))
    nothing = {"boxes": torch.zeros(0, 4), "labels": torch.zeros(0, dtype=torch.long)}
    batch = DetectionBatch(torch.rand(2, 3, 64, 64), [nothing, nothing])
    assert all(math.isfinite(learner.step(batch)) for _ in range(2))
    assert all(p.isfinite().all() for p in learner.task.network.parameters())


def test_rates_rise_and_fall():
    asked = settings(optimizer={"milestones": [4], "learning_rate": 0.1}, training={"warm_up": 3})
    task = DetectionTask(splits(), asked)
    rates = [task.rate(step) for step in range(6)]
    assert rates == pytest.approx([0.025, 0.05, 0.075, 0.1, 0.01, 0.01])


def test_a_warm_start_goes_by_focal_loss_first():
    asked = settings(objective={"warm_start": 1})
    learner = Learner(DetectionTask(splits(), asked))
    boxes = {"boxes": torch.tensor([[5.0, 5, 30, 30]]), "labels": torch.tensor([0])}
    batch = DetectionBatch(torch.rand(1, 3, 64, 64), [boxes])
    focal = losses(learner, batch).total
    learner.done = 1
    assert losses(learner, batch).total != focal
    plain = Learner(DetectionTask(splits(), settings(objective={"name": "focal"})))
    torch.testing.assert_close(losses(plain, batch).total, focal)


def test_validation_without_objects_keeps_the_first(tmp_path):
    bare = replace(
        pictures("validation"),
        objects=(Objects.plain(torch.zeros(0, 4), torch.zeros(0, dtype=torch.long)),) * 6,
    )
    parts = splits()
    done = train(DetectionSplits(parts.train, bare, parts.test), settings())
    assert done.best_step == 2
    assert done.best_value == -1


@pytest.mark.parametrize("network", [{}, {"stages": 2, "region_width": 8}], ids=["one", "two"])
def test_half_precision_trains(network):
    asked = settings(network=network, training={"precision": "bfloat16", "steps": 2})
    done = train(splits(), asked)
    assert math.isfinite(done.history[-1]["loss"])


def test_a_loss_that_cannot_be_is_an_error_of_usage():
    with pytest.raises(UsageError, match="objective: "):
        make_loss(Objective(name="nonsense"), 2)
    with pytest.raises(UsageError, match="alrp"):
        make_loss(Objective(name="alrp", pooled=False), 2)


def test_the_fingerprint_is_of_images_and_boxes():
    one = pictures("train")
    assert fingerprint(one) == fingerprint(pictures("train"))
    assert fingerprint(one) != fingerprint(pictures("train", seed=1))
    moved = replace(one.objects[0], boxes=one.objects[0].boxes + 1)
    assert fingerprint(replace(one, objects=(moved, *one.objects[1:]))) != fingerprint(one)


def test_where_nothing_is_better_than_the_start_the_start_is_kept(monkeypatch):
    values = iter([0.5, 0.4, 0.3, 0.2, 0.1])

    def judged(*_: object) -> SimpleNamespace:
        value = next(values)
        return SimpleNamespace(ap=value, ap50=value)

    monkeypatch.setattr("rankwise.tasks.detection.task.evaluate", judged)
    parts, chosen = splits(), settings()
    done = train(parts, chosen)
    assert (done.best_step, done.start, done.best_value) == (0, 0.5, 0.5)
    with torch.random.fork_rng(devices=[]):
        start = new_detector(chosen, len(parts.train.classes)).state_dict()
    assert all(torch.equal(value, start[name]) for name, value in done.network.state_dict().items())
