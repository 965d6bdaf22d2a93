from rankwise.metrics.ap import auprc, average_precision, logit_interval
from rankwise.metrics.auc import auroc, partial_auroc, two_way_partial_auroc
from rankwise.metrics.bootstrap import bootstrap_interval, compare, compare_lists
from rankwise.metrics.bounded import BoundedInterval, bounded_intervals
from rankwise.metrics.by_group import GroupComparison, compare_groups
from rankwise.metrics.confidence import confidence_intervals
from rankwise.metrics.curves import (
    PrecisionRecallCurve,
    RocCurve,
    precision_recall_curve,
    roc_curve,
)
from rankwise.metrics.dcg import ndcg
from rankwise.metrics.drift import population_stability_index
from rankwise.metrics.gain import (
    PrecisionRecallGainCurve,
    auprg,
    precision_recall_gain_curve,
)
from rankwise.metrics.hierarchical import hierarchical_ap
from rankwise.metrics.histogram import ScoreHistogram
from rankwise.metrics.incomplete import bpref, inferred_average_precision
from rankwise.metrics.intervals import (
    Comparison,
    Interval,
    ListMean,
    delong_interval,
    delong_test,
    mean_over_lists,
)
from rankwise.metrics.many import compare_many
from rankwise.metrics.metric import Metric
from rankwise.metrics.multi_class import ClassMetric
from rankwise.metrics.multiple import compare_independent, holm
from rankwise.metrics.operating_point import (
    fpr_at_tpr,
    precision_at_recall,
    recall_at_precision,
    tpr_at_fpr,
)
from rankwise.metrics.pu import pu_auroc, pu_average_precision
from rankwise.metrics.thresholds import OperatingPoint, choose_threshold
from rankwise.metrics.top import (
    hit_at_k,
    map_at_r,
    mean_reciprocal_rank,
    pap_at_k,
    precision_at_k,
    r_precision,
    recall_at_k,
)
from rankwise.metrics.user_models import expected_reciprocal_rank, inst, rank_biased_precision

__all__ = [
    "average_precision",
    "auprc",
    "auroc",
    "partial_auroc",
    "two_way_partial_auroc",
    "pap_at_k",
    "precision_at_k",
    "recall_at_k",
    "hit_at_k",
    "r_precision",
    "map_at_r",
    "mean_reciprocal_rank",
    "expected_reciprocal_rank",
    "rank_biased_precision",
    "inst",
    "bpref",
    "inferred_average_precision",
    "auprg",
    "pu_auroc",
    "pu_average_precision",
    "ndcg",
    "hierarchical_ap",
    "precision_at_recall",
    "recall_at_precision",
    "tpr_at_fpr",
    "fpr_at_tpr",
    "precision_recall_gain_curve",
    "PrecisionRecallGainCurve",
    "precision_recall_curve",
    "PrecisionRecallCurve",
    "roc_curve",
    "RocCurve",
    "choose_threshold",
    "OperatingPoint",
    "mean_over_lists",
    "ListMean",
    "Metric",
    "ClassMetric",
    "ScoreHistogram",
    "bootstrap_interval",
    "confidence_intervals",
    "bounded_intervals",
    "BoundedInterval",
    "delong_interval",
    "logit_interval",
    "Interval",
    "compare",
    "compare_lists",
    "compare_independent",
    "compare_groups",
    "GroupComparison",
    "compare_many",
    "delong_test",
    "holm",
    "population_stability_index",
    "Comparison",
]
