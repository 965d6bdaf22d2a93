from __future__ import annotations

import json

import pytest

from rankwise.report import write_csv, write_json


def test_csv_has_the_columns_of_all_rows(tmp_path):
    path = write_csv(tmp_path / "d.csv", [{"a": 1, "b": "x, y"}, {"a": 2, "c": 3}])
    assert path.read_text() == 'a,b,c\n1,"x, y",\n2,,3\n'


def test_json_refuses_what_json_is_not(tmp_path):
    assert json.loads(write_json(tmp_path / "s.json", {"π": 0.1}).read_text()) == {"π": 0.1}
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "s.json", {"x": float("nan")})
