from __future__ import annotations

import pytest
import torch
import torch.distributed as dist

from rankwise.distributed.live import LiveExchange
from rankwise.objectives import SOPRC


@pytest.fixture
def alone(tmp_path):
    """A process group of one: the real collectives, without another process to start."""
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    yield LiveExchange()
    dist.destroy_process_group()


def test_rows_totals_and_sums_of_one_process(alone):
    list_ids, values, own = alone.rows(torch.tensor([4, 2]), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert list_ids.tolist() == [4, 2]
    assert values.tolist() == [[1, 2], [3, 4]]
    assert (own.start, own.stop) == (0, 2)
    assert alone.total(torch.tensor(3.0)).item() == 3
    total = torch.tensor(6.0, requires_grad=True)
    assert alone.sum(total).item() == 6
    (gradient,) = torch.autograd.grad(alone.sum(total) / 4, total)
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
