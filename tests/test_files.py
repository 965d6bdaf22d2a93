from __future__ import annotations

import pytest

from rankwise.files import write_whole


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
