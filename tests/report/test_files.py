from __future__ import annotations

import json

import numpy as np
import pytest

from rankwise.report import write_csv, write_json
from rankwise.report.files import read_arrays, write_arrays


def test_csv_has_the_columns_of_all_rows(tmp_path):
    path = write_csv(tmp_path / "d.csv", [{"a": 1, "b": "x, y"}, {"a": 2, "c": 3}])
    assert path.read_text() == 'a,b,c\n1,"x, y",\n2,,3\n'


def test_json_refuses_what_json_is_not(tmp_path):
    assert json.loads(write_json(tmp_path / "s.json", {"π": 0.1}).read_text()) == {"π": 0.1}
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "s.json", {"x": float("nan")})


def test_arrays_come_back_by_name(tmp_path):
    arrays = {"a": np.arange(3), "b": np.array([[0.5, np.inf]])}
    found = read_arrays(write_arrays(tmp_path / "new" / "a.npz", arrays))
    assert list(found) == ["a", "b"]
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype


def test_objects_are_never_unpickled(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.array([{}]))
    with pytest.raises(ValueError, match="allow_pickle"):
        read_arrays(tmp_path / "a.npz")
