from __future__ import annotations

import torch

from rankwise.metrics import auroc, partial_auroc, two_way_partial_auroc
from reproductions.fidelity.problem import LISTS, PRIOR, make_lists, make_problem


def test_sizes_and_seed():
    x, target = make_problem(1_000, 3)
    assert x.shape == (1_000, 4)
    assert (x[:, 3] == 1).all()
    assert target.sum() == PRIOR * 1_000
    assert torch.equal(x, make_problem(1_000, 3)[0])
    assert not torch.equal(x, make_problem(1_000, 4)[0])


def test_the_metrics_want_different_lines():
    x, target = make_problem(20_000, 0)
    against_top_negatives = x @ torch.tensor([1.0, 0.2, -0.9, 0.0])
    for_bottom_positives = x @ torch.tensor([1.0, -0.45, 0.05, 0.0])
    for metric, options in (
        (auroc, {}),
        (two_way_partial_auroc, {"min_tpr": 0.5, "max_fpr": 0.5}),
    ):
        assert metric(for_bottom_positives, target, **options) > 0.05 + metric(
            against_top_negatives, target, **options
        )
    assert partial_auroc(against_top_negatives, target, max_fpr=0.1) > 0.05 + partial_auroc(
        for_bottom_positives, target, max_fpr=0.1
    )


def test_a_line_orders_every_list_and_not_all_at_once():
    x, target = make_lists(1_000, 0)
    assert x.shape == (LISTS, 100, 4)
    assert target.sum(-1).tolist()[:: LISTS - 1] == [45, 22]
    first = x[..., 0]
    assert auroc(first, target) == 1
    assert auroc(first.flatten(), target.flatten()) < 0.6
    assert torch.equal(x, make_lists(1_000, 0)[0])
    assert not torch.equal(x, make_lists(1_000, 1)[0])
