import pytest

from rankwise.metrics._rules import Limit, parse_limit, require_limit


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("f1", Limit("f1")),
        ("precision>=0.8", Limit("precision", 0.8)),
        (" Recall >= .9 ", Limit("recall", 0.9)),
        ("tpr>=.9", Limit("recall", 0.9)),
        ("fpr<=1e-3", Limit("fpr", 0.001)),
        ("alerts<=200/day", Limit("alerts", 200)),
        ("alerts <= 200 / 10000 rows", Limit("alerts", 200, rows=10000)),
        ("precision>=0.8@95%", Limit("precision", 0.8, 0.95)),
        ("fpr<=0.01 @ 0.9", Limit("fpr", 0.01, 0.9)),
        ("alerts<=20/day@99%", Limit("alerts", 20, 0.99)),
    ],
)
def test_a_rule_is_read_and_written(text, limit):
    assert require_limit(text) == limit
    assert require_limit(str(limit)) == limit


@pytest.mark.parametrize(
    "text",
    ["", "f2", "precision", "precision<=.8", "fpr>=.1", "alerts<=20", "fpr<=.1/day", "fpr<=1.2.3"],
)
def test_what_is_no_rule_gets_the_list_of_rules(text):
    assert parse_limit(text) is None
    with pytest.raises(ValueError, match=r"'precision>=0\.9'.*'alerts<=200/day'.*@95%"):
        require_limit(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("precision>=1.5", r"number in \[0, 1\]"),
        ("fpr<=0@95%", "between 0 and 1"),
        ("recall>=1@95%", "between 0 and 1"),
        ("precision>=.8@20%", r"confidence .* \[0\.5, 1\)"),
        ("precision>=.8@100%", r"confidence .* \[0\.5, 1\)"),
        ("alerts<=5/0", "rows above 0"),
    ],
)
def test_a_number_out_of_range_is_refused(text, words):
    with pytest.raises(ValueError, match=words):
        require_limit(text)


def test_alerts_of_a_day_need_its_rows():
    limit = require_limit("alerts<=20/day")
    assert limit.share(1000) == 0.02
    assert limit.share(10) == 1
    with pytest.raises(ValueError, match="needs the number of rows per day: pass rows_per_day"):
        limit.share(None)
    with pytest.raises(ValueError, match="rows_per_day must be a finite number > 0"):
        limit.share(0)
    assert require_limit("alerts<=20/1000").share(None) == 0.02
