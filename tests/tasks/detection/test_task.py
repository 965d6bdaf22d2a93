"""The step itself; whether it learns is in the tests of training."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch
from tests.tasks.detection.cases import losses, settings, splits
from tests.tasks.retrieval.cases import states_equal
from tests.training.processes import run_two

from rankwise.errors import UsageError
from rankwise.tasks.detection.dataset import DetectionBatch
from rankwise.tasks.detection.settings import Objective, Settings
from rankwise.tasks.detection.task import DetectionTask, make_loss, new_detector, train
from rankwise.training import Learner

SGD = {"name": "sgd", "learning_rate": 0.1, "momentum": 0.9, "s": 0}
STILL = {"expand": 1, "colors": False, "flip": False, "cache": False}


@pytest.fixture(autouse=True)
def own_random_numbers():
    with torch.random.fork_rng(devices=[]):
        yield


def learner_of(asked: Settings) -> Learner:
    return Learner(DetectionTask(splits(), asked))


def batch(seed=0):
    pictures = torch.rand(2, 3, 64, 64, generator=torch.Generator().manual_seed(seed))
    return DetectionBatch(
        pictures,
        [
            {
                "boxes": torch.tensor([[4.0, 4, 22, 24], [30, 30, 50, 48]]),
                "labels": torch.tensor([0, 1]),
            },
            {"boxes": torch.tensor([[10.0, 20, 28, 38]]), "labels": torch.tensor([1])},
        ],
    )


def test_the_seed_decides_the_detector_and_what_is_drawn_next():
    found = []
    for seed in (3, 3, 4):
        network = new_detector(settings(training={"seed": seed}), 2)
        found.append((network.state_dict(), torch.rand(3)))
    assert states_equal(found[0][0], found[1][0])
    assert torch.equal(found[0][1], found[1][1])
    assert not states_equal(found[0][0], found[2][0])


def test_every_loss_starts_from_the_same_weights():
    one, other = (
        new_detector(settings(objective={"name": name}), 2).state_dict()
        for name in ("focal", "stable_ap")
    )
    differ = {name for name in one if not torch.equal(one[name], other[name])}
    assert differ == {"head.scores.bias"}


def test_the_total_is_the_weighted_sum_of_its_parts():
    weights = {"box_weight": 3.0, "bias_weight": 0.5, "classification_weight": 0.25}
    learner = learner_of(settings(objective=weights))
    found = losses(learner, batch())
    assert found.positives > 0
    parts = 0.25 * found.classification + 3 * found.boxes + 0.5 * found.bias
    torch.testing.assert_close(found.total, parts)
    assert min(found.classification.item(), found.boxes.item()) > 0.01


def test_the_two_forms_of_the_bias_differ_by_the_square_of_the_positives():
    found = {
        form: losses(learner_of(settings(objective={"bias_form": form})), batch())
        for form in ("sum", "mean")
    }
    n = found["sum"].positives
    assert n == found["mean"].positives > 1
    assert found["sum"].bias.item() > 0
    torch.testing.assert_close(found["sum"].bias, n**2 * found["mean"].bias)


def test_a_step_is_one_of_gradient_descent():
    learner = learner_of(settings(optimizer=SGD))
    by_hand = learner_of(settings(optimizer=SGD))
    total = losses(by_hand, batch()).total
    total.backward()
    assert learner.step(batch()) == pytest.approx(total.item(), rel=1e-6)
    assert learner.done == 1
    after = dict(learner.task.network.named_parameters())
    for name, parameter in by_hand.task.network.named_parameters():
        if parameter.grad is None:  # of stages that no level looks at
            assert name.startswith("features.stages.")
            continue
        wanted = parameter.detach() - 0.1 * parameter.grad
        torch.testing.assert_close(after[name].detach(), wanted, rtol=1e-5, atol=1e-7)


def moved(learner):
    """How far one step moves all parameters together."""
    before = torch.cat([p.detach().flatten() for p in learner.task.network.parameters()])
    learner.step(batch())
    after = torch.cat([p.detach().flatten() for p in learner.task.network.parameters()])
    return (after - before).norm().item()


def test_a_clipped_gradient_moves_it_as_far_as_it_is_long():
    clipped = learner_of(settings(optimizer=SGD, training={"clip": 0.01}))
    assert moved(clipped) == pytest.approx(0.1 * 0.01, rel=1e-3)
    assert moved(learner_of(settings(optimizer=SGD))) > 0.1 * 0.02


def test_the_rate_of_a_step_is_that_of_its_number():
    asked = settings(optimizer={**SGD, "milestones": [3], "factor": 0.5}, training={"warm_up": 1})
    learner, rates = learner_of(asked), []
    for _ in range(4):
        learner.step(batch())
        rates.append(learner.optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx([0.05, 0.1, 0.1, 0.05])


def test_what_is_frozen_is_not_with_the_optimizer_and_stays():
    learner = learner_of(settings(network={"frozen": 5}, optimizer={"weight_decay": 0.5}))
    known = {id(p) for group in learner.optimizer.param_groups for p in group["params"]}
    assert not known & {id(p) for p in learner.task.network.features.parameters()}
    before = copy.deepcopy(learner.task.network.state_dict())
    learner.step(batch())
    after = learner.task.network.state_dict()
    changed = [name for name in before if not torch.equal(before[name], after[name])]
    assert {name.partition(".")[0] for name in changed} == {"pyramid", "head"}


def test_maps_in_place_of_images_have_the_same_loss():
    learner = learner_of(settings(network={"frozen": 5}))
    given = batch()
    with torch.no_grad():
        maps = learner.task.network.maps(given.images)
        plain, kept = losses(learner, given), losses(learner, DetectionBatch(maps, given.targets))
    assert torch.equal(plain.total, kept.total)


@pytest.mark.parametrize(
    "changes",
    [
        {"objective": {"name": "soprc"}},
        {"objective": {"name": "stable_ap"}},
        {"objective": {"name": "stable_ap", "previous": True}},
        {
            "objective": {"regions": "stable_ap", "previous": True},
            "network": {"stages": 2, "region_width": 8},
        },
    ],
    ids=["soprc", "stable_ap", "previous", "two stages"],
)
def test_a_state_goes_on_where_it_was(changes):
    asked = settings(**changes, optimizer=SGD)
    whole = learner_of(asked)
    for seed in range(2):
        whole.step(batch(seed))
    state = copy.deepcopy(whole.state_dict())
    other = learner_of(settings(**changes, optimizer=SGD, training={"seed": 9}))
    assert not states_equal(other.task.network.state_dict(), whole.task.network.state_dict())
    other.load_state_dict(state)
    assert [other.step(batch(seed)) for seed in (2, 3)] == [
        whole.step(batch(seed)) for seed in (2, 3)
    ]


def test_the_previous_parameters_are_those_of_the_step_before():
    asked = settings(objective={"previous": True, "warm_start": 1}, optimizer=SGD)
    learner = learner_of(asked)
    task = learner.task
    assert set(task.modules()) == {"network", "loss", "previous"}
    seen, call = [], task.loss.forward
    task.loss.forward = lambda *given, **more: seen.append(more) or call(*given, **more)
    for seed in range(3):
        before = {n: p.detach().clone() for n, p in task.network.named_parameters()}
        earlier = copy.deepcopy(task.previous.state_dict())
        learner.step(batch(seed))
        kept = task.previous.state_dict()
        assert all(torch.equal(kept[f"previous_{n.replace('.', '__')}"], before[n]) for n in before)
        if seed == 0:  # by focal loss, which has no mean to follow
            assert not seen
            continue
        old = new_detector(asked, 2)
        old.load_state_dict(task.network.state_dict())
        for name, parameter in old.named_parameters():
            parameter.data.copy_(earlier[f"previous_{name.replace('.', '__')}"])
        with torch.no_grad():
            expected = old(batch(seed).images).logits
        torch.testing.assert_close(seen[-1]["previous_logits"], expected)
        assert not seen[-1]["previous_logits"].requires_grad
    assert len(seen) == 2


@pytest.mark.parametrize("name", ["focal", "alrp", "soprc"])
def test_previous_parameters_are_for_a_loss_with_a_mean(name):
    with pytest.raises(UsageError, match=f"objective.previous is for stable_ap, got {name}"):
        make_loss(Objective(name=name, previous=True), 2)


def test_half_precision_is_of_the_network_and_not_of_the_loss():
    learner = learner_of(settings(training={"precision": "bfloat16"}))
    seen = []
    learner.task.network.head.scores.register_forward_hook(
        lambda _, __, out: seen.append(out.dtype)
    )
    found = losses(learner, batch())
    assert set(seen) == {torch.bfloat16}
    assert found.total.dtype == torch.float32
    assert all(p.dtype == torch.float32 for p in learner.task.network.parameters())


def test_a_step_trains_a_network_that_was_being_judged():
    learner = learner_of(settings())
    learner.task.network.eval()
    learner.task.loss.eval()
    learner.step(batch())
    assert learner.task.network.training
    assert learner.task.loss.training


def test_a_list_for_each_class_is_another_loss():
    pooled, apart = (
        losses(learner_of(settings(objective={"pooled": together})), batch())
        for together in (True, False)
    )
    assert pooled.classification.item() != apart.classification.item()
    torch.testing.assert_close(pooled.boxes, apart.boxes)


@pytest.mark.parametrize("name", ["", "ap(", "stable_ap(color=3)", "xbm(ap)"])
def test_a_loss_that_cannot_be_is_one_line(name):
    with pytest.raises(UsageError, match=r"^objective: ") as caught:
        make_loss(Objective(name=name), 2)
    assert "\n" not in str(caught.value)


def work(rank: int, folder: str) -> None:
    """Called in two processes, with half of the images each."""
    asked = settings(optimizer=SGD, training={"batch": 2}, augmentations=STILL)
    trained = train(splits(), asked, Path(folder) / "run")
    found = {"network": trained.network.state_dict(), "history": trained.history}
    torch.save(found, Path(folder) / f"{rank}.pt")


def test_two_processes_train_on_their_images_together(tmp_path):
    run_two("tests.tasks.detection.test_task", "work", str(tmp_path))
    one, other = (torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in range(2))
    assert one["history"] == other["history"]
    assert states_equal(one["network"], other["network"])
    asked = settings(optimizer=SGD, training={"batch": 4}, augmentations=STILL)
    alone = train(splits(), asked)
    for ours, theirs in zip(one["history"], alone.history, strict=True):
        assert ours["loss"] == pytest.approx(theirs["loss"], rel=1e-4)
    for name, value in alone.network.state_dict().items():
        torch.testing.assert_close(one["network"][name], value, rtol=1e-4, atol=1e-5)
