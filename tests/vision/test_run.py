from __future__ import annotations

import math
from types import SimpleNamespace

from tests.tasks.retrieval.cases import settings

from rankwise.tasks.detection.settings import Settings as Detection
from rankwise.vision.run import image_advice, validation_of


def trained(kept: int, start: float = 0.5) -> SimpleNamespace:
    return SimpleNamespace(history=[], best_step=kept, start=start)


def words(*changes: str, kept: int = 0, start: float = 0.5) -> str:
    return "; ".join(image_advice(settings(*changes), trained(kept, start), "SupCon"))


def test_advice_follows_from_the_settings_of_the_run():
    pretrained = words("network.backbone=resnet", "network.weights=here")
    assert "network.freeze_batch_norm=true" in pretrained
    assert "pretrained" not in pretrained
    assert "optimizer.learning_rate=0.001 (it was 0.01)" in pretrained
    frozen = words(
        "network.backbone=resnet", "network.weights=here", "network.freeze_batch_norm=true"
    )
    assert "freeze" not in frozen
    assert "freeze" not in words("network.backbone=vit", "network.weights=here")
    assert "a pretrained backbone" in words()
    assert "objective.warm_start=1" in words()
    assert "warm start" not in words("objective.warm_start=3")


def test_fewer_steps_where_validation_was_best_before_the_end():
    assert "training.steps=4: validation was best there" in words(kept=4)
    assert "training.steps" not in words(kept=6)
    assert "fewer steps, training.steps=3" in words(kept=6, start=math.nan)  # none was looked at
    assert "training.patience=3" in words(kept=0)
    assert "patience" not in words("training.patience=2", kept=0)


def test_a_detector_can_warm_up_its_rate():
    assert "training.warm_up=9000" in "; ".join(image_advice(Detection(), trained(0), "focal loss"))


def test_the_values_of_a_training():
    rows = [{"step": 2, "map": 0.5}, {"step": 4, "map": 0.25}]
    found = validation_of(SimpleNamespace(history=rows, best_step=2, start=0.125), "map")
    assert (found.start, found.values, found.kept) == (0.125, [0.5, 0.25], 2)
    bare = SimpleNamespace(history=[{"step": 2}], best_step=2, start=math.nan)
    assert validation_of(bare, "map") is None
