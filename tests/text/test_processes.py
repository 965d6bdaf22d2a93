from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tests.text.worker import CASES, WORLD, train

WORKER = str(Path(__file__).with_name("worker.py"))


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    folder = tmp_path_factory.mktemp("together")
    process = subprocess.run(
        [sys.executable, WORKER, str(folder)], check=False, timeout=600, capture_output=True,
        text=True,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    return [torch.load(folder / f"{rank}.pt", weights_only=True) for rank in range(WORLD)]


@pytest.mark.parametrize("size", [None, 2], ids=["plain", "cached"])
@pytest.mark.parametrize("name", CASES)
def test_several_processes_train_like_one(together, name, size):
    alone = train(name, size, None)
    assert len(set(alone["values"])) > 1
    for results in together:
        found = results[f"{name} {size}"]
        assert found["values"] == pytest.approx(alone["values"], rel=1e-6)
        torch.testing.assert_close(found["weights"], alone["weights"], rtol=0, atol=1e-6)
        torch.testing.assert_close(found["memory"], alone["memory"], rtol=1e-5, atol=1e-6)
