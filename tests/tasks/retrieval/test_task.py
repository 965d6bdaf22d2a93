from __future__ import annotations

import itertools

import pytest
import torch
from tests.tasks.retrieval.cases import settings, splits, states_equal

from rankwise.errors import UsageError
from rankwise.memory import PreviousModel
from rankwise.tasks.retrieval.settings import Settings
from rankwise.tasks.retrieval.task import RetrievalTask
from rankwise.training import Learner
from rankwise.vision.image_dataset import ImageBatch

ALONE = 'network.options={"width": 8, "norm": "group"}'  # one image at a time


@pytest.fixture(autouse=True)
def own_random_numbers():
    with torch.random.fork_rng(devices=[]):
        yield


def learner(chosen: Settings) -> tuple[Learner[ImageBatch], list[ImageBatch]]:
    task = RetrievalTask(splits(), chosen)
    return Learner(task), list(itertools.islice(task.batches(0), 3))


def gradients(chosen: Settings, steps: int = 1) -> dict[str, torch.Tensor]:
    """Gradients of the last of some steps, in double precision."""
    found, batches = learner(chosen)
    found.task.network.double()
    found.task.loss.double()
    found.task.augment = _double(found.task.augment)
    if found.task.previous is not None:
        found.task.previous = PreviousModel(found.task.network)
    for batch in batches[:steps]:
        found.step(batch)
    return {
        name: parameter.grad
        for name, parameter in found.task.network.named_parameters()
        if parameter.grad is not None
    }


def _double(views):
    return lambda pictures, device: views(pictures, device).double()


@pytest.mark.parametrize(
    "objective", ["ap", "soprc", "stable_ap", "sup_con", "blackbox_ap", "proxy_anchor"]
)
@pytest.mark.parametrize("more", [(), ("mixup.stages=2",)], ids=["plain", "mixup"])
def test_a_batch_in_parts_gives_the_gradient_of_the_whole(objective, more):
    """Views, mixing and loss are those of the big batch, whatever its parts."""
    chosen = (ALONE, f"objective.name={objective}", "optimizer.name=sgd", *more)
    whole = gradients(settings(*chosen), steps=2)
    parts = gradients(settings(*chosen, "batches.chunk=2"), steps=2)
    assert whole.keys() == parts.keys()
    assert max(float(g.abs().max()) for g in whole.values()) > 1e-4
    for name, gradient in whole.items():
        torch.testing.assert_close(parts[name], gradient, rtol=1e-5, atol=1e-9, msg=name)


def test_the_previous_parameters_are_those_of_the_step_before_also_in_parts():
    chosen = (ALONE, "objective.name=stable_ap(gain=fixed)", "objective.previous=true")
    whole = gradients(settings(*chosen), steps=3)
    parts = gradients(settings(*chosen, "batches.chunk=2"), steps=3)
    for name, gradient in whole.items():
        torch.testing.assert_close(parts[name], gradient, rtol=1e-5, atol=1e-9, msg=name)
    found, batches = learner(settings(*chosen))
    found.step(batches[0])
    before = {n: p.detach().clone() for n, p in found.task.network.named_parameters()}
    found.step(batches[1])
    kept = found.task.previous.get_buffer("previous_projection__weight")
    assert torch.equal(kept, before["projection.weight"])
    assert not torch.equal(kept, found.task.network.projection.weight)


def test_dropout_is_the_same_in_both_passes():
    chosen = settings(ALONE, "batches.chunk=2")
    found, batches = learner(chosen)
    seen = []
    drop = torch.nn.Dropout(0.5)
    found.task.network.backbone.stages[0].register_forward_hook(lambda _, __, out: drop(out))
    found.task.network.register_forward_hook(lambda _, __, out: seen.append(out.detach()))
    found.step(batches[0])
    assert len(seen) == 6
    assert all(map(torch.equal, seen[:3], seen[3:]))
    assert not torch.equal(seen[0], seen[1])


def test_mixup_makes_the_batch_larger_with_labels_to_go_with_it():
    found, batches = learner(settings("mixup.stages=2"))
    seen = []
    loss = found.task.loss.forward
    found.task.loss.forward = lambda e, labels, **more: (
        seen.append((e, labels)) or loss(e, labels, **more)
    )
    found.step(batches[0])
    ((embeddings, labels),) = seen
    assert embeddings.shape == (24, 6)
    expected = [int(found.task.labels[row]) for row in batches[0].rows[::2] for _ in range(8)]
    assert labels.tolist() == expected


def test_the_step_follows_from_its_number():
    one, batches = learner(settings())
    losses = [one.step(batch) for batch in batches]
    other, _ = learner(settings())
    torch.manual_seed(12345)
    torch.rand(7)
    state = torch.get_rng_state()
    assert [other.step(batch) for batch in batches] == losses
    assert torch.equal(torch.get_rng_state(), state)  # nobody else's numbers are used up
    assert states_equal(one.task.network.state_dict(), other.task.network.state_dict())
    another, _ = learner(settings("training.seed=1"))
    assert [another.step(batch) for batch in batches] != losses


def test_half_precision_trains_and_keeps_its_parameters_whole():
    found, batches = learner(settings("training.precision=bfloat16"))
    seen = []
    found.task.network.backbone.stages[1][0].register_forward_hook(
        lambda _, __, out: seen.append(out.dtype)
    )
    before = found.task.network.projection.weight.detach().clone()
    found.step(batches[0])
    assert seen == [torch.bfloat16]
    assert found.task.network.projection.weight.dtype == torch.float32
    assert not torch.equal(found.task.network.projection.weight, before)


def test_the_rate_is_that_of_the_schedule():
    found, batches = learner(settings("optimizer.milestones=[1, 2]", "optimizer.factor=0.5"))
    rates = []
    for batch in batches:
        found.step(batch)
        rates.append(found.optimizer.param_groups[0]["lr"])
    assert rates == [0.01, 0.005, 0.0025]


def test_parts_need_a_network_that_looks_at_one_image():
    with pytest.raises(UsageError, match=r"set network\.freeze_batch_norm: true, or norm: group"):
        learner(settings("batches.chunk=2"))
    learner(settings("batches.chunk=2", "network.freeze_batch_norm=true"))
    learner(settings("batches.chunk=6"))  # all of the batch: no parts
