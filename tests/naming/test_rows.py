from __future__ import annotations

import inspect

import pytest
import torch
from sklearn.metrics import average_precision_score, roc_auc_score

import rankwise.baselines
from rankwise.naming import metric, metric_of, objective
from rankwise.naming.entry import ObjectiveEntry, load
from rankwise.naming.rows import BASELINES, METRICS, OBJECTIVES, objective_rows
from rankwise.objectives import NDCG

OPTIONS = {
    "opauc": "(max_fpr=.5)",
    "sopa": "(max_fpr=.5)",
    "sopa_s": "(max_fpr=.5)",
    "tpauc": "(min_tpr=.5, max_fpr=.5)",
    "sota_s": "(min_tpr=.5, max_fpr=.5)",
    "tpr_at_fpr": "(.5)",
    "fpr_at_tpr": "(.5)",
    "precision_at_recall": "(.5)",
    "recall_at_precision": "(.5)",
    "pu_auc": "(prior=.2)",
    "pu_ap": "(prior=.2)",
    "class_balanced": "(counts=[16, 8])",
    "entropic_risk": "(num_classes=100)",
}


def text_of(entry: ObjectiveEntry) -> str:
    at = "@4" if entry.at is not None else ""
    return f"{entry.names[0]}{at}{OPTIONS.get(entry.names[0], '')}"


def wants_what_its_metric_wants(entry: ObjectiveEntry) -> bool:
    """The loss falls and the metric rises from the worst order of a list to the best."""
    target = torch.arange(24) < 8
    best = torch.linspace(1, -1, 24)  # also cosines, for losses of embeddings
    losses, values = [], []
    for scores in (best, -best):
        made = objective(text_of(entry), prior=1 / 3, num_items=24, num_lists=1)
        losses.append(
            made(scores, target, list_ids=torch.tensor(0), item_ids=torch.arange(24)).item()
        )
        found = metric(metric_of(text_of(entry)))
        values.append(float(found.value(scores, target)) * (1 if found.higher_is_better else -1))
    return losses[0] < losses[1] and values[0] > values[1]


# Logits of several classes, embeddings, another objective inside; and a saddle point, whose value
# says nothing before its parameters do.
OTHERS = (
    *("multi_class_auc", "open_auc", "minmax_auc", "autkc", "global_contrastive", "isogclr"),
    *("ovr", "ldam", "xbm", "proxy_anchor", "normalized_softmax", "arcface"),
)


@pytest.mark.parametrize(
    "entry",
    [e for e in (*OBJECTIVES, *BASELINES) if e.names[0] not in OTHERS],
    ids=lambda e: e.names[0],
)
def test_the_best_order_has_the_least_loss(entry) -> None:
    assert wants_what_its_metric_wants(entry)


def test_every_baseline_of_the_package_has_a_row() -> None:
    named = {entry.path.partition(":")[2] for entry in BASELINES}
    shared = {"PairwiseAUC", "MultiClassAUC"}  # objectives that are baselines, too
    assert set(rankwise.baselines.__all__) - shared == named


@pytest.mark.parametrize(("name", "form"), [("sopa", "cvar"), ("sopa_s", "kl"), ("sota_s", "kl")])
def test_published_algorithms_are_a_form_with_a_memory(name: str, form: str) -> None:
    text = f"{name}({'min_tpr=.5, ' if name == 'sota_s' else ''}max_fpr=.3)"
    made = objective(text, num_items=50)
    assert made.options["form"] == form
    assert made.memory_by == "item"
    with pytest.raises(ValueError, match="items"):
        objective(text)


def test_without_a_memory_the_plain_name_does_without_items() -> None:
    assert objective("opauc(max_fpr=.3)", num_items=50).memory_by is None
    assert objective("opauc(max_fpr=.3, form='kl')", num_items=50).memory_by == "item"


def test_every_curve_is_judged_by_a_curve() -> None:
    first_list = [entry.names[0] for entry in OBJECTIVES].index("ndcg")
    curves = {entry.names[0]: entry for entry in OBJECTIVES[:first_list]}
    metrics = {name: entry.metric for name, entry in curves.items()}
    assert {m for n, m in metrics.items() if "pauc" in n or (n.startswith("so") and "_s" in n)} <= {
        "opauc",
        "tpauc",
    }
    points = {"tpr_at_fpr", "fpr_at_tpr", "precision_at_recall", "recall_at_precision"}
    unlabeled = {"pu_auc", "pu_ap"}
    assert set(metrics.values()) == {"ap", "auc", "opauc", "tpauc", *points, *unlabeled}
    assert all(metrics[name] == name for name in unlabeled)
    assert all(metrics[name] == name for name in points)


@pytest.mark.parametrize("name", ["ndcg", "precision", "recall", "pap"])
def test_at_k_is_the_k_of_the_class(name: str) -> None:
    assert objective(f"{name}@7").options["k"] == 7


def test_song_is_ndcg_with_a_memory_of_items() -> None:
    made = objective("song@5", num_items=40)
    assert type(made) is type(objective("ndcg@5"))
    assert made.memory_by == "item"
    assert objective("ndcg@5").memory_by is None
    with pytest.raises(ValueError, match="items"):
        objective("song@5")


def test_one_against_the_rest_is_judged_as_what_is_inside() -> None:
    (entry,) = (e for e in OBJECTIVES if e.names[0] == "ovr")
    assert entry.metric is None


TARGET = torch.tensor([1, 0, 1, 0, 0, 1, 0, 0])
SCORES = torch.tensor([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2])


@pytest.mark.parametrize("entry", METRICS, ids=lambda entry: entry.names[0])
def test_its_options_are_arguments_of_its_function(entry) -> None:
    assert set(entry.options) <= set(inspect.signature(load(entry)).parameters)
    assert entry.at is None or entry.at in entry.options


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ap", average_precision_score(TARGET, SCORES)),
        ("auroc", roc_auc_score(TARGET, SCORES)),
        ("precision@4", 2 / 4),
        ("recall@4", 2 / 3),
        ("hit@1", 1.0),
        ("mrr", 1.0),
        ("r_precision", 2 / 3),
        ("map@r", (1 / 1 + 2 / 3) / 3),
        # The highest two of five negatives against three positives: 2 + 1 + 0 of 6 pairs.
        ("opauc(max_fpr=.4)", 3 / 6),
        # The lowest two positives against the highest two negatives: 1 + 0 of 4 pairs.
        ("tpauc(min_tpr=.34, max_fpr=.4)", None),
    ],
)
def test_a_name_is_the_metric_it_says(name: str, expected: float | None) -> None:
    found = float(metric(name).value(SCORES, TARGET))
    if expected is None:
        assert 0 <= found < float(metric("opauc(max_fpr=.4)").value(SCORES, TARGET))
    else:
        assert found == pytest.approx(expected)


def test_a_row_is_an_entry_whose_class_is_found_by_its_path() -> None:
    (entry,) = objective_rows(
        "objectives", "NDCG | ndcg gain | ndcg | A paper | @k, cost n\n    Lists."
    )
    assert entry.names == ("ndcg", "gain")
    assert entry.path == "rankwise.objectives:NDCG"
    assert (entry.metric, entry.use, entry.paper) == ("ndcg", "Lists.", "A paper")
    assert (entry.at, entry.cost) == ("k", "n")
    assert load(entry) is NDCG


def test_what_is_not_said_is_the_default() -> None:
    (entry,) = objective_rows("objectives", "NDCG | ndcg | – | A paper\n    Lists.")
    assert (entry.cost, entry.memory, entry.at) == ("n log n", "–", None)
    assert entry.facts == entry.needs == ()
    assert entry.shown_metric == "as its objective"
