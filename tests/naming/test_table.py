from __future__ import annotations

from collections import Counter

import pytest

from rankwise._grammar import Spec, canonical, nearest, parse
from rankwise.naming.entry import FACTS, all_names, shown_names
from rankwise.naming.table import ENTRIES, METRICS, find_metric, find_objective


@pytest.mark.parametrize("entries", [ENTRIES, METRICS], ids=["objectives", "metrics"])
def test_no_two_entries_share_a_name(entries):
    names = Counter(canonical(name) for entry in entries for name in entry.names)
    assert names.most_common(1)[0][1] == 1
    # A class may have several entries, but its name is that of one without fixed options.
    own = {canonical(all_names(entry)[-1]) for entry in entries}
    for name in own:
        # With a value: "auprc" without its prior is an alias of "ap".
        found = (find_objective if entries is ENTRIES else find_metric)(Spec(name, args=(0.5,)))
        assert canonical(all_names(found)[-1]) == name
        assert not getattr(found, "fixed", {})


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.names[0])
def test_a_row_says_what_it_should(entry):
    assert set(entry.needs) <= set(entry.facts) <= set(FACTS)
    assert entry.use.endswith(".")
    assert len(entry.use) <= 70
    assert entry.paper
    assert entry.cost
    assert find_objective(Spec(entry.names[0])) is entry
    if entry.metric is not None:
        stands_for = find_metric(parse(entry.metric))
        assert entry.at is None or stands_for.at == "k"


def test_every_class_that_has_a_name_is_here():
    import rankwise.baselines
    import rankwise.objectives

    listed = {all_names(entry)[-1] for entry in ENTRIES}
    # Base classes and results; XRisk takes functions, which no string can name.
    bases = {"Objective", "ClassObjective", "Risk"}
    # FairnessConstraint needs the group of every item, which no caller by name passes on.
    functions = {"XRisk", "EmbeddingScores", "ContrastiveLists"}
    unnamed = bases | functions | {"FairnessConstraint"}
    for module in (rankwise.objectives, rankwise.baselines):
        classes = {n for n in module.__all__ if isinstance(getattr(module, n), type)}
        assert classes - unnamed <= listed


def test_every_metric_is_here():
    import rankwise.metrics
    from rankwise.metrics._setting import _kernels

    public = [getattr(rankwise.metrics, name) for name in rankwise.metrics.__all__]
    assert {all_names(entry)[-1] for entry in METRICS} == {
        function.__name__ for function in public if function in _kernels
    }


def test_the_name_with_k_is_shown():
    assert shown_names(find_objective(Spec("ndcg"))) == ("ndcg@k",)
    assert shown_names(find_objective(Spec("auc"))) == ("auc", "auroc")


@pytest.mark.parametrize("name", ["PartialAUC", "partial_auc", "partial-auc", "OPAUC", "opauc"])
def test_names_of_classes_and_other_spellings(name):
    assert find_objective(Spec(name)).names[0] == "opauc"


@pytest.mark.parametrize(
    ("find", "name", "message"),
    [
        (
            find_objective,
            "opaucc",
            r'no objective is called "opaucc": did you mean "opauc"\? `rank',
        ),
        (find_objective, "averge_precision", r'did you mean "AveragePrecision"\?'),
        (find_objective, "smooth", r'did you mean "smooth_ap"\?'),
        (find_objective, "zzzz", r'no objective is called "zzzz": `rankwise objectives` lists'),
        (find_objective, "mrr", r'"mrr" is a metric without an objective of its own'),
        (find_objective, "ndcg@k", r'"ndcg@k" needs a number after @: write "ndcg@10"'),
        (find_metric, "precison", r'no metric is called "precison": did you mean "precision"\?'),
        (find_metric, "zzzz", r"`rankwise objectives --metrics` lists them all"),
        (find_metric, "soprc", r'"soprc" is an objective; its metric is "ap"'),
        (find_metric, "ovr", r'no metric is called "ovr"'),
    ],
)
def test_wrong_names(find, name, message):
    with pytest.raises(ValueError, match=message):
        find(Spec(name))


def test_nearest():
    assert nearest("Square_Hinge", ("SquaredHinge", "Square", "Hinge")) == "SquaredHinge"
    assert nearest("prec", ("auprc", "precision")) == "precision"  # a beginning comes first
    assert nearest("q", ("auprc", "precision")) is None
