"""Average precision with smoothed ranks, with blackbox gradients, and of soft histograms."""

from __future__ import annotations

import torch
from torch import Tensor

from rankwise.checks import is_finite, require_count, require_number, require_positive
from rankwise.lists import Lists
from rankwise.objectives import Objective
from rankwise.objectives.ap.formulas import false_positive_rate, saturating, true_positive_rate
from rankwise.objectives.base import Reduction
from rankwise.pairs import Sigmoid


class SmoothAP(Objective):
    """Smooth-AP: average precision with a sigmoid in place of the step.

    The loss is 1 − mean_{i∈P} R⁺_i / (R⁺_i + R⁻_i) with R⁺_i = 1 + Σ_{j∈P, j≠i} G(s_j − s_i),
    R⁻_i = Σ_{j∈N} G(s_j − s_i) and G(x) = 1/(1 + e^(−x/τ)). The gradient goes through both. The
    authors' code holds all differences of a list; here they are summed in n log n.

    Args:
        tau: Temperature τ of the sigmoid; the default is that of the authors' code
            (Andrew-Brown1/Smooth_AP, ``src/main.py``), for cosines.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import SmoothAP
        >>> scores, target = torch.tensor([0.9, 0.8, 0.1]), torch.tensor([0, 1, 0])
        >>> SmoothAP()(scores, target)  # one positive at rank 2: 1 − 1/2
        tensor(0.5000)

    Reference:
        Brown et al. 2020, "Smooth-AP: Smoothing the path towards large-scale image retrieval".
    """

    twice_differentiable = True

    def __init__(self, tau: float = 0.01, *, reduction: Reduction = "mean") -> None:
        super().__init__(reduction=reduction)
        require_positive("tau", tau)
        self.tau = tau

    def risk(self, lists: Lists) -> Tensor:
        step = Sigmoid(1 / self.tau)
        negatives_above = false_positive_rate(step, lists) * lists.n_negatives
        positives_above = true_positive_rate(step, lists) * lists.n_positives
        return lists.mean_over_positives(saturating(negatives_above / positives_above))


class BlackBoxAP(Objective):
    """Average precision with exact ranks and blackbox gradients.

    The loss is 1 − mean_{i∈P} rk⁺_i / rk_i. rk_i is the exact rank of positive i among all items,
    rk⁺_i among the positives, after the margin was applied. With g the gradient of a list's loss at
    its ranks, the gradient of its scores is (rk(s + λg) − rk(s))/λ. As in the authors' code, ranks
    are divided by the length of the list, which λ = 4 was chosen for, and rk⁺ has no gradient.
    Their code draws the margin at random; the paper's fixed one is used here. g is that of the list
    alone, so that neither the number of lists nor a scaled loss changes the meaning of λ.

    Ties count against the ranking (rk_i counts all j with s_j ≥ s_i): with ``margin=0`` the value
    is 1 − :func:`~rankwise.metrics.average_precision`, whatever the order of the input.

    Args:
        lam: Interpolation strength λ of the gradient. The authors' code
            (martius-lab/blackbox-backprop, ``mAP.py``) has no default for it and for the margin; 4
            and 0.02 are those of a later comparison (elias-ramzi/ROADMAP, ``blackbox_ap.py``).
        margin: Positives are lowered and negatives raised by half of it.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import BlackBoxAP
        >>> scores = torch.tensor([0.9, 0.8, 0.1], requires_grad=True)
        >>> loss = BlackBoxAP()(scores, torch.tensor([0, 1, 0]))
        >>> loss.backward()
        >>> loss.item(), scores.grad  # rank 2; the gradient swaps the first two
        (0.5, tensor([ 0.0833, -0.0833,  0.0000]))

    Reference:
        Rolínek et al. 2020, "Optimizing rank-based metrics with blackbox differentiation", L_AP.
    """

    def __init__(
        self, lam: float = 4.0, margin: float = 0.02, *, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        require_positive("lam", lam)
        require_number("margin", margin, minimum=0)
        self.lam, self.margin = lam, margin

    def risk(self, lists: Lists) -> Tensor:
        lists = lists.widened()
        shifted = lists.positives - self.margin / 2, lists.negatives + self.margin / 2
        scores = torch.cat(shifted, dim=-1)
        value, gradient = self._value_and_gradient(lists, scores.detach())
        # Adds nothing to the value, and the blackbox gradient to the graph.
        return value + (gradient * (scores - scores.detach())).sum(-1)

    @torch.no_grad()
    def _value_and_gradient(self, lists: Lists, scores: Tensor) -> tuple[Tensor, Tensor]:
        positives = lists.positives.shape[-1]
        weight, size = lists.weight, lists.n_positives + lists.n_negatives
        ranks = _ranks(scores, weight) / size
        among = _ranks(scores[:, :positives], lists.positive_weight) / size
        # What is absent may have rank 0; it has weight 0, too.
        rank = torch.where(lists.positive_weight > 0, ranks[:, :positives], 1)
        moved = scores.clone()
        moved[:, :positives] += self.lam * among / rank**2 / lists.n_positives
        gradient = weight * (_ranks(moved, weight) / size - ranks) / self.lam
        return 1 - lists.mean_over_positives(among / rank), gradient


def _ranks(scores: Tensor, weight: Tensor) -> Tensor:
    """Mass of the items with s_j ≥ s_i, for every item i of a row."""
    ascending, order = (-scores).sort(dim=-1)
    reach = weight.gather(-1, order).cumsum(-1)
    last_tie = torch.searchsorted(ascending, (-scores).contiguous(), right=True) - 1
    return reach.gather(-1, last_tie)


class HistogramAP(Objective):
    """Quantized average precision AP_Q of deep image retrieval (DIR).

    The loss is 1 − Σ_m (H⁺_m / H_m) · h⁺_m / n⁺ over soft histograms h of the scores, with
    cumulative sums H from the highest bin down: h_m = Σ_j max(0, 1 − |s_j − b_m|/Δ), and h⁺ counts
    the positives only. A score is shared between the two nearest of ``bins`` bin centers b, Δ
    apart, of which the first and the last are the ends of the range, so a list costs its items and
    not items × bins. A score outside the range counts in the last bin on its side, without a
    gradient.

    Args:
        bins: Number of bin centers, at least 2. The released code (naver/deep-image-retrieval,
            ``dirtorch/loss.py``) defaults to 25 over [0, 1]; 20 is what the same authors use later
            (naver/r2d2, ``train.py``). That the paper has 20 is not confirmed.
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

    twice_differentiable = True

    def __init__(
        self, bins: int = 20, *, low: float = -1.0, high: float = 1.0, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        require_count("bins", bins)
        if bins < 2:
            raise ValueError(f"bins must be >= 2, one at each end of the range, got {bins!r}")
        if not (is_finite(low) and is_finite(high) and low < high):
            raise ValueError(
                f"low and high must be finite with low < high, got low={low!r} and high={high!r}"
            )
        self.nodes, self.low, self.high = bins, low, high

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


class FastAP(HistogramAP):
    """FastAP: average precision of soft histograms over equal intervals.

    It is :class:`HistogramAP` with ``bins`` intervals, that is bins + 1 centers. The published 10
    bins divide the squared distances [0, 4] of unit vectors; the distance is 2 − 2s, so that the
    same bins divide the cosines [−1, 1].

    Args:
        bins: Number of intervals; 10 in the authors' code (kunhe/FastAP-metric-learning,
            ``FastAP_loss.py``).
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
        super().__init__(bins + 1, low=low, high=high, reduction=reduction)
