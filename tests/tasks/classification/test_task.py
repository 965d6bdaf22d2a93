from __future__ import annotations

import copy
import itertools

import pytest
import torch
from tests.tasks.classification.cases import TWO, images, settings, splits
from tests.tasks.retrieval.cases import states_equal
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from rankwise.errors import UsageError
from rankwise.tasks.classification.settings import Batches
from rankwise.tasks.classification.task import (
    ClassificationTask,
    ShuffledBatches,
    make_sampler,
    new_classifier,
)
from rankwise.training import Learner, Place
from rankwise.vision.image_dataset import ImageDataset

STILL = ("augmentations.resize=8", "augmentations.crop=8", "augmentations.flip=false")
PLAIN = (
    *STILL,
    "objective.name=cross_entropy",
    "optimizer.name=sgd",
    "optimizer.s=0",
    "optimizer.learning_rate=0.1",
)


def learner(*changes, counts=(12, 8, 4), several=False, rank=0):
    parts = splits(counts, several=several)
    task = ClassificationTask(
        parts, settings(*changes), place=Place(rank=rank, world_size=1 + rank)
    )
    sampler = ShuffledBatches(len(parts.train), 12, seed=1)
    batches = task.dataset.batches(sampler, 0, 0)
    return Learner(task), list(itertools.islice(batches, 4))


@pytest.fixture(autouse=True)
def own_random_numbers():
    with torch.random.fork_rng(devices=[]):
        yield


@pytest.mark.parametrize(
    ("counts", "several", "logits"), [(TWO, False, 1), (TWO, True, 2), ((12, 8, 4), False, 3)]
)
def test_a_new_network_has_the_logits_and_the_statistics_of_the_images(counts, several, logits):
    train, chosen = images("train", counts, several=several), settings("augmentations.resize=9")
    pictures = ImageDataset(
        train.images, settings("augmentations.resize=9", "augmentations.crop=9").augmentations
    )
    network = new_classifier(train, pictures, chosen)
    assert network.projection.out_features == logits
    pixels = train.images.pixels.double() / 255
    mean, deviation = pixels.mean((0, 2, 3)), pixels.transpose(0, 1).flatten(1).std(1, correction=0)
    torch.testing.assert_close(network.mean.flatten().double(), mean, rtol=0, atol=1e-6)
    torch.testing.assert_close(network.deviation.flatten().double(), deviation, rtol=0, atol=1e-6)


def test_the_seed_decides_the_network_and_what_is_drawn_next():
    train = images("train")
    found = []
    for seed in (3, 3, 4):
        chosen = settings(f"training.seed={seed}")
        network = new_classifier(train, ImageDataset(train.images, chosen.augmentations), chosen)
        found.append((network.state_dict(), torch.rand(3)))
    assert states_equal(found[0][0], found[1][0])
    assert torch.equal(found[0][1], found[1][1])
    assert not states_equal(found[0][0], found[2][0])


@pytest.mark.parametrize(
    ("counts", "several"), [(TWO, False), ((12, 8, 4), True), ((12, 8, 4), False)]
)
def test_a_step_is_one_of_gradient_descent(counts, several):
    found, batches = learner(*PLAIN, counts=counts, several=several)
    by_hand = copy.deepcopy(found.task.network).train()
    pictures = torch.stack(list(batches[0].images)).float() / 255
    target = splits(counts, several=several).train.target[batches[0].rows]
    logits = by_hand(pictures)
    if several or counts == TWO:
        scores = logits if several else logits.squeeze(1)
        loss = binary_cross_entropy_with_logits(scores, target.float())
    else:
        loss = cross_entropy(logits, target)
    loss.backward()
    assert found.step(batches[0]) == pytest.approx(loss.item(), rel=1e-6)
    assert found.done == 1
    moved = dict(found.task.network.named_parameters())
    for name, parameter in by_hand.named_parameters():
        wanted = parameter.detach() - 0.1 * parameter.grad
        torch.testing.assert_close(moved[name].detach(), wanted, rtol=1e-5, atol=1e-7)
    assert float(by_hand.projection.weight.grad.abs().max()) > 1e-3


def test_a_step_follows_from_its_number_and_uses_nobodys_random_numbers():
    one, batches = learner()
    losses = [one.step(batch) for batch in batches]
    other, _ = learner()
    torch.manual_seed(12345)
    state = torch.get_rng_state()
    assert [other.step(batch) for batch in batches] == losses
    assert torch.equal(torch.get_rng_state(), state)
    assert states_equal(one.task.network.state_dict(), other.task.network.state_dict())


def test_processes_cut_their_images_in_other_places():
    ours, batches = learner()
    theirs, _ = learner(rank=1)
    assert states_equal(ours.task.network.state_dict(), theirs.task.network.state_dict())
    assert ours.step(batches[0]) != theirs.step(batches[0])
    still, batches = learner(*STILL)
    other, _ = learner(*STILL, rank=1)
    assert still.step(batches[0]) == other.step(batches[0])


def test_the_loss_is_told_the_epoch():
    found, batches = learner("objective.name=ldam(defer=1)", *STILL, "optimizer.learning_rate=1e-9")
    target = found.task.target[batches[0].rows]
    logits = torch.zeros(12, 3)
    seen = []
    for batch in batches:
        found.step(batch)
        seen.append(float(found.task.loss(logits, target)))
    assert seen[0] == seen[1]  # two steps are an epoch
    assert seen[2] == seen[3]
    assert seen[2] != pytest.approx(seen[1], rel=1e-3)  # classes weigh as they are rare


def test_a_warm_start_is_by_cross_entropy_for_its_steps():
    plain, batches = learner(*PLAIN)
    warm, _ = learner(*PLAIN, "objective.name=ap", "objective.warm_start=2")
    assert [plain.step(batch) for batch in batches[:2]] == [
        warm.step(batch) for batch in batches[:2]
    ]
    assert plain.step(batches[2]) != warm.step(batches[2])


def test_the_previous_parameters_are_those_of_the_step_before():
    found, batches = learner("objective.name=stable_ap(gain=fixed)", "objective.previous=true")
    assert set(found.task.modules()) == {"network", "loss", "previous"}
    found.step(batches[0])
    before = found.task.network.projection.weight.detach().clone()
    found.step(batches[1])
    kept = found.task.previous.get_buffer("previous_projection__weight")
    assert torch.equal(kept, before)
    assert not torch.equal(kept, found.task.network.projection.weight)
    assert set(learner()[0].task.modules()) == {"network", "loss"}


def test_a_state_goes_on_where_it_was():
    changes = ("objective.name=soap", "optimizer.name=sgd", *STILL)
    whole, batches = learner(*changes)
    for batch in batches[:2]:
        whole.step(batch)
    state = copy.deepcopy(whole.state_dict())
    other, _ = learner(*changes, "training.seed=5")
    assert not states_equal(other.task.network.state_dict(), whole.task.network.state_dict())
    other.load_state_dict(state)
    assert [other.step(batch) for batch in batches[2:]] == [
        whole.step(batch) for batch in batches[2:]
    ]


BINARY = torch.tensor([1] * 6 + [0] * 44)
CLASSES = torch.arange(5).repeat(10)


def sampler(target, classes, **how):
    return make_sampler(target, classes, Batches(**how), 0, Place())


def test_as_they_come_every_item_is_once_in_an_epoch():
    found = ShuffledBatches(50, 10, seed=1)
    batches = list(found)
    assert len(found) == len(batches) == 5
    assert sorted(i for batch in batches for i in batch) == list(range(50))
    assert list(found) != batches  # the next epoch
    assert found.rate == 0.2
    uneven = list(ShuffledBatches(7, 3))
    assert [len(batch) for batch in uneven] == [3, 3, 3]
    assert {i for batch in uneven for i in batch} == set(range(7))


def test_processes_share_an_epoch():
    parts = [list(ShuffledBatches(40, 10, rank=r, world_size=2)) for r in range(2)]
    assert sorted(i for part in parts for batch in part for i in batch) == list(range(40))


def test_positives_and_classes():
    for batch in sampler(BINARY, 2, size=12, positives=4):
        assert BINARY[batch].sum() == 4
        assert len(batch) == 12
    for batch in sampler(CLASSES, 5, size=12, per_class=4):
        assert sorted(torch.bincount(CLASSES[batch])[torch.bincount(CLASSES[batch]) > 0]) == [4] * 3
    assert len(next(iter(sampler(BINARY, 2, size=64)))) == 50  # no more than there are


@pytest.mark.parametrize(
    ("target", "classes", "how", "message"),
    [
        (CLASSES, 5, dict(size=12, positives=4), r"batches\.positives is for two classes"),
        (BINARY, 2, dict(size=12, per_class=4), r"batches\.per_class is for one of several"),
        (BINARY, 2, dict(size=12, positives=8), "positives must be at most the 6 positives"),
        (CLASSES, 5, dict(size=24, per_class=4), "classes must be at most the 5 classes"),
    ],
)
def test_what_cannot_be_is_said(target, classes, how, message):
    with pytest.raises(UsageError, match=message):
        sampler(target, classes, **how)
