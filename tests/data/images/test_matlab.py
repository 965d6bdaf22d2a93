"""MATLAB files, which end the process that reads them where they are damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from rankwise.data import DataError
from rankwise.data.images._matlab import read_matlab

CORPUS = Path(__file__).parents[2] / "fuzz" / "corpus"


def test_variables_come_as_plain_values(tmp_path):
    kinds = [("name", object), ("class", object)]
    table = np.array([("ä.jpg", 3), ("b.jpg", 1)], dtype=kinds)
    savemat(tmp_path / "a.mat", {"table": table, "names": np.array(["x", "yy"], object)})
    found = read_matlab(tmp_path / "a.mat", "table")
    assert found == [{"name": "ä.jpg", "class": 3}, {"name": "b.jpg", "class": 1}]
    assert read_matlab(tmp_path / "a.mat", "names") == ["x", "yy"]
    with pytest.raises(DataError, match="holds no variable 'other'"):
        read_matlab(tmp_path / "a.mat", "other")


def test_files_that_are_none(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        read_matlab(tmp_path / "a.mat", "a")
    (tmp_path / "a.mat").write_text("text")
    with pytest.raises(DataError, match="cannot be read as a MATLAB file"):
        read_matlab(tmp_path / "a.mat", "a")


def test_a_file_that_ends_its_reader_is_an_error():
    with pytest.raises(DataError, match="its reader did not survive it"):
        read_matlab(CORPUS / "cars196-032e3b887157", "annotations")
