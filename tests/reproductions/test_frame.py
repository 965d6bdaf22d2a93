from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import ClassVar

import pytest

from rankwise.data import DataError
from rankwise.report import Figure, Section, Table
from reproductions.frame import (
    STUDIES,
    BasePlan,
    Report,
    Runs,
    Setting,
    Study,
    UnknownStudyError,
    run_study,
)


def test_a_report_is_written_whole(tmp_path):
    figure = Figure(b"\x89PNG", "a picture")
    table = Table(("loss", "value"), [("a < b", 1)])
    report = Report(
        title="Title",
        rows=[{"loss": "a", "value": 1}],
        summary={
            "seed": 3,
            "means": [{"value": 0.5, "error": math.nan}],
            "most": math.inf,
            "pair": (1, "nan"),
        },
        sections=[Section("Heading", ["text"], [figure], [table])],
        figures={"figure": figure},
        table=table,
    )
    where = report.write(tmp_path / "study")
    assert sorted(p.name for p in where.parent.iterdir()) == [
        "data.csv",
        "figure.png",
        "index.html",
        "summary.json",
    ]
    # What is not a number, or has no end, is null.
    assert json.loads((tmp_path / "study" / "summary.json").read_text()) == {
        "seed": 3,
        "means": [{"value": 0.5, "error": None}],
        "most": None,
        "pair": [1, "nan"],
    }
    assert (tmp_path / "study" / "figure.png").read_bytes() == b"\x89PNG"
    assert "a &lt; b" in where.read_text()


@pytest.mark.parametrize("draws", [0, 1, 2.5, True])
def test_draws_are_two_at_least(draws):
    with pytest.raises(ValueError, match=r"^draws must be a whole number >= [12]"):
        Setting(draws=draws)
    assert Setting(draws=2).draws == 2


def test_without_a_progress_bar_the_work_goes_through_as_it_is():
    assert list(Setting().track([1, 2], "counting")) == [1, 2]


@dataclass(frozen=True)
class Plan(BasePlan):
    QUICK: ClassVar = {"steps": 2}
    steps: int = 10
    rates: tuple[float, ...] = (0.5,)
    repeats: int = 3
    source: object = None


@dataclass(frozen=True)
class Value:
    name: str
    value: float


def test_a_plan_takes_the_quick_form_the_draws_and_the_options():
    assert Plan.of(Setting()) == Plan()
    assert Plan.of(Setting(quick=True, draws=5)) == Plan(steps=2, repeats=5)
    assert Plan.of(Setting(quick=True, options={"steps": 7})) == Plan(steps=7)
    assert Plan().options() == {"steps": 10, "rates": (0.5,), "repeats": 3}


def test_each_run_is_kept_and_runs_of_another_plan_or_seed_are_made(tmp_path):
    made = []

    def make(item):
        made.append(item)
        return [Value(str(item), 1 / item if item else math.nan)]

    def measured(plan, seed=0):
        setting = Setting(seed=seed, folder=tmp_path)
        return setting.each(plan, [3, 0], "making", make, list[Value])

    first = measured(Plan())
    assert first[0] == [Value("3", 1 / 3)]
    assert math.isnan(first[1][0].value)
    assert measured(Plan())[0] == first[0]
    assert made == [3, 0]
    measured(Plan(steps=11))
    measured(Plan(), seed=1)
    assert len(made) == 6


def test_a_stopped_study_resumes_where_it_was(tmp_path):
    def make(item):
        if item == 2:
            raise KeyboardInterrupt
        return Value("", item)

    setting = Setting(folder=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        setting.each(Plan(), [1, 2], "making", make, Value)
    assert len(Runs(tmp_path, {}).known) == 1


def test_the_summary_begins_with_the_settings():
    table = Table(("a",), [])
    study = Study(Plan, lambda plan, setting: 3, lambda *_: Report("", [], [], {}, table))
    assert study(Setting(seed=4)).summary == {
        "seed": 4,
        "quick": False,
        "plan": {"steps": 10, "rates": (0.5,), "repeats": 3},
    }


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
    with pytest.raises(DataError, match=r"runs\.json: is not a file of runs"):
        Runs(tmp_path, {})


def test_a_wrong_name_suggests_the_nearest(tmp_path):
    with pytest.raises(UnknownStudyError, match="did you mean 'estimator-bias'"):
        run_study("estimator_bia", tmp_path)
    with pytest.raises(UnknownStudyError, match=f"there are {', '.join(STUDIES)}$"):
        run_study("zzz", tmp_path)


def test_every_study_says_what_it_asks():
    assert all(study.question.endswith("?") and study.time for study in STUDIES.values())
