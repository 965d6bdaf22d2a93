from __future__ import annotations

import copy

import pytest
import torch
from tests.training.toy import Toy, equal, flat

from rankwise.training import Devices, Learner, Options, Place


@pytest.fixture(autouse=True)
def own_random_numbers():
    with torch.random.fork_rng(devices=[]):
        yield


def steps(task: Toy, count: int = 3) -> list[float]:
    learner, each = Learner(task), task.options.accumulate
    batches = task.batches(0)
    return [learner.step(*(next(batches) for _ in range(each))) for _ in range(count)]


def test_accumulated_batches_make_the_step_of_one_large_batch():
    small, large = Toy(options=Options(accumulate=3)), Toy(size=24)
    losses = []
    for task, rows in ((small, torch.arange(24).split(8)), (large, [torch.arange(24)])):
        learner = Learner(task)
        losses.append([learner.step(*rows) for _ in range(3)])
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)
    torch.testing.assert_close(flat(small.network), flat(large.network), rtol=1e-5, atol=1e-7)
    torch.testing.assert_close(small.loss.shift, large.loss.shift, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("chunk", [8, 3, 1])
@pytest.mark.parametrize("accumulate", [1, 2])
def test_gradient_caching_takes_the_plain_step(chunk, accumulate):
    options = Options(accumulate=accumulate)
    plain, cached = Toy(noise=0.1, options=options), Toy(noise=0.1, chunk=chunk, options=options)
    assert steps(plain) == pytest.approx(steps(cached), rel=1e-6)
    torch.testing.assert_close(flat(plain.network), flat(cached.network), rtol=1e-5, atol=1e-7)
    torch.testing.assert_close(plain.loss.shift, cached.loss.shift, rtol=1e-5, atol=1e-7)


def test_a_clipped_gradient_has_the_norm_that_was_asked_for():
    task = Toy(options=Options(clip=1e-3))
    before = torch.cat([flat(task.network), flat(task.loss)])
    steps(task, 1)
    moved = (torch.cat([flat(task.network), flat(task.loss)]) - before).norm().item()
    assert moved == pytest.approx(0.05 * 1e-3, rel=1e-3)


def test_the_average_follows_the_weights_and_is_what_is_evaluated():
    task = Toy(options=Options(ema_rate=0.25))
    learner, batches = Learner(task), task.batches(0)
    expected = flat(task.network)
    for _ in range(3):
        learner.step(next(batches))
        expected = 0.75 * expected + 0.25 * flat(task.network)
    own = flat(task.network)
    with learner.evaluation():
        torch.testing.assert_close(flat(task.network), expected)
        assert not task.network.training
    assert torch.equal(flat(task.network), own)


@pytest.mark.parametrize("precision", ["bf16", "bfloat16"])
def test_half_precision_is_of_the_network_and_not_of_its_parameters(precision):
    task, seen = Toy(options=Options(precision=precision)), []
    task.network[0].register_forward_hook(lambda _, __, out: seen.append(out.dtype))
    full = Toy()
    assert steps(task) == pytest.approx(steps(full), rel=0.05)
    assert seen == [torch.bfloat16] * 3
    assert {p.dtype for p in task.network.parameters()} == {torch.float32}
    assert not torch.equal(flat(task.network), flat(full.network))


class Scaled(Devices):
    """Devices with a gradient scaler, as 16 has on a GPU."""

    def __init__(self) -> None:
        super().__init__()
        from lightning_fabric.plugins.precision.amp import MixedPrecision

        scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
        self.fabric.strategy.precision = MixedPrecision("16-mixed", "cpu", scaler)


@pytest.mark.parametrize("chunk", [None, 3])
@pytest.mark.parametrize("clip", [None, 0.01])
def test_a_scaled_loss_makes_the_step_of_the_unscaled(chunk, clip):
    plain, scaled = (Toy(chunk=chunk, options=Options(clip=clip)) for _ in range(2))
    one, other = Learner(plain), Learner(scaled, Scaled())
    for batch, _ in zip(plain.batches(0), range(3), strict=False):
        one.step(batch)
        other.step(batch)
    torch.testing.assert_close(flat(scaled.network), flat(plain.network), rtol=2e-2, atol=2e-3)
    torch.testing.assert_close(scaled.loss.shift, plain.loss.shift, rtol=2e-2, atol=2e-3)
    assert other.state_dict()["scaler"]["scale"] == 1024.0


def test_a_step_follows_from_seed_step_and_process():
    task = Toy(noise=0.1, dropout=0.5)
    first = steps(task)
    torch.manual_seed(77)
    state = torch.get_rng_state()
    again = Toy(noise=0.1, dropout=0.5)
    torch.set_rng_state(state)
    assert steps(again) == first
    assert torch.equal(torch.get_rng_state(), state)  # the caller's numbers are not used up
    assert equal(task.network.state_dict(), again.network.state_dict())
    assert steps(Toy(noise=0.1, dropout=0.5, seed=1)) != first
    assert steps(Toy(noise=0.1, dropout=0.5, place=Place(rank=1))) != first


def test_the_rate_is_that_of_the_step():
    task = Toy()
    learner, rates = Learner(task), []
    for batch, _ in zip(task.batches(0), range(3), strict=False):
        learner.step(batch)
        rates.append(learner.optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx([0.05, 0.025, 0.05 / 3])


def test_a_state_goes_on_where_it_was():
    whole = Toy(noise=0.1, options=Options(ema_rate=0.5))
    learner, batches = Learner(whole), list(zip(whole.batches(0), range(4), strict=False))
    for batch, _ in batches[:2]:
        learner.step(batch)
    other = Learner(Toy(noise=0.1, options=Options(ema_rate=0.5), rate=0.01))
    other.load_state_dict(copy.deepcopy(learner.state_dict()))
    other.task.top = whole.top
    rest = [batch for batch, _ in batches[2:]]
    assert [other.step(batch) for batch in rest] == [learner.step(batch) for batch in rest]
    assert equal(other.average.state_dict(), learner.average.state_dict())
