"""ArcFace: a classifier of cosines with a margin between the angles."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from rankwise.baselines.proxies import ProxyObjective, mean_cross_entropy
from rankwise.checks import require_number, require_positive
from rankwise.objectives.base import Reduction
from rankwise.objectives.classes import ClassLists


class ArcFace(ProxyObjective):
    """ArcFace: cross-entropy of scaled cosines, the angle of the own class enlarged by a margin.

    The loss is mean_x −log( e^(s·cos(θ_y + m)) / (e^(s·cos(θ_y + m)) + Σ_{c≠y} e^(s·cos θ_c)) ),
    θ_c the angle between an embedding x of class y and the proxy (class weight) of class c. Beyond
    θ = π − m, where cos(θ + m) would rise again, it goes on as the line cos θ − m·sin m, as in the
    authors' code: a larger angle always costs more. Value and gradient are finite for
    embeddings on and opposite their proxies.

    Args:
        num_classes: Number of training classes; ``target`` has class ids below it.
        dimension: Dimension of an embedding.
        margin: m, in radians, in [0, π/2]; 0.5 in the paper and in the authors' code
            (deepinsight/insightface, ``recognition/arcface_torch/losses.py``).
        scale: s; 64 in both.
        rate_factor: Factor of the learning rate of the proxies in rankwise's trainer.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import ArcFace
        >>> loss = ArcFace(num_classes=2, dimension=2, margin=0.5, scale=1.0)
        >>> _ = loss.proxies.data.copy_(torch.eye(2))
        >>> loss(torch.eye(2), torch.tensor([0, 1])).detach()  # log(1 + e^−cos 0.5)
        tensor(0.3477)

    Reference:
        Deng et al. 2019, "ArcFace: Additive angular margin loss for deep face recognition", Eq. 3.
    """

    def __init__(
        self,
        num_classes: int,
        dimension: int,
        margin: float = 0.5,
        scale: float = 64.0,
        *,
        rate_factor: float = 1.0,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(num_classes, dimension, rate_factor=rate_factor, reduction=reduction)
        require_number("margin", margin, minimum=0)
        if margin > math.pi / 2:
            raise ValueError(f"margin must be an angle in [0, π/2] (radians), got {margin!r}")
        require_positive("scale", scale)
        self.margin, self.scale = margin, scale
        nn.init.normal_(self.proxies, std=0.01)  # as in the authors' code

    def risk(self, lists: ClassLists) -> Tensor:
        place = lists.target.unsqueeze(-1)
        own = self._with_margin(lists.scores.gather(-1, place))
        return mean_cross_entropy(self.scale * lists.scores.scatter(-1, place, own), lists)

    def _with_margin(self, cosine: Tensor) -> Tensor:
        """cos(θ + m) of cos θ, by a line beyond θ = π − m."""
        # At θ = 0 and π the sine is 0 and has no derivative; rounding may put the cosine beyond 1.
        square = 1 - cosine * cosine
        inside = square > 0
        sine = torch.where(inside, torch.where(inside, square, 1).sqrt(), 0)
        further = cosine * math.cos(self.margin) - sine * math.sin(self.margin)
        line = cosine - self.margin * math.sin(self.margin)
        return torch.where(cosine > -math.cos(self.margin), further, line)
