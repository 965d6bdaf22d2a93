"""Average precision of soft histograms: FastAP and the quantized AP of DIR.

The two papers print the same formula and differ in how they count bins. Each score is shared
between the two nearest nodes by a triangular kernel, so a list costs its items and not
items × bins.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from rankwise.checks import require_count
from rankwise.lists import Lists
from rankwise.objectives import Objective
from rankwise.objectives.base import Reduction

__all__ = ["FastAP", "HistogramAP"]


class SoftHistogramAP(Objective):
    """Average precision of soft histograms with M nodes b_1 = high … b_M = low, Δ apart.

    The loss is 1 − Σ_m (H⁺_m / H_m) · h⁺_m / n⁺. h_m = Σ_j max(0, 1 − |s_j − b_m|/Δ), h⁺ counts the
    positives only, and H, H⁺ are their cumulative sums from the top. A score outside [low, high]
    counts in the last node on its side, without a gradient.
    """

    def __init__(
        self, nodes: int, low: float, high: float, *, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ValueError(
                f"low and high must be finite with low < high, got low={low!r} and high={high!r}"
            )
        self.nodes, self.low, self.high = nodes, low, high

    def risk(self, lists: Lists) -> Tensor:
        lists = lists.widened()
        positives = self._histogram(lists.positives, lists.positive_weight)
        everything = positives + self._histogram(lists.negatives, lists.negative_weight)
        found, reached = positives.cumsum(-1), everything.cumsum(-1)
        precision = found / torch.where(reached > 0, reached, 1)
        return 1 - (precision * positives).sum(-1) / lists.n_positives.squeeze(-1)

    def _histogram(self, scores: Tensor, weight: Tensor) -> Tensor:
        """(lists, nodes), the highest scores first."""
        steps = self.nodes - 1
        position = (self.high - scores.clamp(self.low, self.high)) * (
            steps / (self.high - self.low)
        )
        node = position.detach().floor().clamp(0, steps - 1)
        share = position - node  # of the node below; the rest goes to the node above
        histogram = scores.new_zeros(len(scores), self.nodes)
        histogram = histogram.scatter_add(-1, node.long(), weight * (1 - share))
        return histogram.scatter_add(-1, node.long() + 1, weight * share)


class HistogramAP(SoftHistogramAP):
    """Quantized average precision AP_Q of deep image retrieval (DIR).

    The loss is 1 − Σ_m (H⁺_m / H_m) · h⁺_m / n⁺ over soft histograms h of the scores, with
    cumulative sums H from the highest bin down. A score is shared between the two nearest of
    ``bins`` bin centers, of which the first and the last are the ends of the range. A score outside
    the range counts in the last bin on its side, without a gradient.

    Args:
        bins: Number of bin centers, at least 2. The paper's 20 cover the cosines [−1, 1]; the
            released code defaults to 25 over [0, 1].
        low, high: Range of the scores, that of cosines by default.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import HistogramAP
        >>> scores, target = torch.tensor([1.0, 0.5, -1.0]), torch.tensor([0, 1, 1])
        >>> HistogramAP(bins=5)(scores, target)  # 1 − (1/2 + 2/3)/2, as the metric
        tensor(0.4167)

    Reference:
        Revaud et al. 2019, "Learning with average precision: Training image retrieval with a
        listwise loss".
    """

    def __init__(
        self, bins: int = 20, *, low: float = -1.0, high: float = 1.0, reduction: Reduction = "mean"
    ) -> None:
        require_count("bins", bins)
        if bins < 2:
            raise ValueError(f"bins must be >= 2, one at each end of the range, got {bins!r}")
        super().__init__(bins, low, high, reduction=reduction)


class FastAP(SoftHistogramAP):
    """FastAP: average precision of soft histograms over equal intervals.

    It is :class:`HistogramAP` with ``bins`` intervals, that is bins + 1 centers. The published 10
    bins divide the squared distances [0, 4] of unit vectors; the distance is 2 − 2s, so that the
    same bins divide the cosines [−1, 1].

    Args:
        bins: Number of intervals.
        low, high: Range of the scores, that of cosines by default.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import FastAP
        >>> scores, target = torch.tensor([1.0, 0.5, -1.0]), torch.tensor([0, 1, 1])
        >>> FastAP(bins=4)(scores, target)  # 1 − (1/2 + 2/3)/2, as the metric
        tensor(0.4167)

    Reference:
        Cakir et al. 2019, "Deep metric learning to rank".
    """

    def __init__(
        self, bins: int = 10, *, low: float = -1.0, high: float = 1.0, reduction: Reduction = "mean"
    ) -> None:
        require_count("bins", bins)
        super().__init__(bins + 1, low, high, reduction=reduction)
