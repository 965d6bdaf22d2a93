"""Options of a wrong type: the error names the option, whichever part of the library has it."""

from __future__ import annotations

import inspect
import math
import warnings
from functools import partial

import numpy as np
import pytest
import torch

from rankwise import baselines, memory, metrics, objectives, pairs

KINDS = {"int", "int | None", "float", "float | None", "Prior", "Counts"}
GIVEN = {
    "prior": 0.1,
    "min_recall": 0.5,
    "min_precision": 0.5,
    "max_fpr": 0.5,
    "min_tpr": 0.5,
    "ema_rate": 0.5,
    "log_step": 0.0,
    "counts": [3, 4],
    "thresholds": [0.5],
    "objective": objectives.AveragePrecision(),
    "surrogate": "sigmoid",
    "rule": "fpr<=0.5",
    "outer": torch.log1p,
    "scores": np.random.default_rng(0).normal(size=30),
    "target": np.arange(30) % 3 == 0,
}
WRONG = ["a word", [], object(), math.nan]
USED = {  # what makes an option of another form or memory count
    "PartialAUC": {"form": "kl", "num_items": 8},
    "TwoWayPartialAUC": {"form": "kl", "num_items": 8},
    "threshold_rate": {"form": "cvar", "num_items": 8},
    "NDCG": {"num_items": 8},
    "ListNet": {"num_items": 8},
    "XRisk": {"inner": "hinge", "num_items": 8},
    "rows_per_day": {"rule": "alerts<=3/day"},
}


def numeric_options(owner, name):
    """Yield the options of a public name that take a number, and how to call it with one."""
    made = getattr(owner, name)
    if not callable(made) or (owner is metrics) == isinstance(made, type):
        return
    parameters = inspect.signature(made).parameters.values()
    if owner is metrics and [each.name for each in parameters][:2] != ["scores", "target"]:
        return
    needed = {
        each.name: GIVEN.get(each.name, 3)
        for each in parameters
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    }
    for each in parameters:
        if each.annotation in KINDS:
            used = {**USED.get(name, {}), **USED.get(each.name, {})}
            yield each.name, partial(_called, made, {**needed, **used})


def _called(made, given, option, value):
    return made(**{**given, option: value})


CASES = [
    pytest.param(call, option, id=f"{owner.__name__.split('.')[-1]}.{name}-{option}")
    for owner in (objectives, baselines, memory, metrics, pairs)
    for name in owner.__all__
    for option, call in numeric_options(owner, name)
]


def test_every_family_is_here():
    assert len(CASES) > 200


@pytest.mark.parametrize(("call", "option"), CASES)
def test_an_option_of_a_wrong_type_is_named(call, option):
    for value in WRONG:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(ValueError, match=rf"\b{option}\b"):
                call(option, value)
