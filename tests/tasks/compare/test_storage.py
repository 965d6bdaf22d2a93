"""The file of trials: inside its folder, refused when damaged, a full disk reported as one."""

from __future__ import annotations

import errno
import sqlite3

import optuna
import pytest
from optuna.study import StudyDirection

from rankwise.data import DataError
from rankwise.tasks.compare.storage import open_storage


@pytest.fixture
def path(tmp_path):
    """A file with a trial."""
    with open_storage(tmp_path / "study.db") as storage:
        study = optuna.create_study(storage=storage, study_name="a")
        trial = study.ask({"x": optuna.distributions.FloatDistribution(0, 1)})
        trial.set_user_attr("seconds", 1.5)
        study.tell(trial, 0.5)
    return tmp_path / "study.db"


def changed(path, statement):
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize("name", ["q?x=1", "50%20off", "a#b"])
def test_the_trials_are_kept_inside_the_folder_whatever_its_name(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    with open_storage(folder / "study.db") as storage:
        storage.create_new_study([StudyDirection.MAXIMIZE], "a")
    assert [path.name for path in folder.iterdir()] == ["study.db"]
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_another_file_is_named(tmp_path):
    (tmp_path / "study.db").write_bytes(b"no database at all" * 100)
    with (
        pytest.raises(DataError, match=r"study\.db: holds no trials of `rankwise compare`"),
        open_storage(tmp_path / "study.db"),
    ):
        pass


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE trial_user_attributes SET value_json = '{'",
        "UPDATE trials SET state = 'ENDED'",
        "UPDATE sqlite_master SET sql = replace(sql, 'value_json', 'value_jsn')",
        "UPDATE sqlite_master SET rootpage = 3 WHERE name = 'trials'",
    ],
)
def test_damage_within_the_file_is_found_before_it_is_used(path, statement):
    changed(path, statement)
    with (
        pytest.raises(DataError, match=r"holds no trials .*start the run in another folder"),
        open_storage(path),
    ):
        pass


def test_a_table_that_takes_no_more_rows_is_an_error_of_one_line(path):
    changed(path, "UPDATE sqlite_master SET sql = replace(sql, 'datetime_start', 'datetime_begun')")
    with (
        pytest.raises(DataError, match=r"holds no trials|cannot be kept in it") as raised,
        open_storage(path) as storage,
    ):
        storage.create_new_trial(0)
    assert "\n" not in str(raised.value)


def test_a_full_disk_is_an_error_of_the_disk(path):
    def fill():
        with open_storage(path) as storage:
            with storage.engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA max_page_count = 1")
            study = optuna.load_study(study_name="a", storage=storage)
            for _ in range(500):
                study.ask().set_user_attr("long", "x" * 1000)

    with pytest.raises(OSError, match=r"No space left.*study\.db") as raised:
        fill()
    assert raised.value.errno == errno.ENOSPC


def test_a_disk_that_is_full_before_there_is_a_file_is_no_damage(tmp_path, monkeypatch):
    class Small(sqlite3.Connection):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            self.execute("PRAGMA max_page_count = 3")

    monkeypatch.setattr("rankwise.tasks.compare.storage._Connection", Small)
    with pytest.raises(OSError, match="No space left"), open_storage(tmp_path / "study.db"):
        pass
