"""Batch norms over the joined batch of all processes."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.distributed.nn.functional import all_reduce

from rankwise.metrics.gather import is_distributed

_BATCH_NORM = nn.modules.batchnorm._BatchNorm


def join_batch_norms(module: nn.Module) -> None:
    """Let the batch norms of a module take the statistics of the joined batch, where they learn.

    That is what ``torch.nn.SyncBatchNorm`` does on a GPU; this also works on a processor. The
    names and the values in the state of the module stay as they are.
    """
    for part in module.modules():
        if isinstance(part, _BATCH_NORM):
            part.forward = _Joined(part)  # type: ignore[method-assign, assignment]


class _Joined:
    """The forward pass of a batch norm; a class, so that a network can be copied and pickled."""

    def __init__(self, norm: nn.modules.batchnorm._BatchNorm) -> None:
        self.norm = norm

    def __call__(self, x: Tensor) -> Tensor:
        norm = self.norm
        by_batch = norm.training or norm.running_mean is None
        if not by_batch or not is_distributed():
            return type(norm).forward(norm, x)
        return _normalized(norm, x)


def _normalized(norm: nn.modules.batchnorm._BatchNorm, x: Tensor) -> Tensor:
    norm._check_input_dim(x)
    over = [d for d in range(x.dim()) if d != 1]
    wide = x.double() if x.dtype == torch.float64 else x.float()
    count = wide.new_tensor([x.numel() / x.shape[1]])
    total = all_reduce(torch.cat([wide.sum(over), count]))
    size = total[-1].detach()
    mean = total[:-1] / size
    shape = [1, -1] + [1] * (x.dim() - 2)
    centered = wide - mean.reshape(shape)
    # Of the centered values: the mean of squares minus the square of the mean would cancel.
    variance = all_reduce(centered.square().sum(over)) / size
    if norm.training and norm.track_running_stats:
        assert norm.running_mean is not None
        assert norm.running_var is not None
        assert norm.num_batches_tracked is not None
        norm.num_batches_tracked.add_(1)
        rate = norm.momentum
        rate = 1 / float(norm.num_batches_tracked) if rate is None else rate
        with torch.no_grad():
            norm.running_mean.lerp_(mean.to(norm.running_mean.dtype), rate)
            unbiased = variance * (size / (size - 1))
            norm.running_var.lerp_(unbiased.to(norm.running_var.dtype), rate)
    found: Tensor = centered * (variance + norm.eps).rsqrt().reshape(shape)
    if norm.affine:
        found = found * norm.weight.reshape(shape) + norm.bias.reshape(shape)
    return found.to(x.dtype)
