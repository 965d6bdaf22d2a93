from __future__ import annotations

import pytest

from rankwise.data import DataError
from reproductions.runs import Runs


def test_what_is_done_is_not_done_again(tmp_path):
    made = []
    for _ in range(2):
        runs = Runs(tmp_path, {"steps": 3})
        assert runs.get("a", lambda: made.append(1) or {"map": 0.5}) == {"map": 0.5}
    assert made == [1]


def test_a_run_that_fails_is_not_kept(tmp_path):
    runs = Runs(tmp_path, {})
    with pytest.raises(ZeroDivisionError):
        runs.get("a", lambda: 1 / 0)
    assert Runs(tmp_path, {}).get("a", lambda: 2) == 2


def test_another_study_in_the_same_folder_is_refused(tmp_path):
    Runs(tmp_path, {"steps": 3}).get("a", lambda: 1)
    with pytest.raises(ValueError, match="out must be a new folder"):
        Runs(tmp_path, {"steps": 4})


def test_two_processes_keep_the_runs_of_both(tmp_path):
    one, two = Runs(tmp_path, {}), Runs(tmp_path, {})
    one.get("a", lambda: 1)
    two.get("b", lambda: 2)
    one.get("c", lambda: 3)
    assert two.get("a", lambda: pytest.fail("it is there")) == 1
    assert Runs(tmp_path, {}).known == {"a": 1, "b": 2, "c": 3}


def test_without_a_folder_nothing_is_written():
    assert Runs(None, {}).get("a", lambda: 1) == 1


@pytest.mark.parametrize("damage", ["", "[]", "{}", '{"asked": {}', '{"asked": {}, "runs": 3}'])
def test_a_damaged_file_is_named(tmp_path, damage):
    (tmp_path / "runs.json").write_text(damage)
    with pytest.raises(DataError, match=r"runs\.json: is no file of runs"):
        Runs(tmp_path, {})
