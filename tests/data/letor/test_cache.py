"""Parsed lists in a folder of the user."""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy import sparse

from rankwise.data import DataError
from rankwise.data.letor import _letor, read_letor

DENSE = "2 qid:1 1:3 2:3.5 # GX1\n0 qid:1 1:0 2:1\n1 qid:7 1:1 2:1e-3 # é\n"
SPARSE = "".join(f"{n % 3} qid:{n // 4} {10 + n}:0.5 {690 + n}:1\n" for n in range(8))


@pytest.fixture
def reads(monkeypatch):
    """The number of times a text is parsed."""
    found, read = [], _letor._read
    monkeypatch.setattr(_letor, "_read", lambda *a, **k: found.append(1) or read(*a, **k))
    return found


def equal(one, other):
    plain = [x.toarray() if sparse.issparse(x) else x for x in (one.features, other.features)]
    return (type(one.features) is type(other.features) or not sparse.issparse(one.features)) and (
        np.array_equal(*plain)
        and plain[0].dtype == plain[1].dtype == np.float32
        and np.array_equal(one.target, other.target)
        and np.array_equal(one.groups, other.groups)
        and (one.queries, one.documents) == (other.queries, other.documents)
    )


@pytest.mark.parametrize("text", [DENSE, SPARSE])
def test_what_the_cache_holds_is_what_was_read(tmp_path, reads, text):
    path, folder = tmp_path / "train.txt", tmp_path / "cache"
    path.write_text(text)
    plain = read_letor(path)
    first, second = (read_letor(path, cache=folder) for _ in range(2))
    assert len(reads) == 2  # without a cache, and the first time with it
    assert equal(first, plain)
    assert equal(second, plain)
    assert len(list(folder.iterdir())) == 1


def test_nothing_is_kept_without_a_folder(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text(DENSE)
    read_letor(path)
    assert [each.name for each in tmp_path.iterdir()] == ["train.txt"]


def test_writing_to_cached_features_does_not_change_the_cache(tmp_path):
    path, folder = tmp_path / "train.txt", tmp_path / "cache"
    path.write_text(DENSE)
    read_letor(path, cache=folder)
    read_letor(path, cache=folder).features[:] = 9
    assert equal(read_letor(path, cache=folder), read_letor(path))


def test_a_changed_file_is_read_again(tmp_path, reads):
    path, folder = tmp_path / "train.txt", tmp_path / "cache"
    path.write_text(DENSE)
    read_letor(path, cache=folder)
    before = path.stat()
    path.write_text(DENSE.replace("3.5", "4.5"))  # of the same size
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # and of the same time
    assert read_letor(path, cache=folder).features[0, 2] == 4.5
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    read_letor(path, cache=folder)
    assert len(reads) == 3
    assert len(list(folder.iterdir())) == 1  # the old one is replaced


def test_files_of_one_name_and_other_options_do_not_meet(tmp_path):
    folder = tmp_path / "cache"
    for name, text in (("a", "1 qid:1 1:1\n"), ("b", "1 qid:2 1:2\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.txt").write_text(text)
    for _ in range(2):
        for name, query in (("a", "1"), ("b", "2")):
            path = tmp_path / name / "train.txt"
            assert read_letor(path, cache=folder).queries == (query,)
            assert read_letor(path, cache=folder, judged=False).target.tolist() == [0]
            assert read_letor(path, cache=folder).target.tolist() == [1]


@pytest.mark.parametrize(
    "broken", [lambda b: b"", lambda b: b[:100], lambda b: b[:-200], lambda b: b"x" + b[1:]]
)
def test_a_broken_cache_is_written_anew(tmp_path, reads, broken):
    path, folder = tmp_path / "train.txt", tmp_path / "cache"
    path.write_text(DENSE)
    plain = read_letor(path, cache=folder)
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    file.write_bytes(broken(whole))
    assert equal(read_letor(path, cache=folder), plain)
    assert len(reads) == 2
    assert file.read_bytes() == whole


def test_python_objects_are_not_loaded(tmp_path, reads):
    path, folder = tmp_path / "train.txt", tmp_path / "cache"
    path.write_text(DENSE)
    read_letor(path, cache=folder)
    (file,) = folder.iterdir()
    with file.open("wb") as out:
        np.save(out, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    read_letor(path, cache=folder)
    assert len(reads) == 2


def test_a_malformed_file_is_not_cached_and_sizes_are_read_each_time(tmp_path):
    path, folder = tmp_path / "train.txt", tmp_path / "cache"
    path.write_text("1 qid:1 1:x\n")
    for _ in range(2):
        with pytest.raises(DataError, match="line 1: '1:x' is not feature:value"):
            read_letor(path, cache=folder)
    assert not folder.exists()
    path.write_text("1 1:1\n0 1:2\n")
    sizes = tmp_path / "train.txt.query"
    for text, groups in (("2\n", [0, 0]), ("1\n1\n", [0, 1])):
        sizes.write_text(text)
        assert read_letor(path, cache=folder).groups.tolist() == groups
