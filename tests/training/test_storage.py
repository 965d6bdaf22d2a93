from __future__ import annotations

import uuid

import fsspec
import pytest

from rankwise.errors import UsageError
from rankwise.files import after_write, write_whole
from rankwise.training import RunFolder
from rankwise.training.cluster import require_unused, stored
from rankwise.training.storage import Storage


@pytest.fixture(params=["path", "memory"])
def url(request, tmp_path):
    return str(tmp_path / "copy") if request.param == "path" else f"memory://{uuid.uuid4()}/run"


def files(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_folder_and_its_copy_are_the_same(tmp_path, url):
    out = tmp_path / "run"
    with stored(url, out, resume=False), RunFolder(out, "toy").opened() as folder:
        folder.write("checkpoint.pt", b"one")
        folder.write("checkpoint.pt", b"two")
        write_whole(out / "part" / "scores.npz", b"scores")
        write_whole(tmp_path / "elsewhere.txt", b"not of the run")
        (out / "study.db").write_bytes(b"rows")  # not written whole
        write_whole(out / "gone.txt", b"removed before the end")
        (out / "gone.txt").unlink()
        folder.finish()
    other = tmp_path / "other"
    copy = Storage(url, other)
    assert copy.holds_run
    copy.fetch()
    assert files(other) == files(out)
    assert files(other)["checkpoint.pt"] == b"two"
    with RunFolder(other, "toy").opened(resume=True) as folder:
        assert folder.read("checkpoint.pt") == b"two"


def test_a_stopped_run_begins_with_the_copy_and_needs_resume(tmp_path, url):
    def stop(out):
        with stored(url, out, resume=False), RunFolder(out, "toy").opened() as folder:
            folder.write("checkpoint.pt", b"one")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop(tmp_path / "run")
    with pytest.raises(UsageError, match="already holds a run; pass --resume to continue it"):
        require_unused(url, tmp_path / "run", resume=False)
    require_unused(url, tmp_path / "run", resume=True)
    require_unused(None, tmp_path / "run", resume=False)
    out = tmp_path / "on another machine"
    with stored(url, out, resume=True), RunFolder(out, "toy").opened(resume=True) as folder:
        assert folder.read("checkpoint.pt") == b"one"


def test_half_a_copy_is_not_read(tmp_path, url):
    out = tmp_path / "run"
    storage = Storage(url, out)
    with after_write(storage.copy):
        write_whole(out / "run.json", b"{}")
    system, root = fsspec.core.url_to_fs(url)
    system.pipe_file(f"{root}/checkpoint.pt.part", b"half")
    storage.fetch()
    assert files(out) == {"run.json": b"{}"}
