"""Objectives of graded lists, of the top of a list, of embeddings, and those around another."""

from __future__ import annotations

from functools import partial
from typing import Any

from rankwise.naming.entry import row

_row = partial(row, "objectives")
_AT_K: dict[str, Any] = {"at": "k"}
_ANCHORS: dict[str, Any] = {"cost": "n", "memory": "by anchor", "facts": ("num_lists",)}

LISTS = (
    _row(
        "NDCG",
        "ndcg",
        "ndcg",
        "Graded relevances, the top of the list first.",
        "EXM 2.3.4",
        memory="by item if num_items",
        **_AT_K,
    ),
    _row(
        "NDCG",
        "song",
        "ndcg",
        "The same where a batch has only a part of each list.",
        "Qiu et al. 2022",
        memory="by item",
        facts=("num_items",),
        needs=("num_items",),
        **_AT_K,
    ),
    _row(
        "ListNet",
        "listnet",
        "ndcg",
        "Graded relevances, smooth and in linear time.",
        "Cao et al. 2007",
        cost="n",
        memory="by item if num_items",
    ),
    _row(
        "PrecisionAtK",
        "precision",
        "precision",
        "A page with k places, each as good as the next.",
        "Kar et al. 2015",
        **_AT_K,
    ),
    _row(
        "RecallAtK",
        "recall",
        "recall",
        "Retrieval evaluated on the first k items.",
        "Patel et al. 2022",
        **_AT_K,
    ),
    _row(
        "PApAtK",
        "pap",
        "pap",
        "Many users with k places each.",
        "pAp@k Eq. 6–24",
        **_AT_K,
    ),
    _row(
        "TopPush",
        "top_push",
        "opauc(1e-9)",
        "No negative may stand above a positive.",
        "Li et al. 2014",
        cost="n",
    ),
    _row(
        "AUTKC",
        "autkc",
        "hit",
        "Many classes and k guesses.",
        "Wang et al. 2022",
        cost="n · classes",
        **_AT_K,
    ),
    _row(
        "GlobalContrastive",
        "global_contrastive sogclr",
        "hit@1",
        "Embeddings of pairs or views from small batches.",
        "Yuan et al. 2022",
        **_ANCHORS,
    ),
    row(
        "objectives.contrastive",
        "IndividualTemperatures",
        "isogclr",
        "hit@1",
        "The same, rare and common things mixed.",
        "Qiu et al. 2023",
        **_ANCHORS,
    ),
    _row(
        "OneVsRest",
        "ovr",
        None,
        "Any of these for logits of several classes or labels.",
        "–",
        cost="classes · objective",
        memory="as its objective",
    ),
)
