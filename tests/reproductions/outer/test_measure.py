"""The two stages: what is trained when, and what may be read."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from rankwise.data import DataError
from reproductions.frame import Setting
from reproductions.outer.measure import measure
from reproductions.outer.plan import Plan
from reproductions.outer.problem import REFERENCE, Arm, Outcome, Problem

ARMS = {"t": (Arm("base", REFERENCE, "x"), Arm("own", "f", "y"), Arm("SOPRC", "SOPRC", "z"))}


class Calls:
    """A problem that records how it is trained."""

    def __init__(self, name: str = "p") -> None:
        self.name, self.seen = name, []

    def train(self, arm: Arm, seed: int, test: bool) -> Outcome:
        self.seen.append((arm.name, seed, test))
        value = {"base": 0.5, "own": 0.6, "SOPRC": 0.4}[arm.name]
        return Outcome(value, value + 0.01 * seed if test else None)


def plan(calls: Calls, **changed: object) -> Plan:
    problems = (Problem("t", calls.name, "AP", calls.train),)
    given = {"problems": problems, "arms": ARMS, "tasks": ("t",), "repeats": 2}
    return Plan(**given | {"clock": lambda: 0.0} | changed)  # type: ignore[arg-type]


def test_the_screen_never_tests_and_writes_the_choice(tmp_path):
    calls = Calls()
    found = measure(plan(calls, stage="screen"), Setting(seed=3, folder=tmp_path))
    assert calls.seen == [("base", 3, False), ("own", 3, False), ("SOPRC", 3, False)]
    assert all(cell.test is None for cell in found.cells)
    assert json.loads((tmp_path / "finalists_t.json").read_text())["finalists"] == ["own", "SOPRC"]
    assert found.missing == {"t, final": (6, 6)}


def test_finalists_need_the_choice(tmp_path):
    calls = Calls()
    with pytest.raises(DataError, match=r"stage final needs .*finalists_t.json"):
        measure(plan(calls, stage="final"), Setting(folder=tmp_path))
    assert calls.seen == []


def test_finalists_have_seeds_of_their_own_and_are_tested_once(tmp_path):
    calls, setting = Calls(), Setting(folder=tmp_path)
    measure(plan(calls), setting)
    tested = [call for call in calls.seen if call[2]]
    assert {seed for _, seed, _ in tested} == {1, 2}
    assert len(tested) == len(set(tested)) == 6
    before = list(calls.seen)
    found = measure(plan(calls), setting)
    assert calls.seen == before  # all is kept
    assert found.missing == {}


def test_the_budget_stops_between_trainings(tmp_path):
    calls, setting = Calls(), Setting(folder=tmp_path)
    found = measure(plan(calls, max_minutes=0.0), setting)
    assert (calls.seen, found.cells) == ([], [])
    assert found.missing == {"t, screen": (3, 3), "t, final": (0, 0)}
    assert not (tmp_path / "finalists_t.json").exists()


def test_a_new_arm_is_screened_and_chosen_until_a_finalist_was_tested(tmp_path):
    calls, setting = Calls(), Setting(folder=tmp_path)
    two = {"t": ARMS["t"][:1] + ARMS["t"][2:]}
    measure(plan(calls, arms=two, stage="screen"), setting)
    later = measure(plan(calls, stage="screen"), setting)
    assert later.choices["t"].finalists == ("own", "SOPRC")
    assert calls.seen.count(("base", 0, False)) == 1
    measure(plan(calls, stage="final"), setting)
    three = {"t": (*ARMS["t"], replace(ARMS["t"][1], family="g", objective="w"))}
    assert measure(plan(calls, arms=three), setting).choices["t"].finalists == ("own", "SOPRC")


def test_a_training_that_diverges_counts_as_zero(tmp_path):
    def diverges(arm: Arm, seed: int, test: bool) -> Outcome:
        if arm.name == "own":
            raise ValueError("scores must be numbers, got NaN")
        return Outcome(0.5)

    problem = Problem("t", "p", "AP", diverges)
    found = measure(plan(Calls(), problems=(problem,), stage="screen"), Setting())
    assert [cell.validation for cell in found.cells] == [0.5, 0.0, 0.5]


def test_wrong_options_are_named():
    with pytest.raises(ValueError, match=r"^stage must be"):
        Plan(stage="first")
    with pytest.raises(ValueError, match=r"^tasks must be"):
        Plan(tasks=("images",))
    with pytest.raises(DataError, match="outer needs --data"):
        Plan.of(Setting())
