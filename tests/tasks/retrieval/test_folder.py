from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from rankwise.data.images import BrokenImage
from rankwise.errors import UsageError
from rankwise.tasks.retrieval.index import images_in


def test_all_images_with_the_folder_they_are_in(tmp_path):
    for name in ("b/2.PNG", "a/1.jpg", "top.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        Image.fromarray(np.zeros((4, 5, 3), np.uint8)).save(tmp_path / name)
    (tmp_path / "a/notes.txt").write_text("no image")
    found = images_in(tmp_path)
    assert [str(path.relative_to(tmp_path)) for path in found.paths] == [
        "a/1.jpg",
        "b/2.PNG",
        "top.png",
    ]
    assert [found.classes[label] for label in found.labels] == ["a", "b", tmp_path.name]
    (tmp_path / "a/0.jpg").write_bytes(b"nonsense")
    with pytest.raises(BrokenImage, match=r"0\.jpg: is not an image"):
        images_in(tmp_path)
    on_broken = []
    assert len(images_in(tmp_path, on_broken.append)) == 3
    assert [image.path.name for image in on_broken] == ["0.jpg"]


def test_folders_without_images(tmp_path):
    with pytest.raises(UsageError, match="nowhere: there is no such folder"):
        images_in(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="there are no images"):
        images_in(tmp_path)
