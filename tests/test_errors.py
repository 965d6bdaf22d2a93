from __future__ import annotations

import pickle

import pytest

from rankwise.data import DataError
from rankwise.errors import UsageError
from rankwise.tasks import recommendation
from rankwise.tasks.classification.settings import Batches
from rankwise.tasks.contrast.settings import Settings as Contrast
from rankwise.tasks.detection.settings import Augmentations
from rankwise.tasks.ranking.settings import Settings as Ranking
from rankwise.training.settings import Training


def test_a_message_is_one_line_whatever_it_was_made_of():
    assert str(UsageError("  a.yaml:\n\tis not\r\n   yaml\n")) == "a.yaml: is not yaml"
    assert str(UsageError("")) == ""


def test_it_is_a_wrong_value_and_one_kind_of_it_the_fault_of_the_data():
    with pytest.raises(ValueError, match="no such run"):
        raise UsageError("no such run")
    assert isinstance(DataError("broken"), UsageError)
    assert not isinstance(UsageError("wrong"), DataError)


def test_it_comes_back_from_another_process():
    again = pickle.loads(pickle.dumps(UsageError("k must be\n>= 1")))
    assert type(again) is UsageError
    assert str(again) == "k must be >= 1"


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Batches(size=1), r"batches\.size"),
        (lambda: Contrast(batch=1), "batch"),
        (lambda: Augmentations(height=1), r"augmentations\.height"),
        (lambda: Ranking(seed=-1), "seed"),
        (lambda: recommendation.Settings(dimension=0), "dimension"),
        (lambda: Training(steps=0), r"training\.steps"),
    ],
    ids=["classify", "contrast", "detect", "rank", "recommend", "retrieval"],
)
def test_every_task_refuses_its_settings_by_this_one_error(make, name):
    with pytest.raises(UsageError, match=f"^{name} must be a whole number (>=|from) "):
        make()
