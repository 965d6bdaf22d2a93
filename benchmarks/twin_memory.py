"""Training steps of losses with a memory by bag, item or anchor, and of their LibAUC twins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Loss = Callable[[Tensor], Tensor]
INSTANCES, SAMPLED, TAU = 16, 64, 0.1  # of a bag, of the classes, and of a smoothed maximum


def bags(pooling: str, size: int) -> tuple[Tensor, Loss, Loss]:
    """``size`` bags of instance scores and attention logits; theirs takes their inner means."""
    from libauc.losses import MIDAMLoss  # noqa: PLC0415

    from rankwise.memory import AttentionPooling, SmoothMaxPooling  # noqa: PLC0415
    from rankwise.objectives import MinMaxAUC  # noqa: PLC0415

    instances = torch.randn(2, size, INSTANCES)
    target, index = torch.arange(size) % 2, torch.arange(size)
    auc, truth = MinMaxAUC(), target.float().unsqueeze(1)
    peer = MIDAMLoss(mode=pooling, data_len=size, device=torch.device("cpu"))
    smooth, attention = SmoothMaxPooling(size, TAU), AttentionPooling(size)

    def ours(z: Tensor) -> Tensor:
        if pooling == "softmax":
            h = smooth(z[0], index)
        else:
            h = torch.sigmoid(attention(z[0], z[1], index))
        value: Tensor = auc(h, target)
        return value

    def theirs(z: Tensor) -> Tensor:
        if pooling == "softmax":
            inner: Any = (z[0] / TAU).exp().mean(1, keepdim=True)
        else:
            weight = z[1].exp()
            inner = [(weight * z[0]).mean(1, keepdim=True), weight.mean(1, keepdim=True)]
        value: Tensor = peer(y_pred=inner, y_true=truth, index=index)
        return value

    return instances, ours, theirs


def sampled_classes(size: int) -> tuple[Tensor, Loss, Loss]:
    """``size`` items with the logits of 64 classes of 10 000, the item's own first."""
    from libauc.losses.xc import EntLossClassification  # noqa: PLC0415

    from rankwise.objectives import EntropicRisk  # noqa: PLC0415

    own = torch.zeros(size, SAMPLED, dtype=torch.bool)
    own[:, 0] = True
    loss, index = EntropicRisk(size, 10_000, log_step=0.0), torch.arange(size)
    peer = EntLossClassification(data_size=size, alpha=0.0)

    def theirs(logits: Tensor) -> Tensor:
        value: Tensor = peer(logits - logits[:, :1], index)["loss"]
        return value

    return torch.randn(size, SAMPLED), lambda z: loss(z, own, list_ids=index), theirs


def average_precision_at_k(size: int, classes: int, k: int) -> tuple[Tensor, Loss, Loss]:
    """Logits of several labels, and the first k items of each."""
    from libauc.losses import mAPLoss  # noqa: PLC0415

    from rankwise.objectives import AveragePrecision, OneVsRest  # noqa: PLC0415

    target, index = (torch.randn(size, classes) > 0).long(), torch.arange(size)
    loss = OneVsRest(AveragePrecision(k=k, score_scale=1.0))
    peer = mAPLoss(data_len=size, num_labels=classes, top_k=k)

    def theirs(logits: Tensor) -> Tensor:
        value: Tensor = peer(logits.sigmoid(), target.float(), index)
        return value

    return torch.randn(size, classes), lambda z: loss(z, target), theirs
