from __future__ import annotations

import json

import numpy as np
import pytest
from tests.tasks.compare.stubs import problem, settings, stubbed

from rankwise.data import DataError
from rankwise.tasks.compare.parts import data_of_run, rows_of_part
from rankwise.tasks.compare.pipeline import run

__all__ = ["stubbed"]

pytestmark = pytest.mark.usefixtures("stubbed")


@pytest.fixture
def folder(tmp_path, stubbed):
    run(settings(tmp_path, trials=1), tmp_path / "run")
    return tmp_path / "run"


def test_the_rows_of_every_part_are_those_the_run_split(tmp_path, folder):
    parts = problem(tmp_path).plan.parts
    for part in ("train", "validation", "test"):
        np.testing.assert_array_equal(rows_of_part(folder, part), getattr(parts, part))
    with pytest.raises(DataError, match="--part must be one of test, validation, train, got 'all'"):
        rows_of_part(folder, "all")


def test_the_data_of_a_run_may_have_moved_but_not_changed(tmp_path, folder):
    data = tmp_path / "table.csv"
    assert data_of_run(folder) == data
    moved = data.rename(tmp_path / "moved.csv")
    with pytest.raises(DataError, match=r"table\.csv: there is no such file, .* its new place"):
        data_of_run(folder)
    assert data_of_run(folder, moved) == moved
    moved.write_text(moved.read_text() + "\n")
    with pytest.raises(DataError, match=r"moved\.csv: is not the file that the run .* read"):
        data_of_run(folder, moved)


def test_what_is_no_finished_run_is_refused(tmp_path, folder):
    (tmp_path / "empty").mkdir()
    for path, message in (
        (tmp_path / "none", "there is no such folder"),
        (tmp_path / "table.csv", "is a file"),
        (tmp_path / "empty", "holds no run"),
        (folder / "model", "holds no run"),
    ):
        for ask in (lambda path: rows_of_part(path, "test"), data_of_run):
            with pytest.raises(DataError, match=f"{message}; pass the folder of a run"):
                ask(path)
    (folder / "results.json").rename(folder / "hidden")
    with pytest.raises(DataError, match="the run is not fitted"):
        rows_of_part(folder, "test")


def test_broken_files_of_a_run_are_named(folder):
    (folder / "parts.npz").write_bytes(b"none")
    with pytest.raises(DataError, match=r"parts\.npz: holds no rows"):
        rows_of_part(folder, "test")
    (folder / "parts.npz").unlink()
    with pytest.raises(DataError, match=r"has no parts\.npz.*--resume"):
        rows_of_part(folder, "test")
    config = folder / "config.json"
    known = json.loads(config.read_text())
    del known["sha256"]
    config.write_text(json.dumps(known))
    with pytest.raises(DataError, match=r"config\.json: does not say which data"):
        data_of_run(folder)
