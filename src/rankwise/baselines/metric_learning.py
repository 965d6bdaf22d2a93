"""Losses of metric learning on similarities, and a memory of the last batches for any of them."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rankwise.checks import (
    require_count,
    require_each,
    require_number,
    require_positive,
    require_values,
)
from rankwise.eager import eager_only
from rankwise.lists import Lists
from rankwise.memory import EmbeddingBank
from rankwise.objectives import Objective, embedding_scores
from rankwise.objectives._options import ReprFromOptions
from rankwise.objectives.base import Reduction
from rankwise.pairs import Hinge, ZeroOne, pair_sum


class Contrastive(Objective):
    """Contrastive loss on similarities, one query per list.

    The loss is ( Σ_{i∈P} (1 − s_i) + Σ_{j∈N} (s_j − margin)₊ ) / (n⁺ + n⁻): Hadsell et al. in the
    form of XBM, with cosines in place of distances. XBM's code takes the sum over the pairs of a
    query; the mean has the same direction and does not grow with the gallery.

    Args:
        margin: Similarity below which a negative has no loss; 0.5 in XBM's code
            (msight-tech/research-xbm, ``contrastive_loss.py``), which sums s_j in place of s_j −
            margin: another value with the same gradient.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import Contrastive
        >>> scores, target = torch.tensor([0.75, 0.75, 0.25]), torch.tensor([1, 0, 0])
        >>> Contrastive()(scores, target)  # (0.25 + 0.25 + 0)/3
        tensor(0.1667)

    Reference:
        Hadsell et al. 2006, "Dimensionality reduction by learning an invariant mapping"; Wang et
        al. 2020, "Cross-batch memory for embedding learning".
    """

    twice_differentiable = True

    def __init__(self, margin: float = 0.5, *, reduction: Reduction = "mean") -> None:
        super().__init__(reduction=reduction)
        require_number("margin", margin)
        self.margin = margin

    def risk(self, lists: Lists) -> Tensor:
        lists = lists.widened()
        apart = (1 - lists.positives) * lists.positive_weight
        near = (lists.negatives - self.margin).clamp_min(0) * lists.negative_weight
        size = lists.n_positives + lists.n_negatives
        return (apart.sum(-1) + near.sum(-1)) / size.squeeze(-1)


class Triplet(Objective):
    """Triplet loss on similarities over all triplets, one query per list.

    The loss is mean_{i∈P, j∈N} (margin − s_i + s_j)₊, in n log n.

    Args:
        margin: Required distance between similarities. The default is FaceNet's 0.2 of squared
            distances, which are 2 − 2s for unit vectors.
        violating_only: Whether the mean is over the triplets that are not beyond the margin ("batch
            all" of Hermans et al. 2017); 0 if all are.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import Triplet
        >>> scores, target = torch.tensor([0.5, 0.5, 0.25]), torch.tensor([1, 0, 0])
        >>> Triplet()(scores, target)  # (0.1 + 0)/2
        tensor(0.0500)
        >>> Triplet(violating_only=True)(scores, target)
        tensor(0.1000)

    Reference:
        Schroff et al. 2015, "FaceNet"; Hermans et al. 2017, "In defense of the triplet loss".
    """

    twice_differentiable = True

    def __init__(
        self, margin: float = 0.1, *, violating_only: bool = False, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        self.hinge = Hinge(margin)
        self.violating_only = violating_only

    def risk(self, lists: Lists) -> Tensor:
        slack = pair_sum(self.hinge, lists.positives, lists.negatives, weight=lists.negative_weight)
        mean = lists.mean_over_positives(slack / lists.n_negatives)
        if not self.violating_only:
            return mean
        violating = self._violating(lists)
        return mean / torch.where(violating > 0, violating, 1)

    @torch.no_grad()
    def _violating(self, lists: Lists) -> Tensor:
        """Return the share of the triplets with s_i − margin ≤ s_j."""
        # In double precision like the sum, so that rounding moves no triplet over the edge.
        wanted, negatives = lists.positives.double() - self.hinge.margin, lists.negatives.double()
        above = pair_sum(ZeroOne(), wanted, negatives, weight=lists.negative_weight)
        share = lists.mean_over_positives(above / lists.n_negatives)
        return share.to(lists.positive_weight.dtype)


class MultiSimilarity(Objective):
    """Multi-similarity loss on mined pairs, one query per list.

    The loss is 1/α log(1 + Σ_P e^(−α(s_i − λ))) + 1/β log(1 + Σ_N e^(β(s_j − λ))). The sums contain
    mined pairs only: positives with s_i < max_N s + ε and negatives with s_j > min_P s − ε.

    Args:
        alpha: Scale α of the positives.
        beta: Scale β of the negatives; 50 in the paper, 40 in the authors' code.
        base: Similarity λ at which a pair has exponent 0; 0.5 in the authors' code
            (msight-tech/research-ms-loss), 1 in the paper.
        epsilon: Margin ε of the mining, 0.1 in that code; None uses all pairs.
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import MultiSimilarity
        >>> scores, target = torch.tensor([0.5, 0.5]), torch.tensor([1, 0])
        >>> MultiSimilarity()(scores, target)  # log(2)/2 + log(2)/50
        tensor(0.3604)

    Reference:
        Wang et al. 2019, "Multi-similarity loss with general pair weighting".
    """

    twice_differentiable = True

    def __init__(
        self,
        alpha: float = 2.0,
        beta: float = 50.0,
        base: float = 0.5,
        epsilon: float | None = 0.1,
        *,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        require_each(require_positive, alpha=alpha, beta=beta)
        require_number("base", base)
        if epsilon is not None:
            require_number("epsilon", epsilon)
        self.alpha, self.beta, self.base, self.epsilon = alpha, beta, base, epsilon

    def risk(self, lists: Lists) -> Tensor:
        lists = lists.widened()
        hard_positive, hard_negative = lists.positive_weight > 0, lists.negative_weight > 0
        if self.epsilon is not None:
            worst = lists.positives.masked_fill(~hard_positive, torch.inf).amin(-1, keepdim=True)
            best = lists.negatives.masked_fill(~hard_negative, -torch.inf).amax(-1, keepdim=True)
            hard_positive = hard_positive & (lists.positives < best + self.epsilon)
            hard_negative = hard_negative & (lists.negatives > worst - self.epsilon)
        pulled = -self.alpha * (lists.positives - self.base)
        pushed = self.beta * (lists.negatives - self.base)
        return (
            log_one_plus_sum(pulled, lists.positive_weight, hard_positive) / self.alpha
            + log_one_plus_sum(pushed, lists.negative_weight, hard_negative) / self.beta
        )


def log_one_plus_sum(exponent: Tensor, weight: Tensor, chosen: Tensor) -> Tensor:
    """Return log(1 + Σ weight · e^exponent) over the chosen ones, in the log domain."""
    terms = (exponent + torch.where(chosen, weight, 1).log()).masked_fill(~chosen, -torch.inf)
    one = terms.new_zeros(len(terms), 1)
    return torch.cat([terms, one], dim=-1).logsumexp(-1)


class CrossBatchMemory(ReprFromOptions, nn.Module):
    """Cross-batch memory (XBM): an objective over the batch and the embeddings of earlier batches.

    Every embedding is a query that ranks the rest of its batch and a memory of ``size`` embeddings
    by cosine. The authors' code adds the loss of the batch to that of the memory; here both are one
    list. Embeddings drift slowly, so those of earlier batches serve as positives and negatives,
    without a gradient. The module is called with (embeddings, labels). The memory
    changes only in training: neither in ``eval()`` nor under ``torch.no_grad()``. An objective with
    a memory by list needs ``num_lists`` equal to the number of classes; its ``list_ids`` are the
    labels of the queries.

    Args:
        objective: Any objective without a memory by item.
        size: Number of embeddings that are remembered.
        dimension: Dimension of an embedding.
        start: Training batch from which the memory is used and filled; the authors start after 1
            000 batches, when the drift is slow (msight-tech/research-xbm, ``sample_config.yaml``).

    Raises:
        ValueError: If the objective has a memory by item: remembered embeddings have no item ids.

    Example:
        >>> import torch
        >>> from rankwise.baselines import Contrastive, CrossBatchMemory
        >>> loss = CrossBatchMemory(Contrastive(), size=4, dimension=2)
        >>> embeddings = torch.eye(2).repeat_interleave(2, dim=0)
        >>> loss(embeddings, torch.tensor([0, 0, 1, 1]))  # the memory is empty
        tensor(0.)
        >>> loss(embeddings, torch.tensor([1, 1, 0, 0]))  # (2 · 0.5 + 2)/7 from memory
        tensor(0.4286)

    Reference:
        Wang et al. 2020, "Cross-batch memory for embedding learning".
    """

    batches: Tensor  # training batches seen so far

    def __init__(self, objective: Objective, size: int, dimension: int, *, start: int = 0) -> None:
        super().__init__()
        if not isinstance(objective, Objective) or objective.memory_by == "item":
            raise ValueError(
                "objective must be an Objective without a memory by item (remembered embeddings "
                f"have no item ids), got {type(objective).__name__}"
            )
        require_count("start", start, minimum=0)
        self.objective, self.start = objective, start
        self.bank = EmbeddingBank(size, dimension)
        self.register_buffer("batches", torch.zeros((), dtype=torch.long))

    @eager_only
    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        """Compute the objective over the batch and the embeddings remembered before it."""
        require_values("embeddings", embeddings)
        gallery, gallery_labels = None, None
        if int(self.batches) >= self.start:
            gallery, gallery_labels = self.bank(embeddings, labels)
        if self.training and torch.is_grad_enabled():
            self.batches += 1
        lists = embedding_scores(embeddings, labels, gallery, gallery_labels)
        by_class = self.objective.memory_by == "list" and self.objective.memory_size > 1
        loss: Tensor = self.objective(
            lists.scores, lists.target, mask=lists.mask, list_ids=labels if by_class else None
        )
        return loss
