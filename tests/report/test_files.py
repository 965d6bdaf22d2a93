from __future__ import annotations

import json

import pytest

from rankwise.report import write_csv, write_json, write_whole


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


def test_csv_has_the_columns_of_all_rows(tmp_path):
    path = write_csv(tmp_path / "d.csv", [{"a": 1, "b": "x, y"}, {"a": 2, "c": 3}])
    assert path.read_text() == 'a,b,c\n1,"x, y",\n2,,3\n'


def test_json_refuses_what_json_is_not(tmp_path):
    assert json.loads(write_json(tmp_path / "s.json", {"π": 0.1}).read_text()) == {"π": 0.1}
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "s.json", {"x": float("nan")})
