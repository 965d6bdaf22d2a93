"""Names of metrics of several classes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from rankwise.metrics import auroc, average_precision, partial_auroc
from rankwise.naming import canonical_class_metric, class_metric

SCORES = np.random.default_rng(0).dirichlet(np.ones(3), 60)
TARGET = np.arange(60) % 3


@pytest.mark.parametrize(
    ("name", "metric", "scheme", "average", "canonical"),
    [
        ("ap", average_precision, "ovr", "macro", "ap"),
        ("AP(average=weighted)", average_precision, "ovr", "weighted", "ap(average=weighted)"),
        ("roc_auc", auroc, "ovr", "macro", "auc"),
        ("auc(scheme=ovo)", auroc, "ovo", "macro", "auc(scheme=ovo)"),
        ("mauc", auroc, "ovo", "macro", "auc(scheme=ovo)"),
        (
            "multi_class_auc(average=weighted)",
            *(auroc, "ovo", "weighted", "auc(scheme=ovo, average=weighted)"),
        ),
        ("opauc(max_fpr=.1)", partial_auroc, "ovr", "macro", "opauc(max_fpr=0.1)"),
    ],
)
def test_a_name_and_the_repr_are_the_same_metric(
    name: str, metric: object, scheme: str, average: str, canonical: str
) -> None:
    found = class_metric(name)
    assert (found.metric, found.scheme, found.average) == (metric, scheme, average)
    assert canonical_class_metric(name) == canonical
    wanted = found.value(SCORES, TARGET)
    for again in (repr(found), canonical):
        assert class_metric(again).value(SCORES, TARGET) == wanted


def test_mauc_is_that_of_scikit_learn() -> None:
    wanted = roc_auc_score(TARGET, SCORES, multi_class="ovo")
    assert class_metric("mauc").value(SCORES, TARGET) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ndcg@10", "one of two classes"),
        ("ap(scheme=ovo)", "for auroc"),
        ("ap(average=micro)", "average must be one of"),
        ("aupc", "aupc"),
    ],
)
def test_names_that_have_no_meaning_here_are_refused(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        class_metric(name)
