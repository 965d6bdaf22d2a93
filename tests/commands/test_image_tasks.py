"""Tests of the commands that the image tasks share."""

from __future__ import annotations

from pathlib import Path

from rankwise.commands.image_tasks import at_root, report_once
from rankwise.data.images import BrokenImage


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
