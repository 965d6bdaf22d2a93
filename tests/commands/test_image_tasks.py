"""Tests of the commands that the image tasks share."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankwise.commands.image_tasks import at_root, read_settings, report_once
from rankwise.data.images import BrokenImage
from rankwise.errors import UsageError
from rankwise.tasks import classification, detection, retrieval


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


@pytest.mark.parametrize(
    ("task", "layout"), [(retrieval, "folder"), (classification, "folder"), (detection, "voc")]
)
def test_a_folder_is_the_data_of_the_defaults(tmp_path, task, layout):
    settings = read_settings(task.Settings, str(tmp_path), ["training.steps=7"])
    assert (settings.data.kind, settings.data.root) == (layout, str(tmp_path))
    assert settings == task.Settings.changed(
        {"data": {"root": str(tmp_path)}, "training": {"steps": 7}}
    )


def test_a_configuration_that_ships_comes_before_a_folder_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("omniglot").mkdir()
    assert read_settings(retrieval.Settings, "omniglot", []).data.kind == "omniglot"
    assert read_settings(retrieval.Settings, "./omniglot", []).data.root == "./omniglot"


def test_a_name_that_is_nothing_is_refused():
    with pytest.raises(UsageError, match="phtos: there is no such file or folder; the"):
        read_settings(retrieval.Settings, "phtos", [])
