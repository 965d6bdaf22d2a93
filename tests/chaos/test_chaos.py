"""The short form of ``make chaos``."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys

import pytest
from tests.chaos.faults import Faults, ended, in_child, require_durable
from tests.chaos.states import Watch, digest_of, left_in, restore, state_of

from rankwise.files import write_whole


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


def test_states_that_are_kept_are_those_that_kills_leave(tmp_path):
    out, place = tmp_path / "run", tmp_path / "states"

    def work():
        write_whole(out / "a.txt", "first" * 1000)
        write_whole(out / "below" / "b.txt", "second")
        write_whole(out / "a.txt", "third")

    watch = Watch(out, place)
    assert ended(in_child(lambda: (work(), watch.write()), watch)) == 0
    found = list(left_in(place))
    assert sum(left.what == "half" for left in found) == 3
    assert len({left.digest for left in found}) > 8
    for left in found:
        shutil.rmtree(out, ignore_errors=True)
        kind = "half" if left.what == "half" else "kill"
        assert ended(in_child(work, Faults(out, left.at, kind))) == -signal.SIGKILL
        assert digest_of(state_of(out)) == left.digest, str(left)
        restore(left.state, again := tmp_path / "again")
        assert digest_of(state_of(again)) == left.digest
        shutil.rmtree(again)
