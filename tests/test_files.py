from __future__ import annotations

import errno
import io
import json
import math
import os
import zipfile

import numpy as np
import pytest

from rankwise.errors import UsageError
from rankwise.files import (
    nan_to_none,
    part_of,
    read_json,
    read_npz,
    remove_parts,
    write_csv,
    write_json,
    write_npz,
    write_whole,
)


def test_files_appear_whole_and_leave_nothing_beside_them(tmp_path):
    path = tmp_path / "new" / "page.html"
    assert write_whole(path, "π") == path
    write_whole(path, b"second")
    assert path.read_bytes() == b"second"
    assert [p.name for p in path.parent.iterdir()] == ["page.html"]


def test_a_failed_write_keeps_what_was_there(tmp_path, monkeypatch):
    path = write_whole(tmp_path / "a", "old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_an_error_names_the_file_that_could_not_be_written(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match=r"No space left on device: '.*page\.html'"):
        write_whole(tmp_path / "page.html", "text")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_the_umask_decides_who_may_read_a_file(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        path = write_whole(tmp_path / "a", "text")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == mode


def test_only_what_was_half_written_is_removed(tmp_path):
    half, folder = part_of(tmp_path / "a"), part_of(tmp_path / "below" / "b")
    half.write_text("half")
    folder.mkdir(parents=True)
    (folder / "c").write_text("half")
    kept = [tmp_path / ".hidden", tmp_path / "below" / "a.part", tmp_path / ".a.part"]
    for path in kept:
        path.write_text("mine")
    remove_parts(tmp_path)
    assert sorted(p for p in tmp_path.rglob("*") if p.is_file()) == sorted(kept)
    assert not folder.exists()


def test_arrays_come_back_and_equal_arrays_make_equal_files(tmp_path):
    arrays = {"scores": np.arange(6.0).reshape(2, 3), "names": np.array(["a", "ä"]), "n": 3}
    first = write_npz(tmp_path / "a.npz", arrays)
    found = read_npz(first)
    assert list(found) == ["scores", "names", "n"]
    assert found["scores"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found["names"].tolist() == ["a", "ä"]
    assert int(found["n"]) == 3
    assert first.read_bytes() == write_npz(tmp_path / "b.npz", arrays).read_bytes()
    with zipfile.ZipFile(first) as file:
        assert {info.date_time[0] for info in file.infolist()} == {1980}


def test_arrays_of_objects_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        write_npz(tmp_path / "a.npz", {"a": np.array([None])})
    assert not list(tmp_path.iterdir())


def test_objects_are_never_unpickled(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.array([{}]))
    with pytest.raises(ValueError, match="allow_pickle"):
        read_npz(tmp_path / "a.npz", foreign=True)
    with pytest.raises(ValueError, match="has no SHA-256 in it"):
        read_npz(tmp_path / "a.npz")


def test_csv_has_the_columns_of_all_rows(tmp_path):
    path = write_csv(tmp_path / "d.csv", [{"a": 1, "b": "x, y"}, {"a": 2, "c": 3}])
    assert path.read_text() == 'a,b,c\n1,"x, y",\n2,,3\n'


def test_json_refuses_what_json_is_not(tmp_path):
    assert json.loads(write_json(tmp_path / "s.json", {"π": 0.1}).read_text()) == {"π": 0.1}
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "s.json", {"x": float("nan")})


def test_nan_is_none_at_any_depth():
    assert nan_to_none({"a": {"b": math.nan, "c": 1.0}, "d": "e"}) == {
        "a": {"b": None, "c": 1.0},
        "d": "e",
    }
    assert nan_to_none(math.nan) is None


def test_an_array_that_announces_what_it_does_not_hold_takes_no_memory(tmp_path):
    made = io.BytesIO()
    np.lib.format.write_array(made, np.arange(3.0))
    content = made.getvalue().replace(b"(3,), }         ", b"(3000000000,), }")
    assert b"3000000000" in content
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("a.npy", content)
    with pytest.raises(UsageError, match="24 bytes where its head announces 24000000000"):
        read_npz(path, foreign=True)


def test_members_that_grow_too_large_are_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("rankwise.limits.FREE_GROWTH", 1 << 16)
    path = write_npz(tmp_path / "a.npz", {"a": np.zeros(1_000_000)})
    with pytest.raises(UsageError, match=r"a.npz: would grow from .* to 8,000,128 bytes"):
        read_npz(path)
    np.savez(path, a=np.zeros(1_000_000))  # as large as it is
    assert read_npz(path, foreign=True)["a"].shape == (1_000_000,)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": NaN}', "NaN is not a number of JSON"),
        (b'{"a": ' + b"9" * 5000 + b"}", "digits"),
        (b"\xff", "is not JSON"),
        (b"", "is not JSON"),
    ],
)
def test_json_that_is_none_is_one_error(tmp_path, content, message):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=message):
        read_json(path)


def test_json_of_any_size_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr("rankwise.files.MAX_JSON_BYTES", 10)
    path = write_json(tmp_path / "a.json", {"name": "long enough"})
    with pytest.raises(UsageError, match="at most 10; give the file that rankwise wrote"):
        read_json(path)
