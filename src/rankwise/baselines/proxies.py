"""Losses of embeddings against learned proxies, one per class: Proxy-Anchor, normalized softmax."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from rankwise.baselines.metric_learning import log_one_plus_sum
from rankwise.checks import (
    require_count,
    require_each,
    require_floating,
    require_number,
    require_positive,
    require_tensor,
    require_values,
)
from rankwise.eager import eager_only
from rankwise.objectives.base import Reduction
from rankwise.objectives.classes import ClassLists, ClassObjective


class ProxyObjective(ClassObjective):
    """Base class of losses of the cosines between embeddings and one learned proxy per class.

    It is called as ``loss(embeddings, labels)``, with embeddings of shape (…, items, dimension) in
    place of logits, and with the further arguments of a
    :class:`~rankwise.objectives.ClassObjective`. The proxies are parameters: pass
    ``loss.parameters()`` to the optimizer. ``risk`` of a subclass gets the cosines, one per class.
    """

    twice_differentiable = True

    def __init__(
        self,
        num_classes: int,
        dimension: int,
        *,
        rate_factor: float = 1.0,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        require_each(require_count, num_classes=num_classes, dimension=dimension)
        if num_classes < 2:
            raise ValueError(f"num_classes must be at least 2, got {num_classes}")
        require_positive("rate_factor", rate_factor)
        self.rate_factor = rate_factor
        self.proxies = nn.Parameter(torch.empty(num_classes, dimension))

    @eager_only
    def forward(
        self,
        scores: Tensor,
        target: Tensor,
        *,
        mask: Tensor | None = None,
        groups: Tensor | None = None,
        weight: Tensor | None = None,
        list_ids: Tensor | None = None,
        item_ids: Tensor | None = None,
    ) -> Tensor:
        """Compute the loss of embeddings (``scores``) with their class ids (``target``)."""
        require_tensor("scores", scores)
        require_values("scores", scores)
        require_floating("scores", scores)
        dimension = self.proxies.shape[1]
        if scores.dim() < 2 or scores.shape[-1] != dimension:
            raise ValueError(
                f"scores must be embeddings of shape (…, items, {dimension}), got "
                f"{tuple(scores.shape)}"
            )
        absent = target == -1 if mask is None else (target == -1) | ~mask
        if absent.shape == scores.shape[:-1]:  # other shapes are refused below
            scores = scores.masked_fill(absent.unsqueeze(-1), 0)
        with torch.autocast(scores.device.type, enabled=False):
            scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
            cosines = _unit(scores) @ _unit(self.proxies).to(scores.dtype).T
        more = {"list_ids": list_ids, "item_ids": item_ids}
        return super().forward(cosines, target, mask=mask, groups=groups, weight=weight, **more)


def _unit(vectors: Tensor) -> Tensor:
    """Return vectors of length 1; 0 stays 0, with a gradient that half precision can hold."""
    length = vectors.norm(dim=-1, keepdim=True)
    return vectors / torch.where(length > 0, length, 1)


class ProxyAnchor(ProxyObjective):
    """Proxy-Anchor loss: every proxy against all embeddings of the batch.

    With s the cosine of an embedding x and a proxy p, the loss is
    mean_{p∈P⁺} log(1 + Σ_{x∈p} e^(−α(s − δ))) + mean_{p∈P} log(1 + Σ_{x∉p} e^(α(s + δ))). P are
    the proxies of all classes, P⁺ those of the classes in the batch.

    Args:
        num_classes: Number of training classes; ``target`` has class ids below it.
        dimension: Dimension of an embedding.
        margin: δ; 0.1 in the paper and in the authors' code (tjddus9597/Proxy-Anchor-CVPR2020,
            ``code/train.py``).
        alpha: Scale α; 32 in both.
        rate_factor: Factor of the learning rate of the proxies in rankwise's trainer; 100 in the
            authors' code. In a loop of your own, give them a parameter group with that rate.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import ProxyAnchor
        >>> loss = ProxyAnchor(num_classes=2, dimension=2, margin=0.5, alpha=2.0)
        >>> _ = loss.proxies.data.copy_(torch.eye(2))
        >>> loss(torch.eye(2), torch.tensor([0, 1])).detach()  # log(1 + e^−1) + log(1 + e)
        tensor(1.6265)

    Reference:
        Kim et al. 2020, "Proxy anchor loss for deep metric learning", Eq. 4.
    """

    def __init__(
        self,
        num_classes: int,
        dimension: int,
        margin: float = 0.1,
        alpha: float = 32.0,
        *,
        rate_factor: float = 100.0,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(num_classes, dimension, rate_factor=rate_factor, reduction=reduction)
        require_number("margin", margin)
        require_positive("alpha", alpha)
        self.margin, self.alpha = margin, alpha
        nn.init.kaiming_normal_(self.proxies, mode="fan_out")  # as in the authors' code

    def risk(self, lists: ClassLists) -> Tensor:
        cosines = lists.scores.transpose(-1, -2)  # (lists, classes, items)
        classes = torch.arange(cosines.shape[1], device=cosines.device)
        own = lists.target.unsqueeze(1) == classes.unsqueeze(-1)
        weight = lists.weight.unsqueeze(1).expand_as(cosines)
        pulled = self._soft_count(-self.alpha * (cosines - self.margin), weight, own)
        pushed = self._soft_count(self.alpha * (cosines + self.margin), weight, ~own)
        present = (own & (weight > 0)).any(-1)
        return pulled.sum(-1) / present.sum(-1) + pushed.mean(-1)

    @staticmethod
    def _soft_count(exponent: Tensor, weight: Tensor, chosen: Tensor) -> Tensor:
        rows = [each.flatten(0, 1) for each in (exponent, weight, chosen & (weight > 0))]
        return log_one_plus_sum(*rows).view(exponent.shape[:2])


class NormalizedSoftmax(ProxyObjective):
    """Normalized softmax: cross-entropy of the cosines with all proxies, over a temperature.

    The loss is mean_x −log( e^(s_y/τ) / Σ_c e^(s_c/τ) ) with s_c the cosine of an embedding x of
    class y and the proxy (class weight) of class c. It is also known as NormFace.

    Args:
        num_classes: Number of training classes; ``target`` has class ids below it.
        dimension: Dimension of an embedding.
        temperature: τ; 0.05 in the paper and in the authors' code
            (azgo14/classification_metric_learning, ``metric_learning/modules/losses.py``).
        rate_factor: Factor of the learning rate of the proxies in rankwise's trainer.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import NormalizedSoftmax
        >>> loss = NormalizedSoftmax(num_classes=2, dimension=2, temperature=1.0)
        >>> _ = loss.proxies.data.copy_(torch.eye(2))
        >>> loss(torch.eye(2), torch.tensor([0, 1])).detach()  # log(1 + e^−1)
        tensor(0.3133)

    Reference:
        Zhai and Wu 2019, "Classification is a strong baseline for deep metric learning"; Wang et
        al. 2017, "NormFace".
    """

    def __init__(
        self,
        num_classes: int,
        dimension: int,
        temperature: float = 0.05,
        *,
        rate_factor: float = 1.0,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(num_classes, dimension, rate_factor=rate_factor, reduction=reduction)
        require_positive("temperature", temperature)
        self.temperature = temperature
        reach = 1 / math.sqrt(dimension)  # that of nn.Linear, as in the authors' code
        nn.init.uniform_(self.proxies, -reach, reach)

    def risk(self, lists: ClassLists) -> Tensor:
        return mean_cross_entropy(lists.scores / self.temperature, lists)


def mean_cross_entropy(logits: Tensor, lists: ClassLists) -> Tensor:
    """Return the mean cross-entropy of the items of each list, (lists,)."""
    of_class = logits.gather(-1, lists.target.unsqueeze(-1)).squeeze(-1)
    losses = (logits.logsumexp(-1) - of_class) * lists.weight
    return losses.sum(-1) / lists.weight.sum(-1)
