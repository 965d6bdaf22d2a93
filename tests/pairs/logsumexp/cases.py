"""What the log-sum-exps of all surrogates are asked alike."""

from __future__ import annotations

import torch


def assert_nothing_comes_of_no_weight(function, t, v, weight):
    """A list without weight has the value −inf and no gradient; its neighbor has both."""
    weight = weight.clone()
    weight[1] = 0
    t.requires_grad_()
    v.requires_grad_()
    total = function(t, v, weight)
    assert (total[1] == -torch.inf).all()
    assert torch.isfinite(total[0]).all()
    for slope in torch.autograd.grad(total, (t, v), torch.ones_like(total)):
        assert torch.isfinite(slope).all()
        assert (slope[1] == 0).all()
        assert (slope[0] != 0).any()


def assert_slopes_agree(fast, slow, inputs, *, digits=1e-9):
    """Of a random mix of the values, each beside the largest slope of its kind."""
    flow = torch.rand_like(fast)
    slopes = [torch.autograd.grad(each, inputs, flow) for each in (fast, slow)]
    for a, b in zip(*slopes, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=digits * float(b.abs().max()))
