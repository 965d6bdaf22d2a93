"""Objectives of the curves: average precision, AUC and partial AUC."""

from __future__ import annotations

from functools import partial
from typing import Any

from rankwise.naming.entry import row

_row = partial(row, "objectives")
_BY_LIST: dict[str, Any] = {"memory": "by list if num_lists > 1"}
# What is remembered by item makes these two of the three forms the published algorithms.
_FORMS: dict[str, Any] = {
    "memory": "by item if num_items",
    "facts": ("num_items",),
    "when": {"form": ("cvar", "kl")},
}
_MEMORY: dict[str, Any] = {"memory": "by item", "facts": ("num_items",), "needs": ("num_items",)}

CURVES = (
    _row(
        "AveragePrecision",
        "ap",
        "ap",
        "A rare class, several positives a batch: the first to try.",
        "SOPRC Eq. 4, 5",
        facts=("prior",),
    ),
    _row(
        "SOPRC",
        "soprc",
        "ap",
        "Few positives a batch, or another share of them than in the data.",
        "SOPRC Eq. 6–9",
        facts=("prior", "num_lists"),
        **_BY_LIST,
    ),
    _row(
        "StableAP",
        "stable_ap",
        "ap",
        "Noisy labels: no single example moves it by much.",
        "StableAP Eq. 4–7",
        facts=("prior", "num_lists"),
        **_BY_LIST,
    ),
    _row(
        "SOAP",
        "soap",
        "ap",
        "One or two positives a batch, seen again every epoch.",
        "EXM 2.3.2",
        memory="by item",
        facts=("prior", "num_items"),
    ),
    _row(
        "PairwiseAUC",
        "auc auroc",
        "auc",
        "Every pair counts alike, wherever in the list it is.",
        "EXM 2.3.1",
    ),
    _row(
        "CompositionalAUC",
        "compositional_auc",
        "auc",
        "AUC of large batches in linear time.",
        "EXM 2.3.1",
        cost="n",
    ),
    _row(
        "MinMaxAUC",
        "minmax_auc aucm",
        "auc",
        "AUC of small batches; its parameters go to the optimizer.",
        "Yuan et al. 2021",
        cost="n",
        facts=("num_lists",),
        **_BY_LIST,
    ),
    _row(
        "MultiClassAUC",
        "multi_class_auc mauc",
        "auc",
        "Several classes, each against each.",
        "Yang et al. 2021",
        cost="classes · n log n",
    ),
    _row(
        "OpenAUC",
        "open_auc",
        "auc",
        "Known classes, and items of none of them.",
        "Wang et al. 2022",
    ),
    _row(
        "PartialAUC",
        "opauc",
        "opauc",
        "Few false alarms are affordable.",
        "EXM 2.3.3",
        **_FORMS,
    ),
    _row(
        "PartialAUC",
        "sopa",
        "opauc",
        "The same from small batches, exactly.",
        "Zhu et al. 2022",
        fixed={"form": "cvar"},
        **_MEMORY,
    ),
    _row(
        "PartialAUC",
        "sopa_s",
        "opauc",
        "The same from small batches, smoothly.",
        "Zhu et al. 2022",
        fixed={"form": "kl"},
        **_MEMORY,
    ),
    _row(
        "TwoWayPartialAUC",
        "tpauc",
        "tpauc",
        "Few false alarms and few misses together.",
        "EXM 2.3.3",
        **_FORMS,
    ),
    _row(
        "TwoWayPartialAUC",
        "sota_s",
        "tpauc",
        "The same from small batches, smoothly.",
        "Zhu et al. 2022",
        fixed={"form": "kl"},
        **_MEMORY,
    ),
)
