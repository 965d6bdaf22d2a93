from __future__ import annotations

import pytest
import torch
from tests.tasks.retrieval.cases import images, settings, splits

from rankwise.data.images import ImageSet
from rankwise.errors import UsageError
from rankwise.tasks.retrieval.pipeline import fit_settings
from rankwise.tasks.retrieval.settings import Settings


def test_batches_have_no_more_classes_and_images_of_a_class_than_there_are():
    fitted, lines = fit_settings(Settings(), splits(train=images("train", 5, 3)))
    assert (fitted.batches.classes, fitted.batches.per_class) == (5, 3)
    assert lines == [
        "batches: 5 classes × 3 images instead of 28 × 4: there are 5 training classes of at most "
        "3 images"
    ]


def test_batches_that_can_be_filled_are_left_alone():
    chosen = settings()
    assert fit_settings(chosen, splits(train=images("train", 6))) == (chosen, [])


def test_gradient_caching_goes_by_whole_classes():
    chosen = settings("batches.per_class=4", "batches.chunk=8")
    fitted, _ = fit_settings(chosen, splits(train=images("train", 6, 3)))
    assert (fitted.batches.per_class, fitted.batches.chunk) == (3, 6)


def test_images_of_one_class_cannot_be_ranked():
    alone = ImageSet("mine", torch.zeros(4, dtype=torch.long), ("a",), paths=tuple("wxyz"))
    with pytest.raises(
        UsageError, match="mine: training needs images of two classes or more, got 1"
    ):
        fit_settings(settings(), splits(train=alone))
