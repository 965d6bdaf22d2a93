from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from tests.compiling import check_compiled_loss, check_compiled_step, quiet_compiler
from tests.distributed.cases import CASES, ROWS, train, whole_lists
from tests.distributed.disagreements import BAD, TARGET, scores
from tests.distributed.shared import pair_calls, step_calls

from rankwise.distributed import AcrossProcesses, gather_with_gradient
from rankwise.distributed.exchange import ProcessGroupExchange
from rankwise.memory import DeferredAverage, MemoryUpdate
from rankwise.objectives import SOPRC, AveragePrecision

WORKER = str(Path(__file__).with_name("worker.py"))
FUNCTIONS = (
    "complaints",
    "pairs",
    "collectives",
    "nothing",
    "dtypes",
    "reductions",
)  # after the complaints all are still in step


def run(*command: str) -> None:
    process = subprocess.run(
        [sys.executable, *command], check=False, timeout=100, capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr


def results_of(folder: Path, world: int) -> list[dict]:
    return [torch.load(folder / f"{world}.{rank}.pt", weights_only=True) for rank in range(world)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("together")
    run(WORKER, str(folder), *FUNCTIONS, *CASES, "--fork", "2", "--fork", "3")
    return folder


@pytest.fixture(scope="module", params=[2, 3])
def together(request, folder):
    return results_of(folder, request.param)


def assert_same_training(several: list[dict], alone: dict) -> None:
    assert alone["moved"] > 1e-3
    for one in several:
        for part in ("values", "parameters"):
            torch.testing.assert_close(one[part], alone[part], rtol=0, atol=1e-6)
        torch.testing.assert_close(one["memory"], alone["memory"], rtol=1e-5, atol=1e-6)
        assert one["memory"].keys() == several[0]["memory"].keys()
        for name, buffer in one["memory"].items():
            assert torch.equal(buffer, several[0]["memory"][name]), name


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:.*no list of this batch has both classes:RuntimeWarning")
def test_trains_like_one_process(together, name):
    alone = train(CASES[name], len(together))
    assert_same_training([results[name] for results in together], alone)


@pytest.mark.parametrize("call", BAD)
def test_disagreement_raises_on_all(together, call):
    said = {results["complaints"][call.__name__] for results in together}
    assert len(said) == 1
    assert re.search(BAD[call], said.pop())


def test_nothing_anywhere_is_zero_with_a_graph(together):
    assert [results["nothing"] for results in together] == [[0.0, False]] * len(together)


def test_each_rank_keeps_its_dtype(together):
    world = len(together)
    alone = scores(4, 2).detach()[:, 0].repeat(world).requires_grad_()
    value = AveragePrecision()(alone, TARGET.repeat(world))
    value.backward()
    for rank, results in enumerate(together):
        found, dtype, own_dtype, gradient = results["dtypes"]
        assert found == pytest.approx(value.item(), rel=1e-6)
        assert dtype == ("torch.float32" if world == 2 else "torch.float64")
        assert own_dtype == ("torch.float32", "torch.bfloat16", "torch.float64")[rank]
        expected = world * alone.grad.reshape(world, 4)[rank]
        torch.testing.assert_close(torch.tensor(gradient), expected, rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("reduction", ["sum", "none"])
@pytest.mark.parametrize("kind", ["lists", "items"])
def test_sums_and_single_values_are_those_of_one_process(together, reduction, kind):
    """Of whole lists ``none`` gives each rank its own values, which no rank scales or adds up."""
    world = len(together)
    table, target = whole_lists(world)
    if kind == "items":
        table, target = table.flatten(), target.flatten()
    table = table.clone().requires_grad_()
    alone = AveragePrecision(reduction=reduction)(table, target)
    alone.sum().backward()
    own_values = reduction == "none" and kind == "lists"
    for rank, results in enumerate(together):
        value, gradient = results["reductions"][f"{reduction} of {kind}"]
        expected = alone.detach()[ROWS * rank :][:ROWS] if own_values else alone.detach()
        torch.testing.assert_close(value, expected, rtol=0, atol=1e-6)
        times = 1 if own_values else world
        own = times * table.grad.chunk(world)[rank]
        torch.testing.assert_close(gradient, own, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", pair_calls())
def test_shared_pairs_have_the_sums_and_gradients_of_one_process(together, name):
    function, inputs = pair_calls()[name]
    for tensor in inputs.values():
        tensor.requires_grad_()
    values = function(**inputs)
    ((values * torch.arange(1, 1 + values.shape[-1])) ** 2).sum().backward()
    expected = [values.detach(), *(tensor.grad for tensor in inputs.values())]
    for results in together:
        for found, first, wanted in zip(
            results["pairs"][name], together[0]["pairs"][name], expected, strict=True
        ):
            torch.testing.assert_close(found, wanted, rtol=1e-6, atol=1e-6 * wanted.abs().max())
            assert torch.equal(found, first)


@pytest.mark.parametrize("name", step_calls())
def test_a_step_has_few_collectives(together, name):
    """Three forward: arguments, what memories learn before the risks, and after. One backward."""
    for results in together:
        forward, backward = results["collectives"][name]
        assert forward <= 3
        assert backward <= 1


def test_under_torchrun(tmp_path):
    name = "soprc of unequal lists"
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    run(*launcher, WORKER, str(tmp_path), name)
    alone = train(CASES[name], 2)
    assert_same_training([results[name] for results in results_of(tmp_path, 2)], alone)


def test_one_process_is_the_objective_itself():
    alone, wrapped = SOPRC(0.1), AcrossProcesses(SOPRC(0.1))
    assert torch.equal(wrapped(scores(4), TARGET), alone(scores(4), TARGET))
    for name, buffer in alone.state_dict().items():
        assert torch.equal(wrapped.state_dict()[f"objective.{name}"], buffer)
    rows = scores(4, 2)
    assert gather_with_gradient(rows) is rows


def test_wants_an_objective():
    with pytest.raises(ValueError, match=r"OneVsRest or FairnessConstraint, got MSE"):
        AcrossProcesses(torch.nn.MSELoss())


@quiet_compiler
def test_compiled_it_runs_in_eager_mode_quietly():
    check_compiled_loss(lambda: AcrossProcesses(SOPRC(0.1)), scores(4).detach(), TARGET)
    check_compiled_step(lambda: AcrossProcesses(SOPRC(0.1)), scores(4).detach(), TARGET)


@pytest.fixture
def alone(tmp_path):
    """A process group of one: the real collectives, without another process to start."""
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    yield ProcessGroupExchange()
    dist.destroy_process_group()


def test_rows_totals_and_sums_of_one_process(alone):
    list_ids, values, own = alone.rows(torch.tensor([4, 2]), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert list_ids.tolist() == [4, 2]
    assert values.tolist() == [[1, 2], [3, 4]]
    assert (own.start, own.stop) == (0, 2)
    assert alone.total(torch.tensor(3.0)).item() == 3
    memory = DeferredAverage(5, ema_rate=0.5)
    own = MemoryUpdate(memory, torch.tensor([3]), torch.tensor([[7.0]]))
    total = torch.tensor(6.0, requires_grad=True)
    (update,), joined, count = alone.join([own], total, 4)
    assert (update.ids.tolist(), update.estimates.tolist()) == ([3], [[7.0]])
    assert (joined.item(), count) == (6, 4)
    (gradient,) = torch.autograd.grad(joined / count, total)
    assert gradient.item() == 0.25


def test_an_objective_asks_it_and_says_the_same(alone):
    torch.manual_seed(0)
    scores, target = torch.randn(5, 20, requires_grad=True), torch.rand(5, 20) < 0.3
    plain, live = SOPRC(0.1, num_lists=3), SOPRC(0.1, num_lists=3)
    live.exchange = alone
    list_ids = torch.tensor([0, 1, 1, 2, 0])
    for _ in range(2):
        a, b = plain(scores, target, list_ids=list_ids), live(scores, target, list_ids=list_ids)
        torch.testing.assert_close(a, b)
    for name, value in plain.state_dict().items():
        torch.testing.assert_close(live.state_dict()[name], value)


def test_a_batch_of_one_class_on_all_processes_is_reported_once(alone):
    objective = SOPRC(0.1)
    objective.exchange = alone
    scores = torch.randn(2, 5, requires_grad=True)
    with pytest.warns(RuntimeWarning, match=r"\(2 lists, 0 positives, 10 negatives\)"):
        objective(scores, torch.zeros(2, 5))
    objective(scores, torch.zeros(2, 5))  # a warning would be an error here
