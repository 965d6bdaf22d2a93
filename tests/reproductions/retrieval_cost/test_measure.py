from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.reproductions.retrieval_cost.small import small_plan

from rankwise.data import DataError
from reproductions.frame import Setting
from reproductions.retrieval_cost import measure
from reproductions.retrieval_cost.measure import collect

FAST = {"sets": ("omniglot-features",), "only": ("SOPRC", "SupCon")}


def cheap(**changed):
    return small_plan(**{**FAST, **changed})


@pytest.fixture
def trained(monkeypatch):
    """Trainings and costs by a formula, in the order they were asked for."""
    asked = []

    def train(bench, trial, *, test=False):
        asked.append(("test" if test else "try", trial))
        value = trial.rate + 0.1 * ("log" in trial.objective) + 0.001 * trial.seed
        found = {"validation": value, "steps": 7, "seconds": 4.0}
        return found | ({"map": 2 * value, "hit": value} if test else {})

    def cost(bench, trial):
        asked.append(("cost", trial))
        slow = trial.method.name == "SOPRC" and trial.batch > 16
        return {"seconds": 5.0 if slow else 4.0, "megabytes": float(trial.batch)}

    monkeypatch.setattr(measure, "train", train)
    monkeypatch.setattr(measure, "cost", cost)
    return asked


def test_the_largest_affordable_batch_is_trained(trained):
    found = collect(cheap(), Setting())
    assert [(c.method, c.batch, c.images, c.fits) for c in found.costs] == [
        ("SOPRC", 8, 8, True),
        ("SOPRC", 16, 16, True),
        ("SOPRC", 4096, 32, False),  # a step may take 4 seconds
        ("SupCon", 8, 8, True),
        ("SupCon", 16, 16, True),
        ("SupCon", 4096, 32, True),
    ]
    assert {c.method: c.batch for c in found.cells} == {"SOPRC": 16, "SupCon": 32}


def test_memory_is_a_share_as_well(trained):
    found = collect(cheap(memory_mb=10), Setting())
    assert {c.method: c.batch for c in found.cells} == {"SOPRC": 8, "SupCon": 8}


def test_validation_of_the_first_seed_chooses_before_any_test(trained):
    found = collect(cheap(rates=(0.1, 0.3), seeds=3), Setting(seed=5))
    kinds = [kind for kind, _ in trained]
    assert kinds == ["cost"] * 6 + ["try"] * 12 + ["test"] * 6
    assert {trial.seed for kind, trial in trained if kind == "try"} == {5}
    assert [trial.seed for kind, trial in trained if kind == "test"] == [5, 5, 6, 6, 7, 7]
    own = [c for c in found.cells if c.method == "SOPRC"]
    assert {(c.objective[-10:], c.rate) for c in own} == {("outer=log)", 0.3)}
    assert [c.map for c in own] == pytest.approx([0.81, 0.812, 0.814])


def test_stages_end_where_asked(trained):
    assert not collect(cheap(stage="cost"), Setting()).tries
    found = collect(cheap(stage="choose"), Setting())
    assert len(found.chosen) == 2
    assert not found.cells


def test_a_study_is_resumed_and_its_choice_is_in_the_folder(trained, tmp_path):
    collect(cheap(stage="choose"), Setting(folder=tmp_path))
    kept = json.loads((tmp_path / "runs.json").read_text())["runs"]
    assert kept["omniglot-features / SupCon / chosen"]["rate"] == 0.01
    trained.clear()
    found = collect(cheap(), Setting(folder=tmp_path))
    assert [kind for kind, _ in trained] == ["test"] * 4
    trained.clear()
    assert collect(cheap(), Setting(folder=tmp_path)) == found
    assert not trained
    with pytest.raises(DataError, match="out must be a new folder or that of the same study"):
        collect(cheap(feature_seconds=5.0), Setting(folder=tmp_path))


def test_another_choice_than_the_one_kept_is_refused(trained, tmp_path):
    collect(cheap(stage="choose"), Setting(folder=tmp_path))
    methods = tuple(replace(m, tries=m.tries[:1]) for m in cheap().methods)
    with pytest.raises(DataError, match=r"SOPRC / chosen is .*outer=log.* validation now chooses"):
        collect(cheap(methods=methods), Setting(folder=tmp_path))


def test_no_training_starts_after_the_last_minute(trained, tmp_path, monkeypatch):
    now = iter(range(0, 10_000, 60))  # a minute by look
    monkeypatch.setattr(measure.time, "monotonic", lambda: float(next(now)))
    found = collect(cheap(max_minutes=7.0), Setting(folder=tmp_path))
    assert found.stopped
    assert [kind for kind, _ in trained] == ["cost"] * 6 + ["try"]
    monkeypatch.undo()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"stage": "train"}, "stage must be one of cost, choose, test, got 'train'|stage must be"),
        ({"sets": ("mnist",)}, "sets must be"),
        ({"only": ("SoftAP",)}, "only must be"),
    ],
)
def test_unknown_words_are_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        small_plan(**changed)
