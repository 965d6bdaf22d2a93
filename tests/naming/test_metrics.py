from __future__ import annotations

import pytest
import torch

import rankwise
from rankwise import metrics as m
from rankwise.naming import metric, metric_of
from rankwise.naming.entry import load
from rankwise.naming.table import METRICS

torch.manual_seed(0)
SCORES, TARGET = torch.randn(80), torch.arange(80) < 15


def test_the_package_has_it():
    assert rankwise.metric is metric


@pytest.mark.parametrize(
    ("name", "function", "options"),
    [
        ("ap", m.average_precision, {}),
        ("AUPRC(.1)", m.auprc, {"prior": 0.1}),
        ("auc", m.auroc, {}),
        ("auroc(ties=against)", m.auroc, {"ties": "against"}),
        ("opauc(.3)", m.partial_auroc, {"max_fpr": 0.3}),
        ("opauc(.3, .1)", m.partial_auroc, {"max_fpr": 0.3, "min_fpr": 0.1}),
        ("opauc(standardized=True)", m.partial_auroc, {"standardized": True}),
        ("tpauc(.5, max_fpr=.4)", m.two_way_partial_auroc, {"min_tpr": 0.5, "max_fpr": 0.4}),
        ("ndcg", m.ndcg, {}),
        ("ndcg@10(gain=linear)", m.ndcg, {"k": 10, "gain": "linear"}),
        ("pap@8", m.pap_at_k, {"k": 8}),
        ("precision@5", m.precision_at_k, {"k": 5}),
        ("recall@10", m.recall_at_k, {"k": 10}),
        ("hit@1", m.hit_at_k, {"k": 1}),
        ("mrr", m.mean_reciprocal_rank, {}),
        ("mrr@3", m.mean_reciprocal_rank, {"k": 3}),
        ("map@r", m.map_at_r, {}),
        ("map_at_r", m.map_at_r, {}),
        ("r_precision", m.r_precision, {}),
        ("precision_at_recall(.9)", m.precision_at_recall, {"min_recall": 0.9}),
        ("recall_at_precision(.8)", m.recall_at_precision, {"min_precision": 0.8}),
        ("tpr_at_fpr(.1)", m.tpr_at_fpr, {"max_fpr": 0.1}),
        ("FPR-at-TPR(min_tpr=.95)", m.fpr_at_tpr, {"min_tpr": 0.95}),
        ("ap(average=none)", m.average_precision, {"average": "none"}),
    ],
)
def test_every_metric_by_name_and_by_repr(name, function, options):
    made = metric(name)
    assert made.metric is function
    assert made.options == options
    assert made.value(SCORES, TARGET) == function(SCORES, TARGET, **options)
    again = metric(repr(made))
    assert (again.metric, again.options) == (made.metric, made.options)


@pytest.mark.parametrize("entry", METRICS, ids=lambda entry: entry.names[0])
def test_a_metric_prints_the_name_of_its_entry(entry):
    limits = dict.fromkeys(("min_recall", "min_precision", "max_fpr", "min_tpr"), 0.5)
    right = {"k": 1, "prior": 0.5, **limits}
    given = {option: value for option, value in right.items() if option in entry.options}
    assert repr(m.Metric(load(entry), **given)).partition("(")[0] == entry.names[0]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("precision", r'metric "precision" needs k: write "precision@10"'),
        ("auc@5", r'metric "auc" takes no @k'),
        ("ndcg(kk=5)", r'metric "ndcg" has no option "kk"; it has k, '),
        ("ap(weight=2)", r'metric "ap" has no option "weight"; it has '),
        ("ap(ties=agains)", r'ties of metric "ap" must be one of standard, against; got agains'),
        ("ndcg(gain=soprc(1))", r'gain of metric "ndcg" must be one of exponential, linear'),
        ("ndcg@0", "k must be a whole number >= 1, got 0"),
        ("precision@0", "k must be a whole number >= 1, got 0"),
        ("pap@0", "k must be a whole number >= 1, got 0"),
        ("hit(k=1.5)", r"k must be a whole number >= 1, got 1\.5"),
        ("recall(k=[1, 2])", r"k must be a whole number >= 1, got \[1, 2\]"),
        ("opauc(max_fpr=2)", "min_fpr < max_fpr <= 1, got min_fpr=0.0 and max_fpr=2"),
        ("tpauc(min_tpr=1, max_fpr=.5)", r"min_tpr must be in \[0, 1\), got 1"),
        ("auprc(prior=1)", r"prior must be a share of positives in \(0, 1\), got 1"),
        ("auprc(prior=[.1])", r'metric "auprc" does not accept auprc\(prior=\[0\.1\]\)'),
    ],
)
def test_what_is_missing_or_wrong(name, message):
    with pytest.raises(ValueError, match=message):
        metric(name)


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        ("opauc(max_fpr=.1, form=kl)", "opauc(max_fpr=0.1)"),
        ("opauc(.3, .1)", "opauc(max_fpr=0.3, min_fpr=0.1)"),
        ("sopa_s(.1)", "opauc(max_fpr=0.1)"),
        ("tpauc(.5, .4, kl)", "tpauc(min_tpr=0.5, max_fpr=0.4)"),
        ("soprc", "ap"),
        ("SOAP(prior=0.1, num_items=20)", "ap"),
        ("ndcg", "ndcg"),
        ("ndcg@10", "ndcg@10"),
        ("NDCG(k=10, gain='linear')", "ndcg@10(gain=linear)"),
        ("lambda_loss@5", "ndcg@5"),
        ("approx_ndcg(gain=linear)", "ndcg(gain=linear)"),
        ("pap@8(ramp)", "pap@8"),
        ("precision@5", "precision@5"),
        ("recall(k=(1, 4, 2))", "recall@4"),
        ("recall([1, 2])", "recall@2"),
        ("autkc@3", "hit@3"),
        ("ldam", "hit@1"),
        ("top_push", "opauc(max_fpr=1e-09)"),
        ("cross_entropy", "auc"),
        ("ovr(soprc)", "ap"),
        ("ovr(ndcg@3)", "ndcg@3"),
        ("xbm(triplet, 8, 2)", "auc"),
    ],
)
def test_the_metric_an_objective_stands_for(objective, expected):
    assert metric_of(objective) == expected
    assert repr(metric(metric_of(objective)))  # a name of a metric


def test_top_push_is_judged_by_the_highest_negative():
    highest = SCORES[~TARGET].max()
    expected = (SCORES[TARGET] > highest).double().mean()
    assert metric(metric_of("top_push")).value(SCORES, TARGET) == expected


def test_a_metric_needs_the_options_it_shares():
    with pytest.raises(ValueError, match=r'objective "opauc" needs max_fpr'):
        metric_of("opauc(form=kl)")
    with pytest.raises(ValueError, match=r'objective "ovr" needs objective'):
        metric_of("ovr")
