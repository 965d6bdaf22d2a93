"""Boosters with several outputs, and the check of their texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankwise.boosting.classes import softmax_gradient
from rankwise.boosting.engines import Trees, engine_of
from rankwise.boosting.rows import Rows

RNG = np.random.default_rng(0)
TARGET = RNG.integers(0, 3, 120).astype(float)
X = RNG.normal(size=(120, 2)) + 2 * np.stack([TARGET == 1, TARGET == 2], axis=1)
START = np.log([0.2, 0.3, 0.5])
both = pytest.mark.parametrize("name", ["lightgbm", "xgboost"])


def grown(name: Any, rounds: int = 4) -> Any:
    trees = Trees(0.3, 4, 5, 1.0, 1.0, 0.0, 1, 0, outputs=3)
    engine = engine_of(name)(trees, Rows(TARGET, X=X), Rows(TARGET, X=X), START)
    for _ in range(rounds):
        assert engine.grow(softmax_gradient)
    return engine


@both
def test_a_round_has_a_tree_for_every_output(name: Any) -> None:
    engine, seen = grown(name), []
    assert engine.rounds == 4
    engine.value(lambda scores: seen.append(scores) or 0.0)
    assert seen[0].shape == (120, 3)
    assert (seen[0].argmax(1) == TARGET).mean() > 0.7
    scores = engine_of(name).read(engine.text(), 1, 3)(X) + START
    np.testing.assert_allclose(scores, seen[0], atol=1e-5)
    assert engine_of(name).gains(engine.text(), 2, 3).shape == (2,)
    engine.cut(2)
    assert engine.rounds == 2
    engine.cut(0)
    empty = engine_of(name).read(engine.text(), 1, 3)(X)
    np.testing.assert_array_equal(empty, np.zeros((120, 3)))


@both
def test_the_first_round_is_that_of_the_gradient_at_the_start(name: Any) -> None:
    seen = []

    def gradient(scores: Any, rows: Rows) -> Any:
        seen.append(scores.copy())
        return softmax_gradient(scores, rows)

    trees = Trees(0.3, 4, 5, 1.0, 1.0, 0.0, 1, 0, outputs=3)
    engine_of(name)(trees, Rows(TARGET, X=X), None, START).grow(gradient)
    np.testing.assert_allclose(seen[0], np.tile(START, (120, 1)), atol=1e-6)


@both
def test_a_text_of_another_number_of_outputs_is_refused(name: Any) -> None:
    text = grown(name, 1).text()
    for outputs in (1, 2):
        with pytest.raises(ValueError, match="the trees are not"):
            engine_of(name).read(text, 1, outputs)
    if name == "lightgbm":
        halved = text.replace("num_class=3", "num_class=1")
        with pytest.raises(ValueError, match="not 3 outputs"):
            engine_of(name).read(halved, 1, 3)
