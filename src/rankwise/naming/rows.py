"""The rows of the table of names: objectives, baselines and metrics.

A row is a line of columns and an indented line of description.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rankwise._grammar import Value
from rankwise.naming.entry import MetricEntry, ObjectiveEntry

# What the last column of an objective says, besides a cost or a memory of its own.
_FACTS = {
    "prior": ("prior",),
    "by list": ("num_lists",),
    "by anchor": ("num_lists",),
    "by item": ("num_items",),
    "forms": ("num_items",),
}
_MEMORY = {
    "by list": "by list if num_lists > 1",
    "by anchor": "by anchor",
    "by item": "by item",
    "by known item": "by item if num_items",
    "forms": "by item if num_items",
    "as its objective": "as its objective",
}


def objective_rows(module: str, table: str) -> tuple[ObjectiveEntry, ...]:
    """Return the entries of a table: class, names, metric, paper, what is special; when to use it.

    Special are: ``cost …``, ``@k``, ``whole`` where it is first used without @k, what is remembered
    ``by …``, whether ``needs items`` of it must be known, ``form …`` for the name of one form, and
    facts.
    """
    return tuple(_objective(module, columns, use) for columns, use in _rows(table))


def _objective(module: str, columns: list[str], use: str) -> ObjectiveEntry:
    special = columns[4].split(", ") if len(columns) > 4 else []
    starting = dict(word.split(" ", 1) for word in special if " " in word)
    fixed: Mapping[str, Value] = {"form": starting["form"]} if "form" in starting else {}
    return ObjectiveEntry(
        tuple(columns[1].split()),
        f"rankwise.{module}:{columns[0]}",
        None if columns[2] == "–" else columns[2],
        use,
        columns[3],
        cost=starting.get("cost", "n log n"),
        memory=next((_MEMORY[word] for word in special if word in _MEMORY), "–"),
        at="k" if "@k" in special else None,
        whole="whole" in special,
        fixed=fixed,
        facts=tuple(fact for word in special for fact in _FACTS.get(word, ())),
        needs=("num_items",) if "needs items" in special else (),
        # What is remembered by item makes these two of the three forms the published algorithms.
        when={"form": ("cvar", "kl")} if "forms" in special else {},
    )


def _rows(table: str) -> Iterator[tuple[list[str], str]]:
    lines = [line.strip() for line in table.strip().splitlines()]
    for columns, description in zip(lines[::2], lines[1::2], strict=True):
        yield columns.split(" | "), description


OBJECTIVES = objective_rows(
    "objectives",
    """
AveragePrecision | ap | ap | SOPRC Eq. 4, 5 | prior, @k, whole
    A rare class, several positives a batch: the first to try.
SOPRC | soprc | ap | SOPRC Eq. 6–9 | prior, by list
    Few positives a batch, or another share of them than in the data.
StableAP | stable_ap | ap | StableAP Eq. 4–7 | prior, by list
    Noisy labels: no single example moves it by much.
SOAP | soap | ap | EXM 2.3.2 | prior, by item
    One or two positives a batch, seen again every epoch.
PairwiseAUC | auc auroc | auc | EXM 2.3.1
    Every pair counts alike, wherever in the list it is.
CompositionalAUC | compositional_auc | auc | EXM 2.3.1 | cost n
    AUC of large batches in linear time.
MinMaxAUC | minmax_auc aucm | auc | Yuan et al. 2021 | cost n, by list
    AUC of small batches; its parameters go to the optimizer.
MultiClassAUC | multi_class_auc mauc | auc | Yang et al. 2021 | cost classes · n log n
    Several classes, each against each.
OpenAUC | open_auc | auc | Wang et al. 2022
    Known classes, and items of none of them.
PUAUC | pu_auc | pu_auc | Sakai et al. 2018
    Labeled positives, all other items unlabeled: AUC of the true labels.
PUAveragePrecision | pu_ap | pu_ap | SOPRC Eq. 4, Kiryo et al. 2017
    Labeled positives, all other items unlabeled: AP of the true labels.
PartialAUC | opauc | opauc | EXM 2.3.3 | forms
    Few false alarms are affordable.
PartialAUC | sopa | opauc | Zhu et al. 2022 | form cvar, by item, needs items
    Partial AUC from small batches, exactly.
PartialAUC | sopa_s | opauc | Zhu et al. 2022 | form kl, by item, needs items
    Partial AUC from small batches, smoothly.
TwoWayPartialAUC | tpauc | tpauc | EXM 2.3.3 | forms
    Few false alarms and few misses together.
TwoWayPartialAUC | sota_s | tpauc | Zhu et al. 2022 | form kl, by item, needs items
    Two-way partial AUC from small batches, smoothly.
TPRAtFPR | tpr_at_fpr | tpr_at_fpr | Eban et al. 2017
    A limit on the share of false alarms, and one threshold at it.
FPRAtTPR | fpr_at_tpr | fpr_at_tpr | Eban et al. 2017
    A share of the positives that must be found, with few false alarms.
PrecisionAtRecall | precision_at_recall | precision_at_recall | Eban et al. 2017 | prior
    A share of the positives must be found, with few wrong alarms.
RecallAtPrecision | recall_at_precision | recall_at_precision | Eban et al. 2017 | prior
    A share of the alarms must be right, with few misses.
NDCG | ndcg | ndcg | EXM 2.3.4 | @k, by known item
    Graded relevances, the top of the list first.
NDCG | song | ndcg | Qiu et al. 2022 | @k, by item, needs items
    NDCG where a batch has only a part of each list.
ListNet | listnet | ndcg | Cao et al. 2007 | cost n, by known item
    Graded relevances, smooth and in linear time.
HierarchicalAP | hierarchical_ap hap | hierarchical_ap | Ramzi et al. 2022 | cost n log² n
    Retrieval with labels of several levels, by how far off each error is.
PrecisionAtK | precision | precision | Kar et al. 2015 | @k
    A page with k places, each as good as the next.
RecallAtK | recall | recall | Patel et al. 2022 | @k
    Retrieval evaluated on the first k items.
PApAtK | pap | pap | pAp@k Eq. 6–24 | @k
    Many users with k places each.
TopPush | top_push | opauc(1e-9) | Li et al. 2014 | cost n
    No negative may stand above a positive.
AUTKC | autkc | hit | Wang et al. 2022 | @k, cost n · classes
    Many classes and k guesses.
GlobalContrastive | global_contrastive sogclr | hit@1 | Yuan et al. 2022 | cost n, by anchor
    Embeddings of pairs or views from small batches.
IndividualTemperatures | isogclr | hit@1 | Qiu et al. 2023 | cost n, by anchor
    Contrastive, with a temperature for each anchor.
LearnedTemperature | learned_temperature rgcl_g | hit@1 | Wei et al. 2024 | cost n, by anchor
    Contrastive, with one temperature that the optimizer learns.
EntropicRisk | entropic_risk | hit@1 | Wei et al. 2026 | cost n, by anchor
    Very many classes, of which a step has a sample.
OneVsRest | ovr | – | – | cost classes · objective, as its objective
    Any of these for logits of several classes or labels.
""",
)

# A loss of single items is consistent for the area under the ROC curve, and for no more.
BASELINES = objective_rows(
    "baselines",
    """
CrossEntropy | cross_entropy bce | auc | – | cost n
    Balanced classes, or a few epochs before any of the above.
ClassBalanced | class_balanced | auc | Cui et al. 2019 | cost n
    Cross-entropy with classes weighted by size.
Focal | focal | auc | Lin et al. 2017 | cost n
    Many easy negatives.
LDAM | ldam | hit@1 | Cao et al. 2019 | cost n · classes
    A long tail of classes.
AUCSigmoid | auc_sigmoid | auc | Calders & Jaroszewicz 2007
    AUC with a bounded loss, for wrong labels.
AUCHuber | auc_huber | auc | SOPRC Eq. 7
    AUC with the loss of SOPRC.
SmoothAP | smooth_ap | ap | Brown et al. 2020
    Retrieval: AP of cosines.
FastAP | fast_ap | ap | Cakir et al. 2019 | cost n
    Retrieval: AP of a histogram.
HistogramAP | histogram_ap | ap | Revaud et al. 2019 | cost n
    Retrieval: AP of a histogram with other bins.
BlackBoxAP | blackbox_ap | ap | Rolínek et al. 2020
    Retrieval: AP of exact ranks.
SoDeepAP | sodeep_ap | ap | Engilberge et al. 2019 | cost n
    AP of learned ranks.
ErrorDrivenAP | error_driven_ap ap_loss | ap | Chen et al. 2019
    Detection: AP by error-driven updates.
RankSort | rank_sort rs_loss | ap | Oksuz et al. 2021 | cost n log² n
    Detection: AP, and positives sorted by the quality of their boxes.
DistributionalRanking | dr dr_loss | auc | Qian et al. 2020 | cost n
    Detection: separate the hardest examples of both classes.
Triplet | triplet | auc | Schroff et al. 2015
    Retrieval by all triplets.
Contrastive | contrastive | ap | Hadsell et al. 2006 | cost n
    Retrieval by pairs.
MultiSimilarity | multi_similarity | ap | Wang et al. 2019 | cost n
    Retrieval by mined pairs.
InfoNCE | info_nce | hit@1 | van den Oord et al. 2018 | cost n
    Pairs of embeddings.
NTXent | nt_xent | hit@1 | Chen et al. 2020 | cost n
    Two views of each item.
SupCon | sup_con | ap | Khosla et al. 2020 | cost n
    Embeddings with labels.
ProxyAnchor | proxy_anchor | ap | Kim et al. 2020 | cost n · classes
    Embeddings against learned proxies of classes, by proxy.
NormalizedSoftmax | normalized_softmax norm_face | ap | Zhai & Wu 2019 | cost n · classes
    Embeddings by a classifier of cosines.
ArcFace | arcface | ap | Deng et al. 2019 | cost n · classes
    Normalized softmax with a margin between the angles.
ListMLE | listmle | ndcg | Xia et al. 2008
    Graded relevances, by likelihood.
ApproxNDCG | approx_ndcg | ndcg | Qin et al. 2010
    NDCG of smooth ranks.
LambdaLoss | lambda_loss | ndcg | Wang et al. 2018 | @k, cost n⁺ · n
    NDCG by pairs weighted by their ranks.
CrossBatchMemory | xbm | – | Wang et al. 2020 | cost as its objective
    Any of these against the embeddings of earlier batches.
""",
)


def _metrics(table: str) -> Iterator[MetricEntry]:
    """Yield the entries of a table: names, function, options and ``whole``; what it is."""
    for (names, function, *more), what in _rows(table):
        words = tuple(more[0].split()) if more else ()
        options = tuple(word for word in words if word != "whole")
        yield MetricEntry(
            tuple(names.split()),
            f"rankwise.metrics:{function}",
            what,
            options,
            at="k" if "k" in options else None,
            whole="whole" in words,
        )


METRICS = tuple(
    _metrics("""
ap | average_precision | k whole
    the mean precision at the score of each positive; @k: those of the first k
auprc | auprc | prior
    average precision at another share of positives
auc auroc | auroc
    the share of positive–negative pairs in the right order
opauc | partial_auroc | max_fpr min_fpr
    AUC over a range of false positive rates: against the highest negatives
tpauc | two_way_partial_auroc | min_tpr max_fpr
    AUC of the lowest positives against the highest negatives
ndcg | ndcg | k gain
    discounted gain of the ranking over that of the best
hierarchical_ap hap | hierarchical_ap
    average precision of graded relevances, such as those of a label tree
pap | pap_at_k | k
    AUC of the best k positives against the best k negatives
precision | precision_at_k | k
    positives among the first k, over k
recall | recall_at_k | k
    positives among the first k, over all positives
hit | hit_at_k | k
    is a positive among the first k: Recall@k of image retrieval
mrr | mean_reciprocal_rank | k
    1 over the rank of the first positive
map@r | map_at_r
    mean precision over the first R ranks, R the number of positives
r_precision | r_precision
    the precision of the first R, R the number of positives
precision_at_recall | precision_at_recall | min_recall
    the highest precision of a threshold with at least this recall
recall_at_precision | recall_at_precision | min_precision
    the highest recall of a threshold with at least this precision; 0 where none has it
tpr_at_fpr | tpr_at_fpr | max_fpr
    the highest true positive rate of a threshold with at most this false positive rate
fpr_at_tpr | fpr_at_tpr | min_tpr
    the lowest false positive rate of a threshold with at least this true positive rate
auprg | auprg
    area under the precision–recall–gain curve: 0 for all tied
err | expected_reciprocal_rank | k max_relevance
    expected 1/rank at which a user is satisfied, by relevance
rbp | rank_biased_precision | p k
    rate of positives for a user who reads on with chance p
inst | inst | wanted
    rate of positives for a user who wants a number of them
pu_auc pu_auroc | pu_auroc | prior
    AUC of the true labels, estimated from labeled positives and unlabeled items
pu_ap | pu_average_precision | prior population_prior
    average precision of the true labels, estimated in the same way
bpref | bpref
    how seldom items labeled negative are above the positives
infap | inferred_average_precision
    average precision estimated where a random part is labeled
""")
)
