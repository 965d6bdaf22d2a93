"""Figure 2.3 of the X-risk document: four metrics as areas under a curve."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from rankwise import metrics as m
from reproductions.why_the_metric_matters.example import Ranking

MAX_FPR = 0.5
MIN_TPR = 0.4


@dataclass(frozen=True)
class Area:
    """A region under a curve: steps (x, y) above ``floor``, as a share of the whole box."""

    name: str
    axes: tuple[str, str]
    x: tuple[float, ...]
    y: tuple[float, ...]
    until: float
    floor: float
    area: float
    metric: float

    @property
    def agrees(self) -> bool:
        """Whether area and metric are the same number."""
        return math.isclose(self.area, self.metric, abs_tol=1e-12)


def areas_of(ranking: Ranking) -> list[Area]:
    """Compute AUC, one-way and two-way partial AUC and AP as areas and as metrics.

    Args:
        ranking: A list without ties, whose partial areas end at a corner of the curve.
    """
    scores, target = ranking.tensors()
    fpr, tpr, _ = m.roc_curve(scores, target, drop_intermediate=False)
    two_way = m.two_way_partial_auroc(scores, target, min_tpr=MIN_TPR, max_fpr=MAX_FPR)
    partial = m.partial_auroc(scores, target, max_fpr=MAX_FPR)
    cut = f"FPR ≤ {MAX_FPR:g}"
    both = f"two-way pAUC, {cut}, TPR ≥ {MIN_TPR:g}"
    return [
        _under_roc("AUC", fpr, tpr, m.auroc(scores, target)),
        _under_roc(f"one-way pAUC, {cut}", fpr, tpr, partial, until=MAX_FPR),
        _under_roc(both, fpr, tpr, two_way, until=MAX_FPR, floor=MIN_TPR),
        _under_precision(scores, target),
    ]


def _under_roc(
    name: str, fpr: Tensor, tpr: Tensor, metric: Tensor, *, until: float = 1.0, floor: float = 0.0
) -> Area:
    within = fpr.clamp(max=until)
    height = (tpr[:-1] - floor).clamp(min=0)  # a step has the height it starts with
    area = float((within.diff() * height).sum()) / (until * (1 - floor))
    points = (tuple(fpr.tolist()), tuple(tpr.tolist()))
    return Area(name, ("FPR", "TPR"), *points, until, floor, area, float(metric))


def _under_precision(scores: Tensor, target: Tensor) -> Area:
    precision, recall, _ = (each.flip(0) for each in m.precision_recall_curve(scores, target))
    area = float((recall.diff() * precision[1:]).sum())
    # The precision of a step is that of the positive it ends with.
    steps = recall.diff() > 0
    x = torch.stack([recall[:-1][steps], recall[1:][steps]], dim=-1).flatten()
    y = precision[1:][steps].repeat_interleave(2)
    metric = float(m.average_precision(scores, target))
    return Area(
        "AUPRC (AP)",
        ("recall", "precision"),
        tuple(x.tolist()),
        tuple(y.tolist()),
        1.0,
        0.0,
        area,
        metric,
    )
