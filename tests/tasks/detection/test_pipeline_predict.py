from __future__ import annotations

from pathlib import Path

import pytest

from rankwise.errors import UsageError
from rankwise.tasks.detection.pipeline import require_places


def test_drawings_have_places_of_their_own(tmp_path):
    require_places([tmp_path / "0.png", tmp_path / "1.png", tmp_path / "a/2.png"], tmp_path / "out")


@pytest.mark.parametrize("name", ["0.png", "0.jpg"])  # 0.png may be there as well
def test_no_drawing_beside_its_image(tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for out in (tmp_path, Path(), tmp_path / "a" / ".."):
        with pytest.raises(UsageError, match="--out must be another folder than that of"):
            require_places([tmp_path / "a/1.png", tmp_path / name], out)


def test_no_drawing_over_a_linked_image(tmp_path):
    (tmp_path / "pictures").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "pictures")
    with pytest.raises(UsageError, match="--out must be another folder"):
        require_places([tmp_path / "pictures/0.png"], tmp_path / "link")


@pytest.mark.parametrize("other", ["b/0.png", "a/0.jpg", "a/0.png"])
def test_no_two_drawings_of_one_name(tmp_path, other):
    with pytest.raises(UsageError, match=r"would both be drawn as .*found/0.png; detect in one"):
        require_places([tmp_path / "a/0.png", tmp_path / other], tmp_path / "found")
