"""The example of FSDP2 trains on two processes, resumes exactly, and on three."""

from __future__ import annotations

import multiprocessing
import os
import socket
import subprocess
import sys
from pathlib import Path

import torch
from examples.gallery import scripts

from rankwise.distributed import load_sharded
from rankwise.objectives import SOAP

ROOT = Path(__file__).parents[2]
SCRIPT = "examples/distributed/fsdp2.py"
RUNS = (("whole", 4, 2), ("resumed", 2, 2), ("resumed", 4, 2), ("longer", 2, 2), ("longer", 4, 3))


def state(folder: Path) -> tuple[object, ...]:
    memory = SOAP(0.5, num_items=2_000)  # the prior is an option, which is not saved
    load_sharded(torch.nn.ModuleDict({"objective": memory}), folder)
    model, _, precisions = torch.load(folder / "model.pt", weights_only=True)
    return model, precisions, memory.state_dict()


def test_it_trains_and_resumes(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.examples.test_fsdp2", str(tmp_path)],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    whole = _, precisions, memory = state(tmp_path / "whole")
    assert len(precisions) == 5
    assert precisions[0] + 0.2 < precisions[-1]
    assert 0 < int(memory["average.seen"].sum()) < 2_000  # the positives
    torch.testing.assert_close(state(tmp_path / "resumed"), whole, rtol=0, atol=0)
    _, longer, _ = state(tmp_path / "longer")
    assert (longer[:3], len(longer)) == (precisions[:3], 5)


def test_the_page_about_integrations_names_it():
    assert f"`{SCRIPT}`" in (ROOT / "docs" / "integrations.md").read_text()


def launch(folder: Path, epochs: int, processes: int) -> None:
    """Do what torchrun does, without importing torch in every process again."""
    folder.mkdir(exist_ok=True)
    example = scripts.load(ROOT / SCRIPT)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free.getsockname()[1])}
    ranks = []
    for rank in range(processes):
        os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(processes)}
        context = multiprocessing.get_context("fork")
        ranks.append(context.Process(target=example.main, args=(folder, epochs)))
        ranks[-1].start()
    for process in ranks:
        process.join()
    if any(process.exitcode for process in ranks):
        sys.exit(1)


if __name__ == "__main__":
    import torch._dynamo  # FSDP2 imports it when first used: here, before the fork

    for name, epochs, processes in RUNS:
        launch(Path(sys.argv[1]) / name, epochs, processes)
