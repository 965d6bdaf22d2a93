from __future__ import annotations

import math

import torch

from reproductions.frame import Setting
from reproductions.papk_table2.measure import PAP, Plan, evaluated, measure


def test_precision_and_the_auc_inside_the_top():
    scores = torch.tensor([[4.0, 1.0, 3.0, 2.0, 0.0], [9.0, 8.0, 1.0, 2.0, 3.0]])
    target = torch.tensor([True, True, False, False, False])
    precision, inside = evaluated(scores, target, 4)
    # In the first list: 1, 0, 0, 1 from the top; of the four pairs two are right.
    assert precision.tolist() == [0.5, 0.5]
    assert inside.tolist() == [0.5, 1.0]
    _, inside = evaluated(scores, target, 1)
    assert all(math.isnan(value) for value in inside.tolist())


def test_both_methods_see_the_same_lists_and_learn():
    runs = measure(Plan(runs=20, steps=60), Setting(seed=1))
    assert len(runs) == 2 * 2 * 2 * 20
    case_2 = [r for r in runs if r.case.startswith("Case 2") and r.sample == "trained on"]
    for method in (PAP, "SVM-pAUC"):
        own = [r.precision for r in case_2 if r.method == method]
        assert sum(own) / len(own) > 0.7  # chance is 20/180
