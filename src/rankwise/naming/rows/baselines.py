"""The baselines: what the objectives are compared with."""

from __future__ import annotations

from functools import partial

from rankwise.naming.entry import row

_row = partial(row, "baselines")
_linear = partial(row, "baselines", cost="n")

BASELINES = (
    # A loss of single items is consistent for the area under the ROC curve, and for no more.
    _linear(
        "CrossEntropy",
        "cross_entropy bce",
        "auc",
        "Balanced classes, or a few epochs before any of the above.",
        "–",
    ),
    _linear(
        "ClassBalanced",
        "class_balanced",
        "auc",
        "Cross-entropy with classes weighted by size.",
        "Cui et al. 2019",
    ),
    _linear("Focal", "focal", "auc", "Many easy negatives.", "Lin et al. 2017"),
    _row(
        "LDAM",
        "ldam",
        "hit@1",
        "A long tail of classes.",
        "Cao et al. 2019",
        cost="n · classes",
    ),
    _row(
        "AUCSigmoid",
        "auc_sigmoid",
        "auc",
        "AUC with a bounded loss, for wrong labels.",
        "Calders & Jaroszewicz 2007",
    ),
    _row("AUCHuber", "auc_huber", "auc", "AUC with the loss of SOPRC.", "SOPRC Eq. 7"),
    _row("SmoothAP", "smooth_ap", "ap", "Retrieval: AP of cosines.", "Brown et al. 2020"),
    _linear("FastAP", "fast_ap", "ap", "Retrieval: AP of a histogram.", "Cakir et al. 2019"),
    _linear("HistogramAP", "histogram_ap", "ap", "The same, other bins.", "Revaud et al. 2019"),
    _row("BlackBoxAP", "blackbox_ap", "ap", "Retrieval: AP of exact ranks.", "Rolínek et al. 2020"),
    _linear("SoDeepAP", "sodeep_ap", "ap", "AP of learned ranks.", "Engilberge et al. 2019"),
    _row(
        "ErrorDrivenAP",
        "error_driven_ap ap_loss",
        "ap",
        "Detection: AP by error-driven updates.",
        "Chen et al. 2019",
    ),
    _linear(
        "DistributionalRanking",
        "dr dr_loss",
        "auc",
        "Detection: the hardest of both classes apart.",
        "Qian et al. 2020",
    ),
    _row("Triplet", "triplet", "auc", "Retrieval by all triplets.", "Schroff et al. 2015"),
    _linear("Contrastive", "contrastive", "ap", "Retrieval by pairs.", "Hadsell et al. 2006"),
    _linear(
        "MultiSimilarity",
        "multi_similarity",
        "ap",
        "Retrieval by mined pairs.",
        "Wang et al. 2019",
    ),
    _linear("InfoNCE", "info_nce", "hit@1", "Pairs of embeddings.", "van den Oord et al. 2018"),
    _linear("NTXent", "nt_xent", "hit@1", "Two views of each item.", "Chen et al. 2020"),
    _linear("SupCon", "sup_con", "ap", "Embeddings with labels.", "Khosla et al. 2020"),
    _row("ListMLE", "listmle", "ndcg", "Graded relevances, by likelihood.", "Xia et al. 2008"),
    _row("ApproxNDCG", "approx_ndcg", "ndcg", "NDCG of smooth ranks.", "Qin et al. 2010"),
    _row(
        "LambdaLoss",
        "lambda_loss",
        "ndcg",
        "NDCG by pairs weighted by their ranks.",
        "Wang et al. 2018",
        cost="n⁺ · n",
        at="k",
    ),
    _row(
        "CrossBatchMemory",
        "xbm",
        None,
        "Any of these against the embeddings of earlier batches.",
        "Wang et al. 2020",
        cost="as its objective",
    ),
)
