from __future__ import annotations

import hashlib
import json
import platform
import shutil

import numpy as np
import pytest
from tests.tasks.compare.stubs import problem, settings, stubbed, table

from rankwise.data import DataError
from rankwise.errors import UsageError
from rankwise.tasks.compare.pipeline import run
from rankwise.tasks.compare.problem import read_problem
from rankwise.tasks.compare.run_files import CONFIG, data_of_run, open_run, rows_of_part

__all__ = [
    "stubbed",
]


def start_run(out, here, *, resume):
    with open_run(out, here, resume=resume):
        pass


def started(tmp_path, **options):
    here = problem(tmp_path, **options)
    start_run(tmp_path / "run", here, resume=False)
    return here, tmp_path / "run" / CONFIG


def test_what_was_asked_and_of_what(tmp_path):
    table().with_columns(id=table()["day"].cast(str) + "x").write_csv(tmp_path / "table.csv")
    here, config = started(tmp_path, seed=3, budget=9.0)
    found = json.loads(config.read_text())
    assert found["command"] == "rankwise compare"
    assert found["data"] == str(tmp_path / "table.csv")
    assert (found["metric"], found["seed"], found["budget"]) == ("ap", 3, 9.0)
    assert found["drop"] == ["user", "day"]
    assert found["sha256"] == hashlib.sha256((tmp_path / "table.csv").read_bytes()).hexdigest()
    assert found["rows"] == 600
    assert found["features"] == {
        "a": "numeric", "b": "numeric", "c": "numeric", "word": "categorical"
    }  # fmt: skip
    assert found["left_out_columns"] == ["id"]
    assert found["positive_value"] == "1"
    assert found["splits"] == here.plan.as_json()
    assert sum(found["splits"][part] for part in ("train", "validation", "test")) == 600
    assert found["versions"]["python"] == platform.python_version()
    assert found["versions"]["numpy"] == np.__version__
    known = ["python", "rankwise", "torch", "numpy", "scikit-learn"]  # not as they were installed
    assert list(found["versions"])[:5] == known
    assert {path.name for path in config.parent.iterdir()} == {CONFIG, "run.json"}


def test_a_run_is_only_gone_on_with_when_asked(tmp_path):
    here, config = started(tmp_path)
    before = config.read_bytes()
    with pytest.raises(DataError, match=r"run already holds a run; pass --resume .* another --out"):
        start_run(config.parent, here, resume=False)
    start_run(config.parent, here, resume=True)
    assert config.read_bytes() == before


def test_more_time_may_be_asked_for_and_the_file_be_moved(tmp_path):
    here, config = started(tmp_path)
    (tmp_path / "moved").mkdir()
    moved = shutil.move(here.settings.data, tmp_path / "moved" / "other.csv")
    asked = here.settings.replace(data=moved, budget=500.0, trials=99)
    start_run(config.parent, read_problem(asked), resume=True)
    found = json.loads(config.read_text())
    assert (found["budget"], found["trials"], found["data"]) == (500.0, 99, str(moved))


def test_every_setting_that_is_another_is_named_and_the_run_left_alone(tmp_path):
    _, config = started(tmp_path)
    before = config.read_bytes()
    other = problem(tmp_path, seed=1, drop=("user",), trials=4)
    with pytest.raises(DataError) as caught:
        start_run(config.parent, other, resume=True)
    assert str(caught.value) == (
        f"{config.parent}: the run cannot be resumed with other settings: "
        "drop was ['user', 'day'] and is ['user'], seed was 0 and is 1"
    )
    assert config.read_bytes() == before


def test_a_table_with_one_letter_changed_is_another(tmp_path):
    here, config = started(tmp_path)
    text = here.settings.data.read_text()
    here.settings.data.write_text(text.replace("red", "rad", 1))
    with pytest.raises(DataError, match="the run cannot be resumed with other data"):
        start_run(config.parent, read_problem(here.settings), resume=True)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", '{"command": "rankwise compare"}'])
def test_a_config_of_something_else_is_not_gone_on_with(tmp_path, text):
    here, config = started(tmp_path)
    config.write_text(text)
    with pytest.raises(UsageError, match=r"config\.json: was changed or damaged"):
        start_run(config.parent, here, resume=True)
    assert config.read_text() == text


@pytest.mark.parametrize("resume", [False, True])
def test_folders_of_others_are_not_touched_and_empty_ones_are_taken(tmp_path, resume):
    here = problem(tmp_path)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")
    for name in ("file", "full"):
        with pytest.raises(DataError, match=f"{name} exists and holds no run; pass another --out"):
            start_run(tmp_path / name, here, resume=resume)
    assert (tmp_path / "file").read_text() == "mine"
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["thesis.txt"]
    (tmp_path / "empty").mkdir()
    start_run(tmp_path / "empty", here, resume=resume)
    assert (tmp_path / "empty" / CONFIG).is_file()


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
    with pytest.raises(DataError, match="the run is not finished"):
        rows_of_part(folder, "test")


def test_broken_files_of_a_run_are_named(folder):
    (folder / "parts.npz").write_bytes(b"none")
    with pytest.raises(UsageError, match=r"parts\.npz: was changed or damaged"):
        rows_of_part(folder, "test")
    (folder / "parts.npz").unlink()
    with pytest.raises(DataError, match=r"has no parts\.npz.*--resume"):
        rows_of_part(folder, "test")
    config = folder / "config.json"
    config.write_text(config.read_text().replace("sha256", "sha255"))
    with pytest.raises(UsageError, match=r"config\.json: was changed or damaged"):
        data_of_run(folder)
