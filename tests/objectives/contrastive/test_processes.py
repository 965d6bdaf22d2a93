"""Two processes with anchors of their own end where one process with all of them ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tests.objectives.contrastive.processes import WAYS, WORLD, train

WORKER = str(Path(__file__).with_name("processes.py"))


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    folder = tmp_path_factory.mktemp("together")
    process = subprocess.run(
        [sys.executable, WORKER, str(folder)],
        check=False,
        timeout=100,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    return [torch.load(folder / f"{rank}.pt", weights_only=True) for rank in range(WORLD)]


@pytest.mark.parametrize("way", WAYS)
def test_trains_like_one_process(together, way):
    alone = train(way)
    for results in together:
        for part in ("values", "parameters"):
            torch.testing.assert_close(results[way][part], alone[part], rtol=0, atol=1e-6)
        torch.testing.assert_close(results[way]["memory"], alone["memory"], rtol=1e-5, atol=1e-6)
    for name, buffer in together[0][way]["memory"].items():
        assert torch.equal(buffer, together[1][way]["memory"][name]), name
