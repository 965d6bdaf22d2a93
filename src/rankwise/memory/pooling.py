"""Scores of bags from scores of sampled instances: multiple-instance learning (MIDAM)."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from rankwise.checks import (
    require_count,
    require_finite,
    require_floating,
    require_ids,
    require_mask,
    require_positive,
    require_same_device,
    require_same_shape,
    require_scores,
    require_tensor,
    require_values,
)
from rankwise.eager import eager_only, first_gradient_only
from rankwise.memory._bags import Bags, arranged
from rankwise.memory.fcco import FCCOAverage
from rankwise.memory.ratio import RatioAverage


class _BagPooling(nn.Module, ABC):
    """Base class of poolings: one score for each bag from the scores of its instances.

    A bag may be too large for a step. With ``num_bags`` a pooling takes a sample of the instances
    of each bag, and keeps the inner means of every bag as moving averages u. They are inside a
    non-linear function, so the pooled score of a sample is biased; that of u is not in the limit,
    and both the value and the gradient use it (FCCO). The result is a tensor of bag scores for any
    objective.

    In ``eval()`` the memory is neither used nor changed: the score is that of the instances given,
    whose ids may be of any bags.

    Args:
        num_bags: Number of bags in the training set; None keeps no averages.
        ema_rate: Rate γ of the moving averages, in (0, 1].
    """

    average: FCCOAverage | None

    def __init__(self, num_bags: int | None, *, ema_rate: float) -> None:
        super().__init__()
        if num_bags is not None:
            require_count("num_bags", num_bags)
        self.num_bags = num_bags
        self.average = None if num_bags is None else self.new_memory(num_bags, ema_rate)

    @staticmethod
    @abstractmethod
    def new_memory(num_bags: int, ema_rate: float) -> FCCOAverage:
        """Return the memory of the inner means."""

    @property
    def remembers(self) -> bool:
        """Whether the memory is used now."""
        return self.average is not None and self.training

    def averaged(self, ids: Tensor | None, estimates: Tensor) -> Tensor:
        """Update the averages; return them with the gradient of the estimates, (bags,)."""
        assert self.average is not None
        assert ids is not None
        value, update = self.average.track(ids, estimates)
        self.average.update(update.ids, update.estimates)
        return value.squeeze(-1)

    def read(
        self, scores: Tensor, bag_ids: Tensor | None, mask: Tensor | None
    ) -> tuple[Tensor, Bags]:
        """Return the scores of the instances that are present, and their bags, checked."""
        require_tensor("scores", scores)
        require_values("scores", scores)
        require_floating("scores", scores)
        if scores.dim() == 0:
            raise ValueError("scores must have at least one dimension, the instances, got a number")
        if mask is not None:
            require_mask("mask", mask)
            require_same_shape("mask", mask, "scores", scores)
        if scores.dim() > 1 and scores.shape[-1] == 1:
            raise ValueError(
                f"scores must have the instances in the last dimension, got {tuple(scores.shape)}, "
                "bags of one instance each; pass `scores.squeeze(-1)` with the bag of each instance"
            )
        bags = arranged(scores, bag_ids, mask)
        if self.remembers:
            if bags.ids is None:
                raise ValueError(
                    f"bag_ids is needed: {type(self).__name__} remembers {self.num_bags} bags; "
                    "pass the id of each bag, or of the bag of each instance"
                )
            require_ids("bag_ids", bags.ids, self.num_bags or 0)
        wide = bags.take(scores.to(torch.promote_types(scores.dtype, torch.float32)))
        require_scores("scores", wide)
        return (first_gradient_only(wide, type(self).__name__) if self.remembers else wide), bags

    def extra_repr(self) -> str:
        """Return the number of bags."""
        return f"num_bags={self.num_bags}"


class SmoothMaxPooling(_BagPooling):
    """Smoothed maximum of the instance scores of each bag, from sampled instances.

    h = τ log u with u ← (1−γ)u + γ·mean_{x sampled} e^(s_x/τ); without memory, or where all
    instances are sampled, τ log mean_x e^(s_x/τ). It is between the mean (large τ) and the maximum
    (small τ). The result is a tensor of bag scores for any objective;
    :class:`~rankwise.objectives.MinMaxAUC` of it is MIDAM-smx.

    The mean is inside a non-linear function: the pooled score of a few instances is biased, that of
    the average u of each bag is not in the limit, and both the value and the gradient use it. In
    ``eval()`` the memory is neither used nor changed: pass whole bags, with any ids or none.

    Args:
        num_bags: Number of bags in the training set; None keeps no averages.
        temperature: Temperature τ, in units of the scores.
        ema_rate: Rate γ of the moving averages, in (0, 1].

    Example:
        >>> import torch
        >>> from rankwise.memory import SmoothMaxPooling
        >>> from rankwise.objectives import MinMaxAUC
        >>> pool, loss = SmoothMaxPooling(num_bags=100, temperature=1.0), MinMaxAUC()
        >>> scores = torch.tensor([0.0, 3.0, 1.0, 1.0], requires_grad=True)
        >>> bag_ids = torch.tensor([7, 7, 42, 42])  # the bag of each instance
        >>> bags = pool(scores, bag_ids)  # in ascending order of the ids
        >>> bags.detach()  # log((1 + e³)/2) and 1
        tensor([2.3554, 1.0000])
        >>> loss(bags, torch.tensor([1, 0])).backward()

    Reference:
        Zhu et al. 2023, "Provable Multi-instance Deep AUC Maximization with Stochastic Pooling"
        (MIDAM-smx).
    """

    def __init__(
        self, num_bags: int | None, temperature: float = 0.1, *, ema_rate: float = 0.1
    ) -> None:
        super().__init__(num_bags, ema_rate=ema_rate)
        require_positive("temperature", temperature)
        self.temperature = temperature

    @staticmethod
    def new_memory(num_bags: int, ema_rate: float) -> FCCOAverage:
        """Return averages of u, in logarithms."""
        return FCCOAverage(num_bags, ema_rate=ema_rate, log=True)

    @eager_only
    def forward(
        self, scores: Tensor, bag_ids: Tensor | None = None, *, mask: Tensor | None = None
    ) -> Tensor:
        """Pool the scores of the instances of each bag.

        Args:
            scores: Instance scores, shape (…, instances): every row is a bag. Or (n,), with the bag
                of each instance in ``bag_ids``.
            bag_ids: Ids of the bags in the training set, shape (…,) or, for flat instances, (n,).
            mask: True for instances that are present, of the shape of ``scores``.

        Returns:
            Bag scores, shape (…,) or, for flat instances, one for each id in ascending order.
        """
        instances, bags = self.read(scores, bag_ids, mask)
        log_mean = bags.log_mean_exp(instances / self.temperature)
        if self.remembers:
            log_mean = self.averaged(bags.ids, log_mean.unsqueeze(-1))
        return (self.temperature * log_mean).reshape(bags.shape)

    def extra_repr(self) -> str:
        """Return the number of bags and the temperature."""
        return f"{super().extra_repr()}, temperature={self.temperature}"


class AttentionPooling(_BagPooling):
    """Mean of the instance scores of each bag by learned attention, from sampled instances.

    h = N/D with N ← (1−γ)N + γ·mean_{x sampled} e^(g_x)·s_x and D ← (1−γ)D + γ·mean_{x sampled}
    e^(g_x); without memory, or where all instances are sampled, Σ_x softmax(g)_x·s_x. The attention
    logits g come from the model, such as gᵀtanh(V·e_x) of an embedding e_x.
    :class:`~rankwise.objectives.MinMaxAUC` of ``torch.sigmoid(h)`` is MIDAM-att. Memory and
    ``eval()`` are those of :class:`SmoothMaxPooling`.

    Args:
        num_bags: Number of bags in the training set; None keeps no averages.
        ema_rate: Rate γ of the moving averages, in (0, 1].

    Example:
        >>> import torch
        >>> from rankwise.memory import AttentionPooling
        >>> pool = AttentionPooling(num_bags=100)
        >>> scores = torch.tensor([[0.0, 3.0], [1.0, 1.0]], requires_grad=True)  # a row is a bag
        >>> attention = torch.tensor([[0.0, 2.0], [0.0, 0.0]]).log1p()  # weights 1 : 3 and 1 : 1
        >>> pool(scores, attention, torch.tensor([7, 42])).detach()
        tensor([2.2500, 1.0000])

    Reference:
        Zhu et al. 2023, "Provable Multi-instance Deep AUC Maximization with Stochastic Pooling"
        (MIDAM-att).
    """

    def __init__(self, num_bags: int | None, *, ema_rate: float = 0.1) -> None:
        super().__init__(num_bags, ema_rate=ema_rate)

    @staticmethod
    def new_memory(num_bags: int, ema_rate: float) -> FCCOAverage:
        """Return averages of N and D, as a ratio."""
        return RatioAverage(num_bags, ema_rate=ema_rate)

    @eager_only
    def forward(
        self,
        scores: Tensor,
        attention: Tensor,
        bag_ids: Tensor | None = None,
        *,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Pool the scores of the instances of each bag.

        Args:
            scores: Instance scores, see :meth:`SmoothMaxPooling.forward`.
            attention: Attention logits g, of the shape of ``scores``.
            bag_ids: Ids of the bags, see :meth:`SmoothMaxPooling.forward`.
            mask: True for instances that are present, of the shape of ``scores``.

        Returns:
            Bag scores, see :meth:`SmoothMaxPooling.forward`.
        """
        require_tensor("attention", attention)
        require_values("attention", attention)
        require_floating("attention", attention)
        require_same_shape("attention", attention, "scores", scores)
        require_same_device("attention", attention, "scores", scores)
        instances, bags = self.read(scores, bag_ids, mask)
        logits = bags.take(attention.to(instances.dtype))
        require_finite("attention", logits)
        if self.remembers:
            logits = first_gradient_only(logits, type(self).__name__)
        ratio = bags.mean_by_softmax(instances, logits)
        if self.remembers:
            inner = torch.stack([bags.log_mean_exp(logits), ratio], -1)
            ratio = self.averaged(bags.ids, inner)
        return ratio.reshape(bags.shape)
