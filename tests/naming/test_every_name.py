"""Every entry of the table, made, called, printed and made again."""

from __future__ import annotations

import inspect

import pytest
import torch

from rankwise.naming import metric, metric_of, objective
from rankwise.naming.entry import FACTS, load
from rankwise.naming.lookup import signature_of_objective
from rankwise.naming.signatures import EMPTY
from rankwise.naming.table import ENTRIES

KNOWN = {"prior": 0.2, "num_items": 30, "num_lists": 1}
# What has to be said beside the name.
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
    "class_balanced": "(counts=[50, 10])",
    "ldam": "(counts=[50, 10, 5])",
    "ovr": "(soprc)",
    "xbm": "(smooth_ap, size=8, dimension=4)",
    "proxy_anchor": "(num_classes=3, dimension=4)",
    "normalized_softmax": "(num_classes=3, dimension=4)",
    "entropic_risk": "(num_classes=100)",
    "arcface": "(num_classes=3, dimension=4)",
}
UNLABELED = ("pu_auc", "pu_ap")
PROXIES = ("proxy_anchor", "normalized_softmax", "arcface")
BY_CLASS = ("multi_class_auc", "open_auc", "autkc", "ldam", "ovr")

every_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.names[0])


def text(entry, name=None):
    at = "@3" if entry.at is not None else ""
    return f"{name or entry.names[0]}{at}{OPTIONS.get(entry.names[0], '')}"


def call(made, entry):
    """A loss of data of the kind that the objective takes."""
    generator = torch.Generator().manual_seed(0)
    if entry.names[0] in PROXIES:
        made.proxies.data.normal_(generator=generator)  # they start at random
    if entry.names[0] in ("xbm", *PROXIES):
        return made(torch.randn(6, 4, generator=generator), torch.arange(6) // 2)
    if entry.names[0] in BY_CLASS:
        scores = torch.randn(12, 3, generator=generator, requires_grad=True)
        return made(scores, torch.arange(12) % 3)
    scores = torch.rand(30, generator=generator, requires_grad=True)
    target = torch.arange(30) % 3 == 0
    return made(scores, target, list_ids=torch.tensor(0), item_ids=torch.arange(30))


def said(made):
    """The options of an objective that are not its defaults."""
    defaults = inspect.signature(type(made).__init__).parameters
    return {o: repr(v) for o, v in made.options.items() if v != defaults[o].default}


@every_entry
def test_every_name_makes_the_class_and_the_class_a_loss(entry):
    for name in entry.names:
        made = objective(text(entry, name), **KNOWN)
        assert type(made) is load(entry)
        assert call(made, entry).isfinite()


@every_entry
def test_an_objective_reads_its_own_repr(entry):
    made = objective(text(entry), **KNOWN)
    again = objective(repr(made))
    assert type(again) is type(made)
    assert repr(again) == repr(made)
    assert said(again) == said(made)
    assert call(again, entry) == call(objective(text(entry), **KNOWN), entry)


@every_entry
def test_the_facts_of_an_entry_are_arguments_of_its_constructor(entry):
    signature = signature_of_objective(entry)
    assert set(entry.facts) <= set(signature.defaults)
    assert set(entry.when) <= set(signature.defaults)
    assert entry.at is None or entry.at in signature.defaults
    assert set(entry.fixed) <= set(inspect.signature(load(entry).__init__).parameters)
    # A fact that the class cannot do without is one that the entry takes (ListNet's prior is none,
    # nor is the share of positives among unlabeled items, which the labels do not say).
    needed = {o for o, default in signature.defaults.items() if default is EMPTY}
    if entry.names[0] in UNLABELED:
        needed -= {"prior"}
        with pytest.raises(ValueError, match="needs prior"):
            objective(entry.names[0], prior=0.2)
    assert needed & set(FACTS) <= set(entry.facts)


@every_entry
def test_the_memory_column_is_what_the_class_says(entry):
    made = objective(text(entry), **{**KNOWN, "num_lists": 2})
    kind = getattr(made, "memory_by", None)
    if entry.memory.startswith(("by list", "by anchor")):
        assert kind == "list"
    elif entry.memory == "by item":
        assert kind == "item"
    else:
        assert kind is None  # nothing to remember, unless the name says so


@every_entry
def test_every_objective_has_a_metric_by_name(entry):
    assert metric(metric_of(text(entry))).higher_is_better == (entry.metric != "fpr_at_tpr")
