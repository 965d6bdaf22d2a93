from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys

import pytest

import rankwise
from rankwise._record import read_part
from rankwise.errors import UsageError
from rankwise.files import part_of, write_whole
from rankwise.training import (
    RunFolder,
    command_of,
    is_empty,
    open_folder,
    require_free,
    require_unchanged,
    run_folder,
)


def about(folder):
    return json.loads((folder / "run.json").read_text())


def test_run_json_names_the_command_the_version_and_every_part(tmp_path):
    out = tmp_path / "run"
    with RunFolder(out, "contrast").opened() as folder:
        folder.write("checkpoint.pt", b"abc")
        assert about(out)["finished"] is False
        (out / "inner").mkdir()
        (out / "inner" / "config.json").write_text("{}")
        folder.finish()
    assert command_of(out) == "contrast"
    assert command_of(tmp_path) is None
    found = about(out)
    assert found["format"] == 1
    assert found["command"] == "rankwise contrast"
    assert found["version"] == rankwise.__version__
    assert found["finished"] is True
    assert found["parts"] == {
        "checkpoint.pt": [hashlib.sha256(b"abc").hexdigest()],
        "inner/config.json": [hashlib.sha256(b"{}").hexdigest()],
    }
    assert sorted(path.name for path in out.iterdir()) == ["checkpoint.pt", "inner", "run.json"]


def test_a_part_is_verified_and_its_forerunner_is_right_too(tmp_path):
    with RunFolder(tmp_path, "contrast").opened() as folder:
        assert folder.read("checkpoint.pt") is None
        folder.write("checkpoint.pt", b"one")
        folder.write("checkpoint.pt", b"two")
        assert folder.read("checkpoint.pt") == b"two"
        # Killed between run.json and the part: the older one is still there.
        (tmp_path / "checkpoint.pt").write_bytes(b"one")
        assert folder.read("checkpoint.pt") == b"one"
        for content in (b"twp", b"", b"twoo"):
            (tmp_path / "checkpoint.pt").write_bytes(content)
            with pytest.raises(UsageError, match=r"checkpoint\.pt: was changed or damaged"):
                read_part(tmp_path, "checkpoint.pt")


def test_a_file_of_a_finished_run_is_verified_where_its_digest_is_known(tmp_path):
    with RunFolder(tmp_path / "run", "contrast").opened() as folder:
        (tmp_path / "run" / "model").write_bytes(b"abc")
        folder.finish()
    require_unchanged(tmp_path / "run", "model", "other")
    (tmp_path / "run" / "model").write_bytes(b"abd")
    with pytest.raises(UsageError, match="model: was changed or damaged"):
        require_unchanged(tmp_path / "run", "model")
    (tmp_path / "model").write_bytes(b"abd")
    require_unchanged(tmp_path, "model")  # a copy without run.json


@pytest.mark.parametrize("resume", [False, True])
def test_the_run_of_another_command_is_never_touched(tmp_path, resume):
    with RunFolder(tmp_path, "rank").opened() as folder:
        folder.write("checkpoint.pt", b"")
    before = (tmp_path / "run.json").read_text()
    for command in ("contrast", "compare"):
        with (
            pytest.raises(UsageError) as refused,
            RunFolder(tmp_path, command).opened(resume=resume),
        ):
            pass
        wanted = f"{tmp_path} holds a run of rankwise rank, not of rankwise {command}; pass another"
        assert wanted in str(refused.value)
    assert (tmp_path / "run.json").read_text() == before


def test_the_own_run_is_resumed_when_asked(tmp_path):
    require_free(tmp_path / "new", "contrast", resume=False)
    require_free(tmp_path / "new", "contrast", resume=True)
    with RunFolder(tmp_path, "contrast").opened():
        (tmp_path / "config.json").write_text("{}")
    # Killed before its first checkpoint, or refused by a setting: there is nothing to be lost.
    for resume in (False, True):
        require_free(tmp_path, "contrast", resume=resume)
    with RunFolder(tmp_path, "contrast").opened() as folder:
        folder.write("checkpoint.pt", b"state")
    require_free(tmp_path, "contrast", resume=True)
    with pytest.raises(UsageError, match="already holds a run; pass --resume to continue it, or"):
        require_free(tmp_path, "contrast", resume=False)
    with RunFolder(tmp_path, "contrast").opened(resume=True) as folder:
        assert folder.read("checkpoint.pt") == b"state"


def test_a_finished_run_is_not_started_again(tmp_path):
    with RunFolder(tmp_path, "contrast").opened() as folder:
        folder.finish()
    with pytest.raises(UsageError, match="already holds a run"):
        require_free(tmp_path, "contrast", resume=False)


@pytest.mark.parametrize("name", ["config.json", "config.yaml", "results.json", "checkpoint.pt"])
def test_files_of_somebody_else_are_not_touched(tmp_path, name):
    (tmp_path / name).write_text("")
    for resume in (False, True):
        with pytest.raises(UsageError, match=rf"holds {name} without run\.json"):
            require_free(tmp_path, "detect", resume=resume)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_other_files_do_not_matter(tmp_path):
    (tmp_path / "data.csv").write_text("")
    require_free(tmp_path, "recommend", resume=False)


@pytest.mark.parametrize("text", ["[]", "{", '{"format": 1}', '{"format": "x"}'])
def test_a_run_json_of_another_kind_is_one_line(tmp_path, text):
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(UsageError, match=r"run\.json: cannot be read as the record of a run"):
        require_free(tmp_path, "detect", resume=True)


def test_a_newer_format_is_not_read(tmp_path):
    with RunFolder(tmp_path, "detect").opened():
        pass
    newer = {**about(tmp_path), "format": 2, "version": "9.0"}
    (tmp_path / "run.json").write_text(json.dumps(newer))
    with pytest.raises(
        UsageError, match=r"has format 2, made by rankwise 9\.0; this version reads"
    ):
        require_free(tmp_path, "detect", resume=True)


def test_what_is_refused_at_once_leaves_no_folder(tmp_path):
    def refuse():
        with RunFolder(tmp_path / "new", "detect").opened():
            raise UsageError("a wrong name")

    with pytest.raises(UsageError, match="a wrong name"):
        refuse()
    assert not (tmp_path / "new").exists()


def test_a_folder_that_is_open_stays_open(tmp_path):
    with open_folder(tmp_path, "detect") as folder:
        with open_folder(folder, "detect") as same:
            assert same is folder
        with pytest.raises(UsageError, match=f"is in use by another process \\({os.getpid()}\\)"):
            RunFolder(tmp_path, "detect").opened().__enter__()
    with open_folder(None, "detect") as nothing:
        assert nothing is None
    with open_folder(tmp_path, "detect", resume=True):
        pass


HELD = """
import os, sys, time
from pathlib import Path
from rankwise.training.run_folder import RunFolder
with RunFolder(Path(sys.argv[1]), "detect").opened(resume=True):
    worker = os.fork()
    if worker:
        print(worker, flush=True)
    time.sleep(100)
"""


def test_a_second_process_is_refused_until_the_first_has_died_whatever_it_has_started(tmp_path):
    command = [sys.executable, "-c", HELD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        worker = int(process.stdout.readline())
        message = rf"is in use by another process \({process.pid}\); wait for it, or pass another"
        with pytest.raises(UsageError, match=message):
            RunFolder(tmp_path, "detect").opened(resume=True).__enter__()
        process.send_signal(signal.SIGKILL)
    assert (tmp_path / ".lock").exists()  # left by the process that was killed
    with RunFolder(tmp_path, "detect").opened(resume=True):
        os.kill(worker, signal.SIGKILL)  # which has outlived it
    assert not (tmp_path / ".lock").exists()


def _count(path, times):
    for _ in range(times):
        try:
            with RunFolder(path, "detect").opened(resume=True):
                number = int((path / "count").read_text())
                (path / "count").write_text(str(number + 1))
        except UsageError as error:
            if "in use" not in str(error):
                raise
        else:
            (path / "mine" / f"{os.getpid()}-{number}").write_text("")


def test_many_processes_never_hold_it_together(tmp_path):
    (tmp_path / "count").write_text("0")
    (tmp_path / "mine").mkdir()
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_count, args=(tmp_path, 40)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert int((tmp_path / "count").read_text()) == len(list((tmp_path / "mine").iterdir())) > 0


def test_what_a_killed_process_left_is_removed_and_does_not_count(tmp_path):
    left = part_of(tmp_path / "run.json")
    left.write_text("{")
    (tmp_path / ".lock").write_text("1\n")
    assert is_empty(tmp_path)
    with RunFolder(tmp_path, "classify").opened():
        assert not left.exists()
    (tmp_path / "notes.txt").write_text("mine")
    assert not is_empty(tmp_path)


@pytest.mark.parametrize("write", [lambda f: f.write("a", b"1"), lambda f: f.finish()])
def test_a_folder_that_is_removed_in_the_middle_of_a_run_is_reported(tmp_path, write):
    out = tmp_path / "run"
    with RunFolder(out, "classify").opened() as folder:
        folder.write("a", b"0")
        shutil.rmtree(out)
        with pytest.raises(UsageError, match="was removed or emptied while the run"):
            write(folder)
    assert not out.exists()


def test_killed_twice_before_the_same_part_the_one_before_is_still_read(tmp_path, monkeypatch):
    with RunFolder(tmp_path, "toy").opened() as folder:
        folder.write("checkpoint.pt", b"first")

    def stop(path, content):
        if path.name == "checkpoint.pt":
            raise KeyboardInterrupt
        return write_whole(path, content)

    monkeypatch.setattr(run_folder, "write_whole", stop)
    for _ in range(3):
        with RunFolder(tmp_path, "toy").opened(resume=True) as folder:
            assert folder.read("checkpoint.pt") == b"first"
            with pytest.raises(KeyboardInterrupt):
                folder.write("checkpoint.pt", b"second")
    assert read_part(tmp_path, "checkpoint.pt") == b"first"


def test_a_run_that_was_stopped_while_it_was_resumed_is_not_used(tmp_path):
    with RunFolder(tmp_path, "toy").opened() as folder:
        (tmp_path / "model").write_bytes(b"abc")
        folder.finish()
    require_unchanged(tmp_path, "model")
    with RunFolder(tmp_path, "toy").opened(resume=True):
        (tmp_path / "model").write_bytes(b"abd")
    with pytest.raises(UsageError, match=r"the run is not finished.*rankwise toy` with --resume"):
        require_unchanged(tmp_path, "model")


def refused(path, changed=None):
    """Resume a run, and fail before or after a part is changed."""
    with RunFolder(path, "toy").opened(resume=True) as folder:
        if changed is not None:
            folder.write(changed, b"abd")
        raise UsageError("other settings")


def test_a_finished_run_stays_finished_where_resuming_it_is_refused(tmp_path):
    with RunFolder(tmp_path, "toy").opened() as folder:
        (tmp_path / "model").write_bytes(b"abc")
        folder.finish()
    before = (tmp_path / "run.json").read_bytes()
    with pytest.raises(UsageError, match="other settings"):
        refused(tmp_path)
    assert (tmp_path / "run.json").read_bytes() == before
    require_unchanged(tmp_path, "model")
    with pytest.raises(UsageError, match="other settings"):
        refused(tmp_path, "model")
    with pytest.raises(UsageError, match="the run is not finished"):
        require_unchanged(tmp_path, "model")
