"""What is trained and kept of it, against a training by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeVar

import pytest
import torch
from tests.reproductions.detection.tiny import plan

from rankwise.data import DataError
from rankwise.tasks.detection.evaluate import best_thresholds, evaluate
from rankwise.tasks.detection.inference import detect_all
from rankwise.tasks.detection.task import train
from reproductions.detection.measure import Cell, measure, shown_detections
from reproductions.detection.plan import HEADS, Choice, Plan
from reproductions.frame import Setting

COLD, WARM = Choice(0.02), Choice(0.02, 1)
FOCAL, RANKED = HEADS[0], HEADS[1]

T = TypeVar("T")


@cache
def measured() -> tuple[list[Cell], dict[str, float]]:
    """Focal loss and one that ranks, two choices and two seeds."""
    return measure(plan(heads=(FOCAL, RANKED)), Setting(seed=3))


def cell(**changes: Any) -> Cell:
    """A cell of which nothing is known but this."""
    return replace(Cell("focal", COLD, 0, True, 0.5, {}, []), **changes)


def rewritten(folder: Path, validation: dict[str, float | None]) -> None:
    """Other values of validation in the file of runs; None: the run is gone."""
    file = folder / "runs.json"
    tree = json.loads(file.read_text())
    for name, value in validation.items():
        found = tree["runs"].pop(name)
        if value is not None:
            tree["runs"][name] = {**found, "validation": value}
    file.write_text(json.dumps(tree))


def test_every_choice_has_the_first_seed_and_the_best_one_has_all() -> None:
    cells, _ = measured()
    trained = [(each.head, each.choice, each.seed) for each in cells]
    assert len(set(trained)) == len(trained)
    best = max((c for c in cells if c.head == RANKED.name), key=lambda c: c.validation).choice
    assert set(trained) == {
        (FOCAL.name, COLD, 3000),
        (FOCAL.name, COLD, 3001),
        (RANKED.name, COLD, 3000),
        (RANKED.name, WARM, 3000),
        (RANKED.name, best, 3001),
    }
    assert {(c.head, c.choice) for c in cells if c.chosen} == {
        (FOCAL.name, COLD),
        (RANKED.name, best),
    }


@pytest.mark.parametrize("number", [0, 1, -1])
def test_a_cell_is_a_training_by_itself(number: int) -> None:
    asked, one = plan(), measured()[0][number]
    (head,) = (each for each in HEADS if each.name == one.head)
    settings = asked.of_run(head, one.choice, one.seed)
    trained = train(asked.splits, settings)
    found = detect_all(trained.network, asked.splits.test, settings)
    assert one.validation == pytest.approx(trained.best_value)
    test = evaluate(asked.splits.test, found).as_json()
    assert one.test.keys() == test.keys()
    for name in ("ap", "ap50", "ap75", "by_class"):
        assert one.test[name] == pytest.approx(test[name])
    least = best_thresholds(asked.splits.validation, trained.detections)
    for shown, row in zip(shown_detections(one), (0, 2), strict=True):  # two of four pictures
        own = found[row]
        kept = [i for i in range(len(own)) if own.scores[i] >= least[int(own.labels[i])]]
        torch.testing.assert_close(shown.boxes, own.boxes[kept], atol=0.002, rtol=0)
        torch.testing.assert_close(shown.scores, own.scores[kept], atol=0.002, rtol=0)
        assert shown.labels.tolist() == own.labels[kept].tolist()


def test_some_boxes_are_shown() -> None:
    assert any(len(one) for each in measured()[0] for one in shown_detections(each))


def test_a_warm_start_as_long_as_the_training_is_focal_loss() -> None:
    by_name = {(c.head, c.choice, c.seed): c for c in measured()[0]}
    focal, warm = by_name[FOCAL.name, COLD, 3000], by_name[RANKED.name, WARM, 3000]
    assert (warm.validation, warm.test, warm.found) == (focal.validation, focal.test, focal.found)
    assert by_name[RANKED.name, COLD, 3000].test != focal.test


def test_the_highest_of_validation_is_chosen_and_the_first_where_they_tie(
    tmp_path: Path,
) -> None:
    setting, one = Setting(folder=tmp_path), plan(heads=(RANKED,), seeds=1)
    measure(one, setting)
    for cold, warm, best in ((0.9, 0.1, COLD), (0.1, 0.9, WARM), (0.5, 0.5, COLD)):
        rewritten(
            tmp_path,
            {
                "AP loss, rate 0.02, seed 0": cold,
                "AP loss, rate 0.02, 1 steps of focal first, seed 0": warm,
            },
        )
        cells, _ = measure(one, setting)
        assert {c.choice: (c.validation, c.chosen) for c in cells} == {
            COLD: (cold, best == COLD),
            WARM: (warm, best == WARM),
        }


@pytest.mark.parametrize("best", [COLD, WARM])
def test_other_seeds_are_trained_with_what_was_chosen(tmp_path: Path, best: Choice) -> None:
    setting = Setting(folder=tmp_path)
    measure(plan(heads=(RANKED,), seeds=1), setting)
    rewritten(tmp_path, {f"AP loss, rate {best}, seed 0": 1.0})
    cells, _ = measure(plan(heads=(RANKED,), seeds=2), setting)
    runs = json.loads((tmp_path / "runs.json").read_text())["runs"]
    assert [name for name in runs if "seed 1" in name] == [f"AP loss, rate {best}, seed 1"]
    assert [(c.choice, c.chosen) for c in cells if c.seed == 1] == [(best, True)]


def test_what_is_missing_in_the_file_is_measured_again(tmp_path: Path) -> None:
    setting, one = Setting(folder=tmp_path), plan(heads=(FOCAL,), seeds=2)
    before = measure(one, setting)
    rewritten(tmp_path, {"focal, rate 0.02, seed 1": None})
    assert measure(one, setting) == before
    assert "focal, rate 0.02, seed 1" in json.loads((tmp_path / "runs.json").read_text())["runs"]


def test_more_seeds_go_on_in_the_same_folder(tmp_path: Path) -> None:
    setting = Setting(folder=tmp_path)
    few, _ = measure(plan(heads=(FOCAL,), seeds=1), setting)
    more, _ = measure(plan(heads=(FOCAL,), seeds=3), setting)
    assert few == measure(plan(heads=(FOCAL,), seeds=1), Setting())[0]  # in memory
    assert [each.seed for each in more] == [0, 1, 2]
    assert more[:1] == few


def test_a_folder_of_another_seed_is_refused(tmp_path: Path) -> None:
    one = plan(heads=(FOCAL,), seeds=1)
    measure(one, Setting(folder=tmp_path))
    with pytest.raises(DataError, match="out must be a new folder or that of the same study"):
        measure(one, Setting(folder=tmp_path, seed=1))


def test_the_time_of_a_loss_is_the_median_in_milliseconds() -> None:
    def times(*taken: float) -> dict[str, float]:
        # The clock is looked at before and after each; a long while passes between.
        looks = accumulate((step for each in taken for step in (each, 100.0)), initial=0.0)
        asked = plan(heads=(FOCAL,), seeds=1, timed=len(taken), clock=lambda: next(looks))
        return measure(asked, Setting())[1]

    assert times(1.0, 5.0, 2.0) == {"focal": 2000.0}
    assert times(1.0, 4.0) == {"focal": 2500.0}


def test_every_loss_has_a_time() -> None:
    assert measured()[1] == {FOCAL.name: 1000.0, RANKED.name: 1000.0}


def test_another_loss_in_the_same_folder_has_its_time(tmp_path: Path) -> None:
    for heads in ((FOCAL,), (FOCAL, RANKED)):
        _, taken = measure(plan(heads=heads, seeds=1), Setting(folder=tmp_path))
        assert taken.keys() == {head.name for head in heads}


def test_no_losses_are_no_cells() -> None:
    assert measure(plan(heads=()), Setting()) == ([], {})


def test_the_random_numbers_of_the_caller_are_not_touched() -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    measure(plan(heads=(FOCAL,), seeds=1), Setting())
    assert torch.equal(torch.random.get_rng_state(), before)


def test_how_far_it_is_can_be_seen() -> None:
    seen: list[tuple[str, int]] = []

    def track(work: Sequence[T], doing: str) -> Iterable[T]:
        seen.append((doing, len(work)))
        return work

    one: Plan = plan(heads=(RANKED,))
    measure(one, Setting(track=track))
    assert seen == [("choosing", 2), ("other seeds", 1)]


def test_shown_boxes_by_hand() -> None:
    rows = [[[1.0, 2.0, 3.0, 4.0, -0.5, 1.0], [5.0, 6.0, 7.5, 8.0, -1.5, 0.0]], []]
    first, second = shown_detections(cell(found=rows))
    assert first.boxes.tolist() == [[1, 2, 3, 4], [5, 6, 7.5, 8]]
    assert first.scores.tolist() == [-0.5, -1.5]
    assert first.labels.tolist() == [1, 0]
    assert first.labels.dtype == torch.long
    assert (len(second), second.boxes.shape, second.labels.dtype) == (0, (0, 4), torch.long)


def test_no_pictures_show_nothing() -> None:
    assert shown_detections(cell(found=[])) == []
