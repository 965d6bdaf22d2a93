from __future__ import annotations

import dataclasses

import pytest

from rankwise.boosting.engines import Engine, Trees
from rankwise.boosting.engines.with_lightgbm import LightGBM
from rankwise.boosting.engines.with_xgboost import XGBoost


@pytest.mark.parametrize("left_out", ["rounds", "grow", "value", "cut", "text", "read", "__init__"])
def test_an_engine_does_all_of_it(left_out: str) -> None:
    parts = {name: getattr(LightGBM, name) for name in Engine.__abstractmethods__}
    made = type("Half", (Engine,), {n: part for n, part in parts.items() if n != left_out})
    with pytest.raises(TypeError, match=left_out):
        made(None, None, None, 0.0)


@pytest.mark.parametrize("kind", [LightGBM, XGBoost])
def test_both_do(kind: type[Engine]) -> None:
    assert not kind.__abstractmethods__


def test_trees_have_no_categories_unless_they_are_named_and_do_not_change() -> None:
    trees = Trees(0.1, 31, 20, 1.0, 1.0, 0.0, 1, 0)
    assert trees.categories == ()
    with pytest.raises(dataclasses.FrozenInstanceError):
        trees.seed = 1
