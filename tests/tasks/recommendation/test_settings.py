from __future__ import annotations

import pytest

from rankwise.tasks.recommendation import Settings, UsageError


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "svd"}, "model must be one of mf, two_tower, lightgcn, .*, got 'svd'"),
        ({"sampling": "hard"}, "sampling must be one of uniform, popularity"),
        ({"lists": "item"}, "lists must be one of auto, user, interaction"),
        ({"split": "user"}, "split must be one of random, time"),
        ({"dimension": 0}, "dimension must be a whole number >= 1, got 0"),
        ({"batch": 1.5}, "batch must be a whole number >= 1, got 1.5"),
        ({"negatives": -1}, "negatives must be a whole number >= 0 or auto, got -1"),
        ({"negatives": "some"}, "negatives must be a whole number >= 0 or auto, got 'some'"),
        ({"negatives": True}, "negatives must be a whole number >= 0 or auto, got True"),
        ({"temperature": 0.0}, "temperature must be a finite number > 0"),
        ({"scores": "euclid"}, "scores must be one of dot, cosine, got 'euclid'"),
        ({"weighting": "items"}, "weighting must be one of interactions, users"),
        ({"hidden": (8, 0)}, "hidden must be a whole number >= 1, got 0"),
        ({"learning_rate": 0.0}, "learning_rate must be a finite number > 0"),
        ({"weight_decay": -1.0}, "weight_decay must be a finite number >= 0"),
        ({"validation": 0.0}, "validation must be above 0"),
        ({"seed": True}, "seed must be a whole number"),
        ({"model": "ease", "neighbors": 3}, "neighbors has no effect with model ease"),
        ({"model": "ials", "shrinkage": 1.0}, "shrinkage has no effect with model ials"),
        ({"iterations": 4}, "iterations has no effect with model mf; leave it out, or use ials"),
        ({"model": "ials", "unobserved_weight": 0.0}, "unobserved_weight must be a finite"),
    ],
)
def test_what_cannot_be_asked(options, message):
    with pytest.raises(UsageError, match=message):
        Settings(**options)


def test_layers_from_json_are_a_tuple():
    assert Settings(hidden=[8, 4]).hidden == (8, 4)
