from __future__ import annotations

import pytest

from rankwise.errors import UsageError
from rankwise.tasks.classification import settings as classification
from rankwise.tasks.contrast.settings import Settings as Contrast
from rankwise.tasks.detection import settings as detection
from rankwise.tasks.retrieval import settings as retrieval
from rankwise.training import settings as training


@pytest.mark.parametrize("seed", [0, 7, 2**32 - 1])
def test_seeds_that_every_library_takes(seed):
    assert Contrast(seed=seed).seed == seed


@pytest.mark.parametrize("seed", [-1, 2**32, 10**23, True, 1.0, "1", None])
def test_others_are_refused_by_name(seed):
    with pytest.raises(UsageError, match=r"data.seed must be a whole number from 0 to 4294967295"):
        retrieval.Data(seed=seed)


@pytest.mark.parametrize(
    ("record", "name"),
    [
        (Contrast, "seed"),
        (retrieval.Data, "data.seed"),
        (classification.Data, "data.seed"),
        (training.EarlyStoppedTraining, "training.seed"),
        (detection.Data, "data.seed"),
        (detection.Training, "training.seed"),
    ],
)
def test_settings_with_a_seed_too_large(record, name):
    with pytest.raises(UsageError, match=f"{name} must be a whole number from 0 to 4294967295"):
        record(seed=2**32)
