"""Damaged files end every reader in one line; none ends the process, hangs or takes all memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_corpus_and_a_thousand_new_inputs_fail_nowhere():
    # In a process of its own: a fork of one that has used polars or OpenMP may wait forever.
    command = [sys.executable, "-m", "tests.fuzz", "--count", "1000", "--seed", "20"]
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    found = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr
    assert "1000 inputs" in found.stdout
