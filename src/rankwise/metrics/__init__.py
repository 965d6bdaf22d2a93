"""Exact ranking metrics, curves and confidence intervals.

Every metric has one signature::

    metric(scores, target, *, mask=None, groups=None, weight=None, ties="standard", average="macro")

and the options of the metric, such as ``k``. The shared arguments are:

scores
    Anything that can be ranked, higher first: a torch tensor or a numpy array (the result is of the
    same kind, in float64). The last dimension is the list that is ranked, leading dimensions are
    independent lists. Infinite scores are ranked, NaN raises.
target
    0 and 1 of the same shape, of any dtype. :func:`ndcg` and :func:`expected_reciprocal_rank` take
    relevances ≥ 0; :func:`bpref` and :func:`inferred_average_precision` take items without a label,
    −1 or −2.
mask
    Boolean, False where an item is absent: padding may hold anything there.
groups
    Integer ids that say which list an item belongs to, for one-dimensional scores.
weight
    How often an item counts: 2 is the item twice, 0 not at all. Metrics of single ranks require
    whole numbers; their descriptions say so.
ties
    Never decided by the order of the input. ``"standard"`` agrees with scikit-learn: AUROC counts
    half, average precision takes tied items as above, metrics of the first ranks are the mean over
    all orders of the tied items. ``"against"`` puts what is tied in the worst order, the strict
    form of the papers.
average
    ``"macro"``: the mean over lists; ``"micro"``: all items pooled into one list; ``"none"``: one
    value per list, of shape ``scores.shape[:-1]`` or in ascending order of the group ids. For
    :func:`pap_at_k` alone the first two words are swapped, as in its paper.

A list with only one class (for :func:`ndcg`, without a relevant item) has no value: NaN, a warning
that says how many there are, and it is left out of the mean. :func:`mean_over_lists` gives the mean
of the values of ``average="none"`` with its counts and standard error.
"""

from rankwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
