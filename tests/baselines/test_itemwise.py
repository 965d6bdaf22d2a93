from __future__ import annotations

import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from rankwise.baselines import CrossEntropy
from rankwise.objectives import OneVsRest


def test_lists_without_items_are_left_out_and_those_of_one_class_are_not():
    scores = torch.tensor([[0.0, 0.0], [3.0, 3.0]])
    mask = torch.tensor([[True, True], [False, False]])
    value = CrossEntropy()(scores, torch.ones(2, 2), mask=mask)
    torch.testing.assert_close(value, torch.tensor(2.0).log())


def test_classes_one_against_the_rest():
    torch.manual_seed(2)
    logits, target = torch.randn(20, 4), torch.randint(0, 3, (20,))  # the last class is absent
    hot = torch.nn.functional.one_hot(target, 4).float()
    expected = binary_cross_entropy_with_logits(logits, hot)
    torch.testing.assert_close(OneVsRest(CrossEntropy())(logits, target), expected)
