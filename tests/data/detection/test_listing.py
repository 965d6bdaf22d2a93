from __future__ import annotations

import pytest
from PIL import Image

from rankwise.data import DataError
from rankwise.data.detection.findings import Findings
from rankwise.data.detection.listing import Listed, Picture, RawBox, as_set

CLASSES = ("cat", "dog")


@pytest.fixture
def picture(tmp_path):
    path = tmp_path / "one.png"
    Image.new("RGB", (10, 6)).save(path)
    return path


def test_boxes_are_cut_at_the_edge_and_dropped_without_area(picture):
    boxes = [
        RawBox((1, 1, 4, 5), "dog"),
        RawBox((-2, 1, 4, 9), "cat", ignored=True),
        RawBox((3, 3, 3, 5), "cat"),
        RawBox((11, 1, 14, 5), "dog"),  # wholly outside
        RawBox((0, 0, 10, 6), "dog", area=7.5),
    ]
    findings = Findings()
    found = as_set(
        Listed("some", [Picture(picture, None, boxes)]), CLASSES, findings, skip_broken=False
    )
    (objects,) = found.objects
    assert found.sizes == ((10, 6),)  # of the file, where the annotation has none
    assert objects.boxes.tolist() == [[1, 1, 4, 5], [0, 1, 4, 6], [0, 0, 10, 6]]
    assert objects.labels.tolist() == [1, 0, 1]
    assert objects.ignored.tolist() == [False, True, False]
    assert objects.areas.tolist() == [12.0, 20.0, 7.5]
    assert findings.clipped == ["one.png: cat -2 1 4 9"]
    assert findings.dropped == ["one.png: cat 3 3 3 5", "one.png: dog 11 1 14 5"]


def test_pictures_without_boxes_stay(picture):
    found = as_set(
        Listed("some", [Picture(picture, (10, 6), [])]), CLASSES, Findings(), skip_broken=False
    )
    assert len(found) == 1
    assert found.objects[0].boxes.shape == (0, 4)


def test_missing_and_empty_pictures_end_it_or_are_left_out(picture, tmp_path):
    (tmp_path / "empty.png").touch()
    listed = Listed(
        "some",
        [
            Picture(picture, (10, 6), []),
            Picture(tmp_path / "gone.png", (1, 1), []),
            Picture(tmp_path / "empty.png", (1, 1), []),
        ],
    )
    with pytest.raises(DataError, match=r"some: 2 .*gone\.png.*no such file"):
        as_set(listed, CLASSES, Findings(), skip_broken=False)
    findings = Findings()
    found = as_set(listed, CLASSES, findings, skip_broken=True)
    assert found.paths == (picture,)
    assert [one.path.name for one in findings.broken] == ["gone.png", "empty.png"]
    (tmp_path / "noise.png").write_bytes(b"nonsense")
    with pytest.raises(DataError, match=r"some: 1 image .*noise\.png: is not an image"):
        as_set(Listed("some", [Picture(tmp_path / "noise.png", None, [])]), CLASSES, Findings(),
               skip_broken=False)  # fmt: skip
    pictures = [Picture(tmp_path / "noise.png", None, []), Picture(picture, None, [])]
    found = as_set(Listed("some", pictures), CLASSES, findings, skip_broken=True)
    assert (found.paths, found.sizes) == ((picture,), ((10, 6),))
    assert findings.broken[-1].path.name == "noise.png"
    nothing = Listed("some", listed.pictures[1:])
    with pytest.raises(DataError, match="some: there are no pictures"):
        as_set(nothing, CLASSES, Findings(), skip_broken=True)
