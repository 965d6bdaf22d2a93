from __future__ import annotations

import pytest
from tests.naming.rows.ranked import wants_what_its_metric_wants

from rankwise.naming import objective
from rankwise.naming.rows.curves import CURVES

# Logits of several classes; a saddle point, whose value says nothing before its parameters do.
OTHERS = ("multi_class_auc", "open_auc", "minmax_auc")
BY_NAME = {entry.names[0]: entry for entry in CURVES}


@pytest.mark.parametrize(
    "entry", [e for e in CURVES if e.names[0] not in OTHERS], ids=lambda e: e.names[0]
)
def test_the_best_order_has_the_least_loss(entry) -> None:
    assert wants_what_its_metric_wants(entry)


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
    metrics = {name: entry.metric for name, entry in BY_NAME.items()}
    assert {m for n, m in metrics.items() if "pauc" in n or (n.startswith("so") and "_s" in n)} <= {
        "opauc",
        "tpauc",
    }
    assert set(metrics.values()) == {"ap", "auc", "opauc", "tpauc"}
