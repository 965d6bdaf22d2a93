"""Parts of the data sets next to Table 1 of StableAP."""

import pytest
import torch
from tests.data.images import layouts

from rankwise.data.images import ImageSet, open_images
from reproductions.retrieval.data_statistics import (
    TABLE_1,
    differences_from_table_1,
    statistics,
)


@pytest.mark.parametrize(
    ("kind", "rest", "test"),
    [
        ("sop", (59_551, 11_318), (60_502, 11_316)),
        ("vehicleid", (113_346, 13_164), (7_332 + 12_995 + 20_038, 800 + 1_600 + 2_400)),
        ("inaturalist", (325_846, 5_690), (136_093, 2_452)),
    ],
)
def test_the_table_adds_up_to_the_published_files(kind, rest, test):
    rows = TABLE_1[kind]
    both = rows["train"], rows["validation"]
    assert (sum(row.images for row in both), sum(row.classes for row in both)) == rest
    assert (rows["test"].images, rows["test"].classes) == test
    for part, row in rows.items():
        if (kind, part) != ("vehicleid", "test"):  # there the paper has 8.2, and 8.4 by its counts
            assert row.images / row.classes == pytest.approx(row.images_per_class, abs=0.05)


def test_a_row():
    labels = torch.tensor([0, 0, 0, 2, 2])
    images = ImageSet("x", labels, ("a", "b", "c"), pixels=torch.zeros(5, 1, 1, 1).byte())
    row = statistics(images)
    assert (row.images, row.classes, row.imbalance, row.images_per_class) == (5, 2, 1.5, 2.5)
    with pytest.raises(ValueError, match="x holds no images"):
        statistics(images.subset([]))


def test_parts_that_differ_are_reported(tmp_path):
    splits = open_images("vehicleid", layouts.vehicleid(tmp_path))
    assert differences_from_table_1("vehicleid", splits) == [
        "train: 16 images of 8 classes, the paper has 101947 of 11847",
        "validation: 4 images of 2 classes, the paper has 11399 of 1317",
        "test: 20 images of 10 classes, the paper has 40365 of 4800",
    ]
    assert differences_from_table_1("folder", splits) == []
