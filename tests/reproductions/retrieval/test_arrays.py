from __future__ import annotations

import time

import numpy as np
import pytest

from reproductions.retrieval.arrays import write_npz

ARRAYS = {
    "rows": np.arange(6, dtype=np.float32).reshape(2, 3),
    "name": np.array("größe"),
    "none": np.zeros((0, 4)),
}


def test_what_is_written_is_read_again(tmp_path):
    path = write_npz(tmp_path / "arrays.npz", ARRAYS)
    assert path == tmp_path / "arrays.npz"
    with np.load(path, allow_pickle=False) as held:
        assert set(held.files) == set(ARRAYS)  # and nothing else
        for name, array in ARRAYS.items():
            assert held[name].dtype == array.dtype
            np.testing.assert_array_equal(held[name], array)


def test_the_same_arrays_make_the_same_bytes_at_another_time(tmp_path, monkeypatch):
    first = write_npz(tmp_path / "first.npz", ARRAYS).read_bytes()
    later = time.localtime(2_000_000_000)
    monkeypatch.setattr(time, "time", lambda: 2_000_000_000.0)
    monkeypatch.setattr(time, "localtime", lambda *_: later)
    assert write_npz(tmp_path / "second.npz", ARRAYS).read_bytes() == first
    other = {**ARRAYS, "rows": ARRAYS["rows"] + 1}
    assert write_npz(tmp_path / "third.npz", other).read_bytes() != first


def test_pickles_are_refused_and_what_was_there_stays(tmp_path):
    path = write_npz(tmp_path / "arrays.npz", ARRAYS)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"(?i)object arrays cannot be saved"):
        write_npz(path, {"objects": np.array([{"a": 1}], dtype=object)})
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["arrays.npz"]


def test_a_folder_that_is_not_there_is_made(tmp_path):
    path = write_npz(tmp_path / "new" / "arrays.npz", {"one": np.ones(1)})
    with np.load(path) as held:
        assert held["one"].tolist() == [1]
