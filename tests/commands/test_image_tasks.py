"""Tests of the commands that the image tasks share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from rankwise.commands.image_tasks import at_root, report_once, steps_shown
from rankwise.data.images import BrokenImage


@dataclass
class Step:
    step: int
    loss: float
    value: float


def test_a_root_is_a_change_of_settings():
    assert at_root(None) == []
    (change,) = at_root(Path("a folder/with: signs"))
    assert change.startswith("data.root=")
    assert "a folder/with: signs" in change


def test_an_image_is_complained_of_once(capsys):
    tell = report_once()
    for _ in range(2):
        tell(BrokenImage(Path("x/a.jpg"), "is empty"))
    tell(BrokenImage(Path("x/b.jpg"), "is empty"))
    said = capsys.readouterr().err
    assert said.count("a.jpg") == 1
    assert said.count("left out") == 2


def test_the_bar_takes_steps_before_and_after_the_first_validation():
    with steps_shown(3, "mAP") as advance:
        advance(Step(1, 0.5, math.nan))
        advance(Step(3, 0.25, 0.75))
