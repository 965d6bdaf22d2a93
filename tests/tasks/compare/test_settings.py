from __future__ import annotations

from pathlib import Path

import pytest

from rankwise.errors import UsageError
from rankwise.tasks.compare.settings import Settings, seconds_of


@pytest.mark.parametrize(
    ("words", "seconds"),
    [("90", 90), ("90s", 90), ("2m", 120), ("1.5h", 5400), ("1h30m", 5400), ("2 min", 120)],
)
def test_a_span_of_time_in_seconds(words, seconds):
    assert seconds_of(words) == seconds


@pytest.mark.parametrize("words", ["", "soon", "2 weeks", "m", "2m!", "1.2.3s", "-5s"])
def test_what_is_no_span(words):
    with pytest.raises(UsageError, match="--budget must be a time such as 90s, 2m or 1h, got "):
        seconds_of(words)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "app"}, 'no metric is called "app"'),
        ({"metric": "ndcg@10"}, "with --group"),
        ({"threshold": "f2"}, "--threshold: rule must be one of"),
        ({"threshold": "f1", "group": "user"}, "rows of one list"),
        ({"threshold": "f1", "repeats": 2}, "cannot be combined with --repeats 2"),
        ({"threshold": "recall>=.9@95%", "weight": "w"}, "cannot be combined with --weight w"),
        ({"threshold": "alerts<=5/day"}, "pass --rows-per-day, or --time"),
        ({"metric": "fpr_at_tpr(.95)"}, "better when it is lower.*tpr_at_fpr"),
        ({"trials": 0}, "trials must be a whole number >= 1, got 0"),
        ({"seeds": 0}, "seeds must be a whole number >= 1, got 0"),
        ({"budget": 0.0}, "budget must be a finite number > 0, got 0.0"),
    ],
)
def test_what_cannot_be_asked(options, message):
    with pytest.raises(UsageError, match=message):
        Settings(data=Path("a.csv"), target="y", **options)


def test_a_mean_over_lists_with_lists():
    assert (
        Settings(data=Path("a.csv"), target="y", metric="ndcg@10", group="user").metric == "ndcg@10"
    )


@pytest.mark.parametrize(("typed", "name"), [("roc_auc", "auc"), ("PR_AUC", "ap"), ("ap", "ap")])
def test_the_metric_is_kept_under_the_name_of_rankwise(typed, name):
    assert Settings(data=Path("t.csv"), target="y", metric=typed).metric == name
