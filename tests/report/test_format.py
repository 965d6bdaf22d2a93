from __future__ import annotations

from math import nan

import pytest
import torch

import rankwise
from rankwise.naming.registry import REGISTRY
from rankwise.objectives import PairwiseAUC, XRisk
from rankwise.report import format as words

THIN = "\u202f"


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        (words.decimal(0.12345), "0.123"),
        (words.decimal(-0.5, 1), "−0.5"),
        (words.decimal(-0.0001), "0.000"),
        (words.signed(-0.0001), "−0.000"),
        (words.decimal(nan), "–"),
        (words.signed(0.0304), "+0.030"),
        (words.signed(-0.0304), "−0.030"),
        (words.count(1234567), f"1{THIN}234{THIN}567"),
        (words.count(2.5), "2.5"),
        (words.counted(1, "trial"), "1 trial"),
        (words.counted(0, "trial"), "0 trials"),
        (words.counted(1200, "trial"), f"1{THIN}200 trials"),
        (words.percent(0.0204), f"2.0{THIN}%"),
        (words.percent(0.0004), f"0.04{THIN}%"),
        (words.percent(1.0), f"100{THIN}%"),
        (words.duration(3.14), f"3.1{THIN}s"),
        (words.duration(59.7), f"1{THIN}min 00{THIN}s"),
        (words.duration(3725), f"1{THIN}h 02{THIN}min"),
        (words.p_value(0.0002), "< 0.001"),
        (words.p_value(0.04), "0.040"),
        (words.full_name("ap"), "average precision"),
        (words.full_name("ndcg@10"), "NDCG@10"),
        (words.full_name("opauc(max_fpr=0.1)"), "partial area under the ROC curve (max_fpr=0.1)"),
        (words.capitalized("area under the ROC curve"), "Area under the ROC curve"),
        (words.meaning("what is this?"), ""),
    ],
)
def test_as_shown(made, shown):
    assert made == shown


def test_the_meaning_says_nothing_of_a_k_that_the_metric_has_not():
    assert words.meaning("ap") == "the mean precision at the score of each positive"
    assert words.meaning("ap@10").endswith("@k: those of the first k")


def test_a_metric_of_ours_has_a_meaning():
    assert "relevant" in words.meaning("ndcg@10") or "gain" in words.meaning("ndcg@10")


@pytest.mark.parametrize(
    ("name", "title", "in_sentence"),
    [
        ("boosted, ap", "Gradient boosting, trained on average precision", None),
        ("boosted, log-loss", "Gradient boosting, trained on log-loss", None),
        (
            "linear, log-loss + ap",
            "Mean of two linear models, trained on log-loss and on average precision",
            "the mean of two linear models trained on log-loss and on average precision",
        ),
        (
            "neural, two log-losses",
            "Mean of two neural networks, trained on log-loss",
            "the mean of two neural networks trained on log-loss",
        ),
        (
            "boosted, log-loss, second fit",
            "Gradient boosting, trained on log-loss, second fit",
            None,
        ),
        (
            "boosted, opauc(max_fpr=.1, min_fpr=0)",
            "Gradient boosting, trained on the partial area under the ROC curve "
            "(max_fpr=.1, min_fpr=0)",
            None,
        ),
        ("boosted, ndcg@10", "Gradient boosting, trained on NDCG@10", None),
        ("boosted, soprc", "Gradient boosting, trained on average precision by SOPRC", None),
        (
            "boosted, stable_ap(a=.1)",
            "Gradient boosting, trained on average precision by StableAP(a=.1)",
            None,
        ),
        ("boosted, focal", "Gradient boosting, trained on Focal", None),
        ("boosted, song@5", "Gradient boosting, trained on NDCG by song@5", None),
        ("boosted, no such thing", "Gradient boosting, trained on no such thing", None),
        ("my own model", "my own model", "my own model"),
    ],
)
def test_candidates_have_names_that_people_read(name, title, in_sentence):
    assert words.candidate_title(name) == title
    wanted = in_sentence or title.replace("Gradient boosting,", "gradient boosting", 1)
    assert words.in_sentence(title) == wanted


@pytest.mark.parametrize(
    ("metric", "trained_on"),
    [(None, "mine"), ("auc", "the area under the ROC curve by mine")],
)
@pytest.mark.parametrize("objective", [PairwiseAUC, XRisk("logistic", torch.log1p)])
def test_a_default_metric_is_not_what_an_objective_trains(
    monkeypatch, objective, metric, trained_on
):
    monkeypatch.setattr(REGISTRY, "entries", dict(REGISTRY.entries))
    rankwise.register("mine", objective, metric=metric)
    assert words.candidate_title("linear, mine") == f"Linear model, trained on {trained_on}"
