from __future__ import annotations

import ir_measures
import numpy as np
import pytest
import torch
from ir_measures import AP, RR, P, R, Rprec, Success, nDCG
from sklearn.metrics import average_precision_score, roc_auc_score

import rankwise
from rankwise import metrics as m
from rankwise._grammar import Spec, canonical, parse
from rankwise.naming import canonical_metric, canonical_objective, metric_of
from rankwise.naming.entry import load
from rankwise.naming.table import ALIASES, Alias, find_metric, find_objective, read, resolve

UNDERSTOOD = {
    "roc_auc": "auc",
    "auroc": "auc",
    "pr_auc": "ap",
    "aucpr": "ap",
    "average_precision": "ap",
    "auprc": "ap",
    "AP": "ap",
    "map": "ap",
    "AP@10": "ap@10",
    "map@10": "ap@10",
    "map_cut_10": "ap@10",
    "mrr": "mrr",
    "rr": "mrr",
    "recip_rank": "mrr",
    "nDCG@10": "ndcg@10",
    "NDCG": "ndcg",
    "ndcg_cut_10": "ndcg@10(gain=linear)",
    "P@5": "precision@5",
    "P_5": "precision@5",
    "R@10": "recall@10",
    "recall_10": "recall@10",
    "recall_100": "recall@100",
    "Success@3": "hit@3",
    "success_3": "hit@3",
    "Rprec": "r_precision",
}
WITHOUT_OBJECTIVE = ("mrr", "hit@3", "r_precision")
SCORES = np.random.default_rng(0).normal(size=60)
TARGET = (np.arange(60) % 4 == 0).astype(np.float64)


@pytest.mark.parametrize(("typed", "name"), UNDERSTOOD.items())
def test_a_metric_is_understood_under_the_names_people_type(typed, name):
    for spelling in (typed, typed.upper(), typed.lower(), typed.replace("_", "-")):
        assert canonical_metric(spelling) == name
        assert repr(rankwise.metric(spelling)) == repr(rankwise.metric(name))
        assert rankwise.metric(spelling).value(SCORES, TARGET) == rankwise.metric(name).value(
            SCORES, TARGET
        )


@pytest.mark.parametrize(("typed", "name"), UNDERSTOOD.items())
def test_an_objective_is_understood_under_the_names_people_type(typed, name):
    if name in WITHOUT_OBJECTIVE:
        with pytest.raises(ValueError, match="is a metric without an objective of its own"):
            rankwise.objective(typed)
        return
    assert canonical_objective(typed) == name
    assert repr(rankwise.objective(typed, prior=0.1)) == repr(rankwise.objective(name, prior=0.1))
    assert metric_of(typed) == metric_of(name)


def test_every_alias_of_the_table_is_among_those_tested():
    tried = {canonical(parse(typed).name.rstrip("0123456789")) for typed in UNDERSTOOD}
    assert {canonical(alias.base) for alias in ALIASES} <= tried


@pytest.mark.parametrize("alias", ALIASES, ids=lambda alias: alias.spelling)
def test_an_alias_names_an_entry_and_hides_none(alias):
    entry = find_metric(Spec(alias.name))
    assert alias.name == entry.names[0]
    own = find_metric(Spec(alias.base, 5, (0.5,) if alias.unless else ()))
    assert (own is entry) == (alias.unless is None)


def test_the_aliases_have_the_numbers_of_their_libraries():
    assert rankwise.metric("roc_auc").value(SCORES, TARGET) == pytest.approx(
        roc_auc_score(TARGET, SCORES)
    )
    for name in ("average_precision", "pr_auc"):
        expected = average_precision_score(TARGET, SCORES)
        assert rankwise.metric(name).value(SCORES, TARGET) == pytest.approx(expected)
    grades = np.random.default_rng(1).integers(0, 4, size=60).astype(np.float64)
    run = {"q": {f"d{n}": float(score) for n, score in enumerate(SCORES)}}
    qrels = {"q": {f"d{n}": int(grade) for n, grade in enumerate(grades)}}
    peers = {
        "map": AP,
        "map_cut_10": AP @ 10,
        "recip_rank": RR,
        "P_5": P @ 5,
        "recall_10": R @ 10,
        "success_3": Success @ 3,
        "Rprec": Rprec,
        "ndcg_cut_10": nDCG @ 10,
    }
    theirs = ir_measures.calc_aggregate(list(peers.values()), qrels, run)
    for name, peer in peers.items():
        made = rankwise.metric(name)
        target = grades if made.setting.kernel.graded else (grades > 0).astype(np.float64)
        assert made.value(SCORES, target) == pytest.approx(theirs[peer], abs=1e-6), name


def test_auprc_with_a_prior_is_a_metric_of_its_own():
    for name in ("auprc(prior=.1)", "AUPRC(.1)", "auprc(ties=against, prior=.1)"):
        assert rankwise.metric(name).metric is m.auprc
        assert canonical_metric(name).lower().startswith("auprc(")
    assert rankwise.metric("auprc(ties=against)").metric is m.average_precision
    with pytest.raises(ValueError, match="without an objective of its own"):
        rankwise.objective("auprc(prior=.1)")


def test_map_at_r_is_no_alias():
    assert rankwise.metric("map@r").metric is m.map_at_r
    assert canonical_metric("MAP@R") == "map@r"


@pytest.mark.parametrize("name", ["roc_auc_5", "AUROC@10"])
def test_a_cut_without_a_counterpart_says_so(name):
    with pytest.raises(ValueError, match=r"takes no @k, got @\d+: it has no counterpart of a cut"):
        rankwise.metric(name)


def test_options_and_names_inside_names():
    assert canonical_metric("ndcg_cut_10(gain=exponential)") == "ndcg@10(gain=exponential)"
    assert canonical_metric("roc_auc(ties=against)") == "auc(ties=against)"
    inner = rankwise.objective("ovr(roc_auc)").objective
    assert type(inner) is load(find_objective(Spec("auc")))
    assert metric_of("ovr(pr_auc)") == "ap"
    torch.manual_seed(0)
    logits, labels = torch.randn(8, 3), torch.arange(8) % 3
    aliased, named = (rankwise.objective(f"ovr({name})") for name in ("roc_auc", "auc"))
    assert aliased(logits, labels) == named(logits, labels)


def test_a_name_of_the_tables_stays_as_it_was_typed():
    for name in ("opauc(max_fpr=.1)", "ndcg@10", "auprc(prior=.1)", "map@r"):
        assert canonical_metric(name) == name
    assert canonical_objective("lambda_loss@5") == "lambda_loss@5"
    assert resolve(Spec("sopa_s")) == Spec("sopa_s")


@pytest.mark.parametrize(
    ("typed", "suggested"),
    [
        ("roc_aucc", "roc_auc"),
        ("pr_aucs", "pr_auc"),
        ("recip_rnk", "recip_rank"),
        ("ndcg_cut", "ndcg_cut_10"),
        ("averge_precision", "average_precision"),
    ],
)
def test_a_misspelled_alias_is_answered_with_its_own_family(typed, suggested):
    with pytest.raises(ValueError, match=f'did you mean "{suggested}"') as caught:
        rankwise.metric(typed)
    assert "opauc" not in str(caught.value)


def test_a_cut_is_read_only_once():
    assert read("recall_10") == Spec("recall", 10)
    assert read("recall_10@5") == Spec("recall_10", 5)
    assert read("nothing_10") == Spec("nothing_10")
    with pytest.raises(ValueError, match="no metric is called"):
        rankwise.metric("recall_10@5")


def test_how_an_alias_is_shown():
    alias = Alias("ndcg_cut_k", "ndcg", "trec_eval", {"gain": "linear"})
    assert (alias.base, alias.example) == ("ndcg_cut", "ndcg_cut_10")
    assert alias.shown == "ndcg@k(gain=linear)"
    assert Alias("rr", "mrr", "ir-measures").shown == "mrr"
