"""The short form of ``make chaos``."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.chaos.faults import require_durable


def test_killed_runs_resume_to_the_bytes_of_undisturbed_ones():
    command = [sys.executable, "-m", "tests.chaos", "--short"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 runs lost, 0 different, 0 remarks" in done.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        ([("open", "/a/.1.part"), ("rename", "/a/.1.part")], "renamed before it was flushed"),
        (
            [("open", "/a/.1.part"), ("fsync", "/a/.1.part"), ("rename", "/a/.1.part")],
            "the folder of",
        ),
    ],
)
def test_a_rename_that_may_come_before_its_content_is_found(trace, message):
    with pytest.raises(AssertionError, match=message):
        require_durable(trace)
