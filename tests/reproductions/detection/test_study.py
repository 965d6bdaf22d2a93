"""The study's choices, what it asks for, and that it goes on where it was."""

from __future__ import annotations

import json
import math

import pytest
from tests.reproductions.detection.tiny import plan

from rankwise.data import DataError
from rankwise.theory import mean_of
from reproductions.detection import measure as measuring
from reproductions.detection.measure import measure, shown_detections
from reproductions.detection.plan import HEADS, Choice, Plan
from reproductions.detection.published import COLUMNS, PUBLISHED
from reproductions.detection.study import _duel, _shown, _table
from reproductions.frame import Setting


def test_the_rate_is_chosen_on_validation_and_only_that_one_is_repeated(monkeypatch):
    values = {Choice(0.02): 0.3, Choice(0.02, 1): 0.5}
    test = {"ap": 0.2, "ap50": 0.4, "ap75": 0.1, "small": None, "medium": 0.2, "large": 0.3}

    def run(plan, head, choice, seed, kept):
        numbers = {**test, "ap": 0.88 + seed / 1000, "by_class": {"red": None, "blue": 0.2}}
        return {"validation": values[choice], "test": numbers, "found": [[], []]}

    monkeypatch.setattr(measuring, "_run", run)
    asked = plan()
    cells, _ = measure(asked, Setting(seed=2))
    own = [cell for cell in cells if cell.head == "SOPRC"]
    assert {(c.choice, c.seed, c.chosen) for c in own} == {
        (Choice(0.02), 2000, False),
        (Choice(0.02, 1), 2000, True),
        (Choice(0.02, 1), 2001, True),
    }
    # Focal loss before itself is nothing new.
    assert {c.choice for c in cells if c.head == "focal"} == {Choice(0.02)}
    table = _table(asked, cells)
    assert table.rows[0][0] == "focal"
    mean, half = map(float, table.rows[0][1].split(" ± "))
    assert mean == pytest.approx(100 * (0.88 + 2.0005), abs=0.06)
    assert half > 0
    assert table.rows[0][4] == "–"  # no small objects
    assert table.rows[0][7:] == ("0.02", "39.9")
    assert table.rows[4][7:] == ("0.02 warm", "–")
    some = plan(heads=HEADS[:2])
    assert _duel(some, cells).header[0] == "AP loss minus"
    assert _duel(asked, cells).rows[0] == ("focal", "+0.0 ± 0.0", "+0.0 ± 0.0", "+0.0 ± 0.0")


def test_it_goes_on_where_it_was(tmp_path, monkeypatch):
    setting = Setting(folder=tmp_path)
    before, _ = measure(plan(), setting)
    known = json.loads((tmp_path / "runs.json").read_text())
    cold = sum(head.objective == "focal" for head in HEADS)  # these have no warm start
    assert len(known["runs"]) == len(HEADS) * 4 - cold

    def never(*asked):
        raise AssertionError

    monkeypatch.setattr(measuring, "_run", never)
    again, _ = measure(plan(), setting)
    assert again == before
    with pytest.raises(DataError, match="the same study"):
        measure(plan(shown=1), setting)


def test_boxes_of_the_shown_pictures_come_back():
    cells, times = measure(plan(heads=HEADS[:1]), Setting())
    found = shown_detections(cells[0])
    assert len(found) == 2
    for one in found:
        assert one.boxes.shape == (len(one), 4)
    assert times == {"focal": 1000.0}


def test_all_losses_start_from_the_same_weights_but_for_the_scores():
    asked = plan()
    runs = [asked.of_run(head, Choice(0.02), 7) for head in HEADS]
    assert {run.training.seed for run in runs} == {7}
    networks = [run.network.replace(stages=1) for run in runs]
    shared = zip(networks, runs, strict=True)
    assert len({str((net, run.augmentations, run.optimizer)) for net, run in shared}) == 1
    assert {run.objective.short for run in runs} == {
        "focal", "error_driven_ap", "alrp", "dr", "soprc", "stable_ap",
    }  # fmt: skip


def test_the_published_rows_are_those_of_the_heads():
    faster = {f"Faster R-CNN, {name}" for name in ("cross-entropy", "aLRP", "StableAP")}
    assert set(PUBLISHED) - faster <= {head.name for head in HEADS}
    assert all(len(row) == len(COLUMNS) for row in PUBLISHED.values())
    assert max(PUBLISHED, key=lambda name: PUBLISHED[name][0]) == "StableAP"


def test_numbers_in_cells():
    assert _shown(mean_of([1.0])) == "1.0"
    assert _shown(mean_of([1.0, 1.0]), "+") == "+1.0 ± 0.0"
    assert _shown(mean_of([math.nan, 1.0])) == "–"


def test_it_says_which_data_it_needs(tmp_path):
    with pytest.raises(DataError, match="needs --data with the folder of BCCD"):
        Plan.of(Setting())
    with pytest.raises(DataError, match="no such folder"):
        Plan.of(Setting(data=tmp_path / "x"))
    with pytest.raises(DataError, match="no blood cells here"):
        Plan.of(Setting(data=tmp_path))
    (tmp_path / "bccd" / "BCCD" / "Annotations").mkdir(parents=True)
    with pytest.raises(DataError, match="no weights here"):
        Plan.of(Setting(data=tmp_path))
