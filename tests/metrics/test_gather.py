"""Two real processes give the value of one."""

import json
import subprocess
import sys

import pytest
import torch

from rankwise import metrics as m

WORKER = """
import json, sys, warnings
import torch, torch.distributed as dist
from rankwise import metrics as m
from rankwise.metrics.gather import gather_rows

rank, store = int(sys.argv[1]), sys.argv[2]
dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=2)
torch.manual_seed(0)
scores, target = torch.randn(50).round(decimals=1), torch.randint(0, 2, (50,))
groups, weight = torch.randint(0, 4, (50,)), torch.randint(0, 3, (50,))
mine = slice(0, 11) if rank == 0 else slice(11, 50)  # unequal shares
results = {"rows": gather_rows(torch.arange(rank + 1)).tolist()}

metric = m.Metric(m.average_precision)
metric.update(scores[mine], target[mine], weight=weight[mine])
results["items"] = metric.compute().item()
metric.reset()
metric.update(scores[mine], target[mine], groups=groups[mine])
results["groups"] = metric.compute().item()
results["again"] = metric.compute().item()
metric.reset()
rows = slice(0, 1) if rank == 0 else slice(1, 5)
metric.update(scores.reshape(5, 10)[rows], target.reshape(5, 10)[rows])
results["lists"] = metric.compute().item()
metric.reset()
if rank == 1:  # a process without data
    metric.update(scores.float(), target, groups=groups)
results["one side"] = metric.compute().item()
metric.reset()
metric.update(scores, target, groups=groups if rank else None)
try:
    metric.compute()
except ValueError as error:
    results["mixed"] = str(error)
metric.reset()
with warnings.catch_warnings(record=True):
    results["empty"] = str(metric.compute().item())
bounded = m.Metric(m.auroc, memory="bounded")
if rank == 1:  # a process without data
    bounded.update(scores, target)
results["bounded"] = [bounded.bounds(), bounded.bounds()]
results["counted"] = gather_rows(bounded.state_dict()["counts"].sum().reshape(1)).tolist()
print(json.dumps(results))
dist.destroy_process_group()
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    store = tmp_path_factory.mktemp("gloo") / "store"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(rank), str(store)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    outputs = [process.communicate(timeout=60) for process in processes]
    for process, (_, errors) in zip(processes, outputs, strict=True):
        assert process.returncode == 0, errors
    return [json.loads(text) for text, _ in outputs]


def test_every_process_has_the_same_value(results):
    assert results[0] == results[1]


def test_unequal_lengths_are_joined_by_rank(results):
    assert results[0]["rows"] == [0, 0, 1]


def test_equal_to_one_process(results):
    torch.manual_seed(0)
    scores, target = torch.randn(50).round(decimals=1), torch.randint(0, 2, (50,))
    groups, weight = torch.randint(0, 4, (50,)), torch.randint(0, 3, (50,))
    expected = {
        "items": m.average_precision(scores, target, weight=weight),
        "groups": m.average_precision(scores, target, groups=groups),
        "again": m.average_precision(scores, target, groups=groups),
        "lists": m.average_precision(scores.reshape(5, 10), target.reshape(5, 10)),
        "one side": m.average_precision(scores, target, groups=groups),
    }
    for name, value in expected.items():
        assert results[0][name] == pytest.approx(float(value), abs=1e-12), name


def test_processes_must_agree_on_the_kind(results):
    assert results[0]["mixed"] == "processes hold different kinds of lists: items, groups"
    assert results[0]["empty"] == "nan"


def test_bounded_counts_are_added(results):
    torch.manual_seed(0)
    scores, target = torch.randn(50).round(decimals=1), torch.randint(0, 2, (50,))
    alone = m.Metric(m.auroc, memory="bounded")
    alone.update(scores, target)
    for one in results:
        assert one["bounded"] == [list(alone.bounds())] * 2
        assert one["counted"] == [0, 50]  # the states themselves do not change
