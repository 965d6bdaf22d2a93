from __future__ import annotations

import pytest
from tests.tasks.recommendation.cases import pairs_of, settings

from rankwise.tasks.recommendation import UsageError
from rankwise.tasks.recommendation.losses import by_interaction, loss_of, warm_starts

TRAIN = pairs_of([[0, 1], [2]], n_items=4)


@pytest.mark.parametrize(
    "name",
    ["softmax", "bpr", "pap@3", "ndcg@3", "ap", "listnet", "lambda_loss@3", "auc", "soprc",
     "opauc(max_fpr=.1)", "recall@5", "info_nce", "top_push", "minmax_auc", "stable_ap"],
)  # fmt: skip
def test_any_objective_of_lists(name):
    assert loss_of(name, TRAIN).training


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sofmax", "there are also softmax and bpr"),
        ("ndcg@0", "k must be"),
        ("pap", "k"),
        ("ldam", "ldam"),
        ("ovr(objective=ap)", "ovr"),
    ],
)
def test_what_is_none(name, message):
    with pytest.raises(UsageError) as error:
        loss_of(name, TRAIN)
    assert message in str(error.value)


def test_which_lists_and_which_start():
    assert by_interaction("softmax", "auto")
    assert by_interaction("bpr", "auto")
    assert not by_interaction("ndcg@10", "auto")
    assert by_interaction("ndcg@10", "interaction")
    assert not by_interaction("softmax", "user")
    assert warm_starts(settings(objective="ap"))
    assert not warm_starts(settings(objective="ap", warm_start=0))
    assert not warm_starts(settings(objective="bpr"))
