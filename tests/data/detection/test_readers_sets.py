from __future__ import annotations

import pytest
from PIL import Image

from rankwise.data import DataError
from rankwise.data.detection._layouts import AnnotatedImage, RawBox
from rankwise.data.detection.detection_set import AnnotationIssues
from rankwise.data.detection.readers import as_set

CLASSES = ("cat", "dog")


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "one.png"
    Image.new("RGB", (10, 6)).save(path)
    return path


def test_boxes_are_cut_at_the_edge_and_dropped_without_area(image):
    boxes = [
        RawBox((1, 1, 4, 5), "dog"),
        RawBox((-2, 1, 4, 9), "cat", ignored=True),
        RawBox((3, 3, 3, 5), "cat"),
        RawBox((11, 1, 14, 5), "dog"),  # wholly outside
        RawBox((0, 0, 10, 6), "dog", area=7.5),
    ]
    issues = AnnotationIssues()
    found = as_set("some", [AnnotatedImage(image, None, boxes)], CLASSES, issues, skip_broken=False)
    (objects,) = found.objects
    assert found.sizes == ((10, 6),)  # of the file, where the annotation has none
    assert objects.boxes.tolist() == [[1, 1, 4, 5], [0, 1, 4, 6], [0, 0, 10, 6]]
    assert objects.labels.tolist() == [1, 0, 1]
    assert objects.ignored.tolist() == [False, True, False]
    assert objects.areas.tolist() == [12.0, 20.0, 7.5]
    assert issues.clipped == ["one.png: cat -2 1 4 9"]
    assert issues.dropped == ["one.png: cat 3 3 3 5", "one.png: dog 11 1 14 5"]


def test_images_without_boxes_stay(image):
    found = as_set(
        "some",
        [AnnotatedImage(image, (10, 6), [])],
        CLASSES,
        AnnotationIssues(),
        skip_broken=False,
    )
    assert len(found) == 1
    assert found.objects[0].boxes.shape == (0, 4)


def test_missing_and_empty_images_end_it_or_are_left_out(image, tmp_path):
    (tmp_path / "empty.png").touch()
    listed = [
        AnnotatedImage(image, (10, 6), []),
        AnnotatedImage(tmp_path / "gone.png", (1, 1), []),
        AnnotatedImage(tmp_path / "empty.png", (1, 1), []),
    ]
    with pytest.raises(DataError, match=r"some: 2 .*gone\.png.*no such file"):
        as_set("some", listed, CLASSES, AnnotationIssues(), skip_broken=False)
    issues = AnnotationIssues()
    found = as_set("some", listed, CLASSES, issues, skip_broken=True)
    assert found.paths == (image,)
    assert [one.path.name for one in issues.broken] == ["gone.png", "empty.png"]
    (tmp_path / "noise.png").write_bytes(b"nonsense")
    noise = AnnotatedImage(tmp_path / "noise.png", None, [])
    with pytest.raises(DataError, match=r"some: 1 image .*noise\.png: is not an image"):
        as_set("some", [noise], CLASSES, AnnotationIssues(), skip_broken=False)
    images = [AnnotatedImage(tmp_path / "noise.png", None, []), AnnotatedImage(image, None, [])]
    found = as_set("some", images, CLASSES, issues, skip_broken=True)
    assert (found.paths, found.sizes) == ((image,), ((10, 6),))
    assert issues.broken[-1].path.name == "noise.png"
    with pytest.raises(DataError, match="some: there are no images"):
        as_set("some", listed[1:], CLASSES, AnnotationIssues(), skip_broken=True)
