from __future__ import annotations

import pytest

from rankwise.baselines.info_nce import NTXent
from rankwise.errors import UsageError
from rankwise.objectives.contrastive import GlobalContrastive
from rankwise.tasks.contrast.settings import Settings


def test_the_loss_has_the_settings():
    ours = Settings(temperature=0.3, ema_rate=0.5).loss(100)
    assert isinstance(ours, GlobalContrastive)
    assert (ours.memory_size, ours.temperature, ours.average.ema_rate) == (100, 0.3, 0.5)
    theirs = Settings(objective="nt_xent", temperature=0.3).loss(100)
    assert isinstance(theirs, NTXent)
    assert theirs.temperature == 0.3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "simclr"}, "objective must be one of global_contrastive, nt_xent, got 'si"),
        ({"optimizer": "adam"}, "optimizer must be one of adamw, sgd, got 'adam'"),
        ({"batch": 1}, "batch must be a whole number >= 2, got 1"),
        ({"epochs": 0}, "epochs must be a whole number >= 1, got 0"),
        ({"width": 1.5}, "width must be a whole number >= 1, got 1.5"),
        ({"seed": -1}, "seed must be a whole number from 0 to 4294967295, got -1"),
        ({"temperature": 0.0}, "temperature must be a finite number > 0, got 0.0"),
        ({"learning_rate": float("nan")}, "learning_rate must be a finite number > 0, got nan"),
        ({"weight_decay": -1.0}, "weight_decay must be a finite number >= 0, got -1.0"),
        ({"ema_rate": 1.1}, r"ema_rate must be in \(0, 1\], got 1.1"),
    ],
)
def test_bad_settings_are_named(options, message):
    with pytest.raises(UsageError, match=message):
        Settings(**options)
