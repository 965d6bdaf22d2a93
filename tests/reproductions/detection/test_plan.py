"""The plan of a folder, what each training differs in, and what a file of runs is bound to."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tests.data.detection.layouts import voc_folder
from tests.reproductions.detection.tiny import plan
from tests.tasks.detection.cases import splits

from rankwise.data import DataError
from rankwise.data.detection import DetectionSet, Objects
from rankwise.tasks.detection.task import DetectionTask
from reproductions.detection.plan import HEADS, OURS, Choice, Head, Plan
from reproductions.frame import Setting

LISTS = {
    "train": {
        "one": [("RBC", (1, 1, 10, 20), False), ("WBC", (5, 6, 30, 29), False)],
        "two": [("Platelets", (3, 3, 9, 9), False)],
    },
    "val": {"three": [("RBC", (2, 2, 40, 30), False)]},
    "test": {"four": [("WBC", (2, 2, 40, 30), False)], "five": [], "six": []},
}
NAME = "mobilenet_v2-b0353104.pth"


def blood_cells(root: Path) -> Path:
    return voc_folder(root / "BCCD", LISTS).parent


def weights(folder: Path, name: str = NAME) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).touch()
    return folder / name


def changed(part: DetectionSet, box: float) -> DetectionSet:
    """The first object of the first picture has another edge."""
    boxes = part.objects[0].boxes.clone()
    boxes[0, 2] += box
    first = Objects.plain(boxes, part.objects[0].labels)
    return replace(part, objects=(first, *part.objects[1:]))


def test_a_quick_plan(tmp_path: Path) -> None:
    data = blood_cells(tmp_path)
    weights(data)
    made = Plan.of(Setting(data=data, quick=True))
    assert [head.name for head in made.heads] == [
        "focal", "AP loss", "aLRP loss", "DR loss", "SOPRC", "StableAP",
    ]  # fmt: skip
    assert made.choices == (Choice(0.02), Choice(0.02, 37))
    assert made.seeds == 1
    training, optimizer = made.settings.training, made.settings.optimizer
    assert (training.steps, training.validate_every) == (150, 150)
    assert optimizer.milestones == (112, 138)
    assert made.settings.selection.candidates == 300


def test_a_whole_plan(tmp_path: Path) -> None:
    data = blood_cells(tmp_path)
    weights(data)
    made = Plan.of(Setting(data=data))
    assert made.heads == HEADS
    rates = (0.005, 0.01, 0.02, 0.04)
    assert set(made.choices) == {Choice(r, w) for r in rates for w in (0, 150)}
    assert len(made.choices) == 8
    assert made.seeds == 3
    training, optimizer = made.settings.training, made.settings.optimizer
    assert (training.steps, training.validate_every) == (600, 600)
    assert optimizer.milestones == (450, 552)
    assert made.settings.selection.candidates == 1000


def test_a_plan_of_some_losses_at_some_rates(tmp_path: Path) -> None:
    data = blood_cells(tmp_path)
    weights(data)
    some = {"only": ("stableap-eq-6", "focal"), "rates": (0.1,), "warm": (0.5,), "steps": 20}
    for quick in (False, True):
        made = Plan.of(Setting(data=data, quick=quick, options=some))
        assert [head.name for head in made.heads] == ["focal", "StableAP, Eq. 6"]
        assert made.choices == (Choice(0.1, 10),)
        assert made.settings.training.steps == 20
    with pytest.raises(DataError, match=r"only must be of focal, ap-loss, .*, got nothing"):
        Plan.of(Setting(data=data, options={"only": ("nothing",)}))


def test_keys_are_of_one_loss_each_and_without_commas() -> None:
    keys = [head.key for head in HEADS]
    assert len(set(keys)) == len(keys)
    assert not any("," in key or " " in key for key in keys)
    assert {"stableap-as-printed", "two-stage-stableap"} < set(keys)


@pytest.mark.parametrize("quick", [True, False])
def test_draws_are_the_seeds(tmp_path: Path, quick: bool) -> None:
    data = blood_cells(tmp_path)
    weights(data)
    assert Plan.of(Setting(data=data, draws=7, quick=quick)).seeds == 7


def test_the_parts_are_the_lists_of_the_folder(tmp_path: Path) -> None:
    data = blood_cells(tmp_path)
    file = weights(data)
    made = Plan.of(Setting(data=data))
    parts = made.splits
    assert [len(part) for part in (parts.train, parts.validation, parts.test)] == [2, 1, 3]
    assert sorted(parts.train.classes) == ["Platelets", "RBC", "WBC"]
    assert made.settings.network.weights == str(file)


@pytest.mark.parametrize("within", ["", "bccd", "detection/bccd"])
@pytest.mark.parametrize("place", [".", "weights", "../weights", "../../weights"])
def test_where_things_may_be(tmp_path: Path, within: str, place: str) -> None:
    data = tmp_path / "a" / "b"
    blood_cells(data / within)
    file = weights(data / place)
    made = Plan.of(Setting(data=data))
    assert len(made.splits.train) == 2
    found = made.settings.network.weights
    assert found is not None
    assert Path(found).samefile(file)


def test_annotations_may_be_in_the_folder_itself(tmp_path: Path) -> None:
    voc_folder(tmp_path / "cells", LISTS)
    weights(tmp_path / "weights")
    assert len(Plan.of(Setting(data=tmp_path / "cells")).splits.test) == 3


def test_the_nearest_weights_are_taken_and_the_first_of_several(tmp_path: Path) -> None:
    data = blood_cells(tmp_path / "data")
    weights(tmp_path / "weights", "mobilenet_v2-0.pth")
    weights(data / "weights", "mobilenet_v2-2.pth")
    weights(data / "weights", "mobilenet_v2-1.pth")
    weights(data, "resnet50.pth")
    found = Plan.of(Setting(data=data)).settings.network.weights
    assert found == str(data / "weights" / "mobilenet_v2-1.pth")


def test_what_is_missing_is_named_with_what_would_do(tmp_path: Path) -> None:
    wanted = r"--data with the folder of BCCD .* and a file mobilenet_v2\*\.pth of MobileNetV2"
    with pytest.raises(DataError, match=f"^this study needs {wanted}"):
        Plan.of(Setting())
    with pytest.raises(DataError, match=f"nowhere: there is no such folder.*{wanted}"):
        Plan.of(Setting(data=tmp_path / "nowhere"))
    file = weights(tmp_path)
    with pytest.raises(DataError, match=f"{NAME}: there is no such folder"):
        Plan.of(Setting(data=file))
    with pytest.raises(DataError, match=f"there are no blood cells here.*{wanted}"):
        Plan.of(Setting(data=tmp_path))
    file.unlink()
    weights(tmp_path, "resnet50.pth")
    with pytest.raises(DataError, match=f"there are no weights here.*{wanted}"):
        Plan.of(Setting(data=blood_cells(tmp_path)))


def test_a_damaged_folder_is_named(tmp_path: Path) -> None:
    data = blood_cells(tmp_path)
    weights(data)
    (data / "BCCD" / "Annotations" / "four.xml").write_text("<annot")
    with pytest.raises(DataError, match=r"four\.xml: is not xml"):
        Plan.of(Setting(data=data))
    (data / "BCCD" / "ImageSets" / "Main" / "test.txt").unlink()
    with pytest.raises(DataError, match=r"test\.txt: there is no such list; there are train, val"):
        Plan.of(Setting(data=data))


def test_losses_have_names_of_their_own_and_ours_are_among_them() -> None:
    names = [head.name for head in HEADS]
    assert len(set(names)) == len(names)
    assert set(OURS) == {h.name for h in HEADS if h.objective in ("soprc", "stable_ap")}


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.name)
def test_every_loss_can_be_trained_with(head: Head) -> None:
    asked = plan()
    task = DetectionTask(asked.splits, asked.of_run(head, Choice(0.02, 1), 0))
    assert task.settings.objective.name == head.objective


@pytest.mark.parametrize(
    ("choice", "short", "words"),
    [
        (Choice(0.02), "0.02", "0.02"),
        (Choice(0.005, 150), "0.005 warm", "0.005, 150 steps of focal first"),
        (Choice(1.0, 0), "1", "1"),
        (Choice(1e-5, 3), "1e-05 warm", "1e-05, 3 steps of focal first"),
    ],
)
def test_a_choice_in_words(choice: Choice, short: str, words: str) -> None:
    assert (choice.short, str(choice)) == (short, words)


def test_focal_loss_is_not_tried_after_itself() -> None:
    asked = plan(choices=(Choice(0.1, 5), Choice(0.1), Choice(0.2), Choice(0.2, 5)))
    for head in HEADS:
        cold = (Choice(0.1), Choice(0.2))
        assert asked.of_head(head) == (cold if head.objective == "focal" else asked.choices)
    assert plan(choices=(Choice(0.1, 5),)).of_head(HEADS[0]) == ()


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.name)
def test_a_training_differs_in_what_it_is_about_and_nothing_else(head: Head) -> None:
    asked = plan()
    found, shared = asked.of_run(head, Choice(0.3, 4), 17), asked.settings
    objective = found.objective
    assert (objective.name, objective.pooled) == (head.objective, head.pooled)
    assert (objective.warm_start, found.optimizer.learning_rate) == (4, 0.3)
    assert found.training.seed == 17
    assert found.selection.per_class == (not head.pooled)
    new = (head.previous, head.printed, head.regions)
    assert (objective.previous, objective.printed, objective.regions) == new
    assert found.network.stages == head.stages
    same = found.replace(
        network=found.network.replace(stages=1),
        objective=shared.objective,
        optimizer=found.optimizer.replace(learning_rate=shared.optimizer.learning_rate),
        training=found.training.replace(seed=shared.training.seed),
        selection=shared.selection,
    )
    assert same == shared
    box = (objective.box_weight, objective.bias_weight, objective.bias_form)
    usual = (shared.objective.bias_weight, shared.objective.bias_form)
    bias = (0.001, "sum") if head.printed else usual  # L_bias of the paper
    assert box == (shared.objective.box_weight, *bias)


def test_runs_are_bound_to_plain_data() -> None:
    asked = plan().asked(3)
    assert json.loads(json.dumps(asked)).keys() == {"seed", "shown", "settings"}
    assert (asked["seed"], asked["shown"]) == (3, 2)
    assert asked["settings"]["training"]["steps"] == 1
    assert plan().asked(3) == asked
    assert plan().asked(4) != asked


def test_runs_are_not_bound_to_what_else_is_trained() -> None:
    # Every run is found by its loss, its choice and its seed.
    other = plan(heads=HEADS[:1], choices=(Choice(1.0),), seeds=9)
    assert other.asked(0) == plan().asked(0)


def test_runs_are_bound_to_the_settings_the_boxes_and_the_pixels() -> None:
    asked, parts = plan().asked(0), splits(4)
    assert plan(splits=parts).asked(0) == asked
    assert plan(shown=1).asked(0) != asked
    settings = plan().settings
    longer = settings.replace(training=settings.training.replace(steps=2))
    assert plan(settings=longer).asked(0) != asked
    wider = replace(parts, train=changed(parts.train, 1.0))
    assert plan(splits=wider).asked(0) != asked
    for part in ("validation", "test"):
        other = replace(parts, **{part: changed(getattr(parts, part), 1.0)})
        assert plan(splits=other).asked(0) != asked
    assert parts.train.pixels is not None
    pixels = [picture.clone() for picture in parts.train.pixels]
    pixels[-1][0, 0, 0] ^= torch.tensor(1, dtype=torch.uint8)
    brighter = replace(parts, train=replace(parts.train, pixels=tuple(pixels)))
    assert plan(splits=brighter).asked(0) != asked


def test_a_folder_that_was_moved_is_the_same(tmp_path: Path) -> None:
    found = []
    for place in ("here", "there"):
        data = blood_cells(tmp_path / place)
        weights(data)
        found.append(Plan.of(Setting(data=data)).asked(0))
    assert found[0] == found[1]
    assert str(tmp_path) not in json.dumps(found)
    assert found[0]["settings"]["network"]["weights"] == NAME


def test_other_weights_are_another_study(tmp_path: Path) -> None:
    data = blood_cells(tmp_path)
    weights(data, "mobilenet_v2-2.pth")
    before = Plan.of(Setting(data=data)).asked(0)
    weights(data, "mobilenet_v2-1.pth")
    assert Plan.of(Setting(data=data)).asked(0) != before


def test_a_network_without_weights_has_no_name_for_them() -> None:
    assert plan().settings.network.weights is None
    assert plan().asked(0)["settings"]["network"]["weights"] == ""
