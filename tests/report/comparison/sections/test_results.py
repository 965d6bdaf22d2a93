from __future__ import annotations

from math import nan
from pathlib import Path

import pytest
from tests.report.comparison.sections.small import (
    candidate,
    pair,
    predictions,
    rows_of,
    small_run,
    text_of,
    tree_of,
)

from rankwise.report.comparison.run import Estimate
from rankwise.report.comparison.sections.headline import headline, sentence, title_of
from rankwise.report.comparison.sections.results import results

THIN, FIXED = "\u202f", "\u00a0"


def said(run, class_):
    """The paragraphs of a class, in their order."""
    return [
        text_of(each)
        for each in tree_of(headline(run).render()).findall(f".//p[@class='{class_}']")
    ]


def tiles(run):
    """The texts below the name of every tile."""
    return {
        text_of(tile.find("dt")): [text_of(each) for each in tile.findall("dd")]
        for tile in tree_of(headline(run).render()).findall(".//dl/div")
    }


@pytest.mark.parametrize(
    ("known", "title"),
    [
        (
            {"data": {"path": "tables/fraud.csv"}, "config": {"data": "b.csv"}},
            "Average precision on fraud.csv",
        ),
        ({"config": {"data": "tables/b.csv"}}, "Average precision on b.csv"),
        ({}, "Average precision on a-run"),
        ({"folder": Path("/")}, "Average precision on these data"),
        ({"metric": "ndcg@10"}, "NDCG@10 on a-run"),
        ({"metric": "my metric", "data": {"path": ""}}, "My metric on a-run"),
    ],
)
def test_the_title_names_the_metric_and_the_data(known, title):
    assert title_of(small_run(**known)) == title


def test_the_choice_and_its_reason_come_first():
    run = small_run(why="It was best in all splits.")
    tree = tree_of(headline(run).render())
    assert [text_of(each) for each in tree.findall("./div/p")] == [
        "Recommended",
        # Of the first two rows, one is positive; the baseline has one there, too.
        "ap finds 1 of the 2 positives in its first 2 rows, as many as log-loss.",
        "It was best in all splits.",
    ]


def rows(target, *scores):
    return predictions(target, dict(enumerate(scores)))


def test_positives_in_the_top_are_counted_and_the_target_is_named():
    # Three positives: the first five rows are counted, of which the baseline has one positive.
    target = [1, 0, 0, 0, 0, 1, 1, 0, 0, 0]
    base, best = range(10, 0, -1), [9, 1, 1, 1, 1, 8, 7, 1, 1, 1]
    run = small_run(given=rows(target, base, best), config={"target": "fraud"})
    assert sentence(run) == (
        "ap finds 3 of the 3 positives of “fraud” in its first 5 rows, 2 more than log-loss; "
        "the difference may be chance."
    )


def test_a_number_that_may_be_chance_is_told_from_a_metric_that_is_not():
    known = pair(difference=Estimate(0.1, 0.05, 0.2, 0.01))
    target = [1, 0, 0, 0, 0, 1, 1, 0, 0, 0]
    given = rows(target, range(10, 0, -1), [9, 1, 1, 1, 1, 8, 7, 1, 1, 1])
    assert sentence(small_run(known, given)).endswith(
        "2 more than log-loss; this number may be chance, the gain in average precision is not."
    )
    few = small_run(known, given, decided=False)
    assert sentence(few).endswith("2 more than log-loss; the difference may be chance.")


def test_of_many_positives_the_difference_is_no_chance():
    target = [1] * 20 + [0] * 80
    run = small_run(given=rows(target, range(100), range(100, 0, -1)))
    assert sentence(run) == (
        "ap finds 20 of the 20 positives in its first 20 rows, 20 more than log-loss."
    )


def test_tied_rows_share_the_places_that_are_left():
    # All rows are tied: of 2 positives in 10 rows, the first two hold .4 on average.
    target = [1, 1] + [0] * 8
    run = small_run(given=rows(target, [0] * 10, [1, 1] + [0] * 8))
    assert "2 of the 2 positives in its first 2 rows, 2 more than log-loss" in sentence(run)


def test_lists_are_counted_as_better_and_worse():
    scores = {0: [0, 1] * 5 + [1, 0], 1: [1, 0] * 5 + [0, 1]}
    given = predictions([1, 0] * 6, scores, group=[n // 2 for n in range(12)])
    run = small_run(given=given)
    assert sentence(run) == (
        "ap ranks 5 of 6 lists better than log-loss and 1 worse; the difference may be chance."
    )


def test_the_mean_of_two_models_is_compared_with_the_model_by_its_name():
    names = candidate(0, "boosted, log-loss", baseline=True), candidate(1, "boosted, log-loss + ap")
    assert sentence(small_run(names)) == (
        "The mean of two gradient boosting models trained on log-loss and on average precision "
        "finds 1 of the 2 positives in its first 2 rows, as many as gradient boosting trained on "
        "log-loss."
    )


def test_two_means_of_models_are_both_named():
    names = (
        candidate(0, "linear, two log-losses", baseline=True),
        candidate(1, "linear, log-loss + ap"),
    )
    assert sentence(small_run(names)).endswith(
        "as many as the mean of two linear models trained on log-loss."
    )


def test_the_same_model_is_not_named_twice():
    names = candidate(0, "boosted, log-loss", baseline=True), candidate(1, "boosted, ap")
    assert sentence(small_run(names)) == (
        "Gradient boosting trained on average precision finds 1 of the 2 positives in its first 2 "
        "rows, as many as the same model trained on log-loss."
    )


def test_a_recommended_baseline_is_compared_with_the_best_other_on_validation():
    names = (
        candidate(0, "linear, log-loss", baseline=True),
        candidate(1, "linear, ap", validation=Estimate(0.4)),
    )
    assert sentence(small_run(names, recommended=0)).endswith(
        "as many as the same model trained on average precision."
    )
    alone = small_run(names[:1], recommended=0)
    assert sentence(alone) == (
        "A linear model trained on log-loss finds 1 of the 2 positives in its first 2 rows."
    )


def test_why_another_candidate_is_higher_stands_above_the_table():
    words = "Another has the highest value here, but the choice was made on validation."
    assert words in [text_of(each) for each in tree(small_run(not_best=words)).findall("./p")]


def test_no_reason_leaves_no_empty_line():
    assert said(small_run(), "why") == []


def test_the_verdict_of_the_run_is_shown_and_none_leaves_no_empty_line():
    assert said(small_run(verdict="Nothing can be decided."), "why") == ["Nothing can be decided."]
    assert said(small_run(), "why") == []


def test_the_metric_is_shown_with_its_interval_and_what_it_means():
    found = tiles(small_run(pair(test=Estimate(0.83349, 0.7, 0.9))))
    assert found["average precision"] == [
        "0.833",
        "0.700 to 0.900",
        "the mean precision at the score of each positive",
    ]


def test_a_metric_of_which_nothing_is_known_is_a_dash():
    assert tiles(small_run(metric="my metric"))["my metric"] == ["–"]


@pytest.mark.parametrize(
    ("p", "shown"), [(0.04, f"p{FIXED}={FIXED}0.040"), (0.0001, f"p{FIXED}< 0.001")]
)
def test_the_difference_is_signed_and_has_its_p_value(p, shown):
    found = tiles(small_run(pair(difference=Estimate(-0.05, -0.125, 0.025, p))))
    assert found["against the baseline"] == ["−0.050", f"−0.125 to +0.025, {shown}", "log-loss"]


@pytest.mark.parametrize(
    ("low", "high", "p", "shown"),
    [
        (nan, nan, 0.04, [f"p{FIXED}={FIXED}0.040"]),
        (-0.125, 0.025, nan, ["−0.125 to +0.025"]),
        (-0.125, nan, nan, []),
        (nan, nan, nan, []),
    ],
)
def test_of_a_difference_only_what_is_known_is_told(low, high, p, shown):
    found = tiles(small_run(pair(difference=Estimate(-0.05, low, high, p))))
    assert found["against the baseline"] == ["−0.050", *shown, "log-loss"]


def test_a_difference_to_a_baseline_that_is_not_among_them():
    alone = (candidate(0, "a"), candidate(1, "b", difference=Estimate(0.1, 0.05, 0.2, 0.01)))
    assert tiles(small_run(alone))["against the baseline"][-1] == "the baseline"
    assert "against the baseline" not in tiles(small_run())


def test_rows_are_counted_with_their_positives():
    found = tiles(small_run(data={"rows": 12_345}))
    assert found["test rows"] == ["10", f"2 positive, 20.0{THIN}%", f"of 12{THIN}345 in all"]
    assert tiles(small_run(data={"rows": "many"}))["test rows"][2:] == []


def test_the_share_of_positives_is_weighted_and_their_number_is_not():
    given = predictions(weight=[2, 0.5, 2, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
    assert tiles(small_run(given=given))["test rows"] == [
        "10",
        f"2 positive, {100 * 4 / 8:.1f}{THIN}%",
    ]


def test_rows_of_lists_are_counted_with_their_lists():
    given = predictions(group=[0, 0, 0, 1, 1, 1, 1, 2, 2, 2])
    assert tiles(small_run(given=given))["test rows"] == ["10", "in 3 lists"]
    alone = predictions(group=[0] * 10)
    assert tiles(small_run(given=alone))["test rows"] == ["10", "in 1 list"]


@pytest.mark.parametrize(
    ("seconds", "trials", "shown"),
    [
        (75, 24, [f"1{THIN}min 15{THIN}s", "24 trials"]),
        (75, 1, [f"1{THIN}min 15{THIN}s", "1 trial"]),
        (9.96, None, [f"10.0{THIN}s"]),
        (nan, None, ["–"]),
    ],
)
def test_the_time_is_that_of_the_recommended(seconds, trials, shown):
    run = small_run(pair(seconds=seconds, trials=trials))
    assert tiles(run)["training time"] == shown


def test_names_and_reasons_are_text_and_no_markup():
    names = (
        candidate(0, "<b>base", baseline=True),
        candidate(1, "<b>best", difference=Estimate(0.1, 0.05, 0.2, 0.01)),
    )
    run = small_run(names, why="<b>why", metric="<b>metric", verdict="<b>verdict")
    assert tree_of(headline(run).render()).find(".//b") is None
    assert said(run, "choice")[0].startswith("<b>best finds ")
    assert said(run, "why") == ["<b>why", "<b>verdict"]
    assert "<b>metric" in tiles(run)


THIN = "\u202f"


def tree(run):
    return tree_of(results(run).body)


def table(run):
    return tree(run).find(".//table[@id='result-table']")


def drawn_row(run, place):
    return table(run).findall("./tbody/tr")[place]


def three(*values):
    """Candidates with these values on the test part, the first of them the baseline."""
    return tuple(
        candidate(n, f"c{n}", baseline=n == 0, test=Estimate(value, value - 0.1, value + 0.1))
        for n, value in enumerate(values)
    )


def test_rows_go_from_the_best_to_the_worst_and_the_unknown_is_last():
    found = rows_of(table(small_run(three(0.5, nan, 0.75, -0.25))))
    assert [row[1] for row in found] == ["0.750", "0.500", "−0.250", "–"]


def test_equal_values_stay_in_the_order_of_the_run():
    found = rows_of(table(small_run(three(0.5, 0.5, 0.5))))
    assert [row[0].split()[0] for row in found] == ["c0", "c1", "c2"]


def test_every_number_of_a_candidate_is_in_its_row():
    known = pair(
        test=Estimate(0.8333, 0.7, 0.9),
        difference=Estimate(0.3833, 0.1, 0.5, 0.04),
        validation=Estimate(0.81, 0.8, 0.82),
        seconds=75.0,
        trials=1200,
    )
    best, _ = rows_of(table(small_run(known)))
    assert best == [
        "ap recommended",
        "0.833",
        "0.700 – 0.900",
        "+0.383better",
        "0.040",
        "0.810",
        f"1{THIN}min 15{THIN}s",
        f"1{THIN}200",
    ]


def test_what_is_sorted_by_is_the_number_and_not_its_rounding():
    known = pair(test=Estimate(0.83333, 0.7, 0.9), seconds=75.0, trials=12)
    cells = drawn_row(small_run(known), 0).findall("td")
    shown = [cell.attrib["data-value"] for cell in cells]
    assert shown == ["0.83333", "0.7", "", "", "", "75.0", "12.0"]
    assert drawn_row(small_run(known), 0).find("th").attrib["data-value"] == "ap"


def test_what_is_not_known_is_a_dash_and_sorts_as_nothing():
    row = drawn_row(small_run(), 1)
    assert [text_of(cell) for cell in row][1:] == ["–"] * 7
    assert [cell.attrib["data-value"] for cell in row.findall("td")] == [""] * 7


@pytest.mark.parametrize(
    ("low", "high", "word", "class_"),
    [
        (0.01, 0.3, "better", "sure good"),
        (-0.3, -0.01, "worse", "sure bad"),
        (-0.1, 0.2, "within chance", "sure quiet"),
        (0.0, 0.2, "within chance", "sure quiet"),
        (-0.2, 0.0, "within chance", "sure quiet"),
    ],
)
def test_a_difference_is_called_by_its_interval(low, high, word, class_):
    run = small_run(pair(difference=Estimate(0.1, low, high, 0.05)))
    told = tree(run).find(".//td/span[@class]")
    assert (text_of(told), told.attrib["class"]) == (word, class_)


@pytest.mark.parametrize(("low", "high"), [(nan, nan), (nan, 0.2), (0.05, nan)])
def test_a_difference_without_an_interval_is_called_nothing(low, high):
    run = small_run(pair(test=Estimate(0.5, 0.4, 0.6), difference=Estimate(0.1, low, high, 0.05)))
    cell = drawn_row(run, 0).findall("td")[2]
    assert (text_of(cell), cell.attrib["data-value"]) == ("+0.100", "0.1")


def test_the_recommended_and_the_baseline_have_badges():
    found = rows_of(table(small_run(three(0.7, 0.6, 0.5))))
    assert [row[0] for row in found] == ["c0 baseline", "c1 recommended", "c2 "]
    found = rows_of(table(small_run(three(0.7, 0.6, 0.5), recommended=0)))
    assert [row[0] for row in found] == ["c0 recommendedbaseline", "c1 ", "c2 "]


def test_only_the_row_of_the_recommended_stands_out():
    rows = table(small_run(three(0.7, 0.6, 0.5))).findall("./tbody/tr")
    assert [row.attrib.get("class") for row in rows] == [None, "chosen", None]


def test_the_column_that_is_sorted_by_is_marked():
    heads = table(small_run()).findall("./thead/tr/th")
    assert [text_of(head) for head in heads] == [
        "Candidate", "Test", f"95{THIN}% interval", "Difference",
        "p", "Validation", "Time", "Trials",
    ]  # fmt: skip
    assert all(head.find("button") is not None for head in heads)
    assert [head.attrib["aria-sort"] for head in heads] == ["none", "descending", *["none"] * 6]
    best_is_low = {text_of(h) for h in heads if h.attrib["data-first"] == "ascending"}
    assert best_is_low == {"Candidate", "p", "Time", "Trials"}


def test_intervals_are_drawn_on_one_scale():
    # The lowest end of all is at 4, the highest at 4 + 132, the baseline's value is the reference.
    base = candidate(0, "base", baseline=True, test=Estimate(0.5, 0.4, 0.6))
    best = candidate(1, "best", test=Estimate(0.75, 0.65, 0.9))
    run = small_run((base, best))
    wanted = {
        0: (4 + 132 * 0.35 / 0.5, 4 + 132 * 0.25 / 0.5, 4 + 132),
        1: (4 + 132 * 0.1 / 0.5, 4, 4 + 132 * 0.2 / 0.5),
    }
    for place, (value, low, high) in wanted.items():
        picture = drawn_row(run, place).find("./td/svg")
        whisker = picture.find("line[@class='whisker']").attrib
        assert float(picture.find("circle").attrib["cx"]) == pytest.approx(value, abs=0.05)
        assert float(whisker["x1"]) == pytest.approx(low, abs=0.05)
        assert float(whisker["x2"]) == pytest.approx(high, abs=0.05)
        reference = picture.find("line[@class='reference']").attrib
        assert reference["x1"] == reference["x2"]
        assert float(reference["x1"]) == pytest.approx(4 + 132 * 0.1 / 0.5, abs=0.05)


def test_intervals_of_no_width_do_not_stop_the_table():
    perfect = Estimate(1.0, 1.0, 1.0)
    run = small_run(
        (candidate(0, "a", baseline=True, test=perfect), candidate(1, "b", test=perfect))
    )
    assert [row[1] for row in rows_of(table(run))] == ["1.000", "1.000"]
    assert [row[2] for row in rows_of(table(run))] == ["1.000 – 1.000", "1.000 – 1.000"]
    assert table(run).find(".//svg[@viewbox='0 0 140 18']") is None


def test_an_interval_around_an_unknown_value_is_drawn_without_a_dot():
    run = small_run(pair(test=Estimate(nan, 0.4, 0.6)))
    picture = drawn_row(run, 1).find("./td/svg")
    assert picture.find("line[@class='whisker']") is not None
    assert picture.find("circle") is None


def test_a_baseline_without_an_interval_is_inside_the_image():
    # Its value is the lowest of all: at 4, and the highest end of all at 4 + 132.
    base = candidate(0, "base", baseline=True, test=Estimate(0.25, nan, nan))
    run = small_run((base, candidate(1, "best", test=Estimate(0.7, 0.5, 0.75))))
    picture = drawn_row(run, 0).find("./td/svg")
    assert picture.find("line[@class='reference']").attrib["x1"] == "4"
    whisker = picture.find("line[@class='whisker']").attrib
    assert (whisker["x1"], whisker["x2"]) == (f"{4 + 132 * 0.25 / 0.5:g}", "136")


def test_without_a_baseline_there_is_no_reference_and_the_words_are_general():
    run = small_run((candidate(0, "a"), candidate(1, "b", test=Estimate(0.5, 0.4, 0.6))))
    assert tree(run).find(".//line[@class='whisker']") is not None
    assert tree(run).find(".//line[@class='reference']") is None
    note = text_of(tree(run).find(".//p[@id='result-note']"))
    assert "paired p-value against the log-loss baseline." in note


def test_the_note_says_what_was_measured_and_how_it_was_chosen():
    note = text_of(tree(small_run(choice="5-fold cross-validation")).find(".//p"))
    assert note == (
        "Average precision on the test part, evaluated after the choice. The choice was made by "
        "5-fold cross-validation. Difference and paired p-value against log-loss. Click a heading "
        "to sort."
    )
    assert "The choice" not in text_of(tree(small_run()).find(".//p"))


def test_the_note_describes_the_table():
    assert table(small_run()).attrib["aria-describedby"] == "result-note"


def test_candidates_that_were_left_out_are_told_with_the_reason():
    notes = tree(small_run(left_out={"neural": "no torch", "linear": 3})).findall("./p")
    assert [text_of(each) for each in notes[1:]] == [
        "neural was left out: no torch",
        "linear was left out: 3",
    ]


def test_other_metrics_are_in_the_order_of_the_run_with_dashes_for_the_unknown():
    run = small_run(other_metrics={"auc": [0.625, None], "mrr": ["none", 1]})
    others = tree(run).find(".//details//table")
    assert [text_of(head) for head in others.findall("./thead/tr/th")] == [
        "Candidate", "auc", "mrr",
    ]  # fmt: skip
    assert rows_of(others) == [["log-loss", "0.625", "–"], ["ap", "–", "1.000"]]


def test_without_other_metrics_there_is_nothing_to_open():
    assert tree(small_run()).find(".//details") is None


def test_names_and_reasons_are_text_and_no_markup_in_results():
    names = candidate(0, "<b>0", baseline=True), candidate(1, "<b>1")
    run = small_run(
        names,
        metric="<b>metric",
        choice="<b>choice",
        left_out={"<b>name": "<b>reason"},
        other_metrics={"<b>other": [0.5, 0.5]},
    )
    found = tree(run)
    assert found.find(".//b") is None
    for word in ("0 baseline", "1 recommended", "metric", "choice", "name", "reason", "other"):
        assert f"<b>{word}" in text_of(found)
    assert drawn_row(run, 0).find("th").attrib["data-value"] == "<b>0"


def test_with_too_few_positives_no_difference_is_called_better_or_worse():
    gain = {"difference": Estimate(0.1, 0.05, 0.2, 0.01)}
    assert "better" in text_of(tree(small_run(pair(**gain))).find(".//tbody"))
    assert "better" not in text_of(tree(small_run(pair(**gain), decided=False)).find(".//tbody"))


def test_remarks_are_shown_under_the_table_and_what_was_left_out_once():
    run = small_run(
        left_out={"neural": "neural: no"}, remarks=("left out: neural: no", "cut short: a")
    )
    said = [text_of(each) for each in tree(run).findall(".//p[@class='note']")]
    assert said[-2:] == ["neural was left out: no", "cut short: a"]


def test_candidates_on_the_metric_are_compared_with_two_log_losses():
    run = small_run(pair(against_control=Estimate(0.0125, -0.005, 0.03, 0.21)))
    shown = text_of(tree_of(results(run).body))
    assert "The metric, or averaging?" in shown
    assert "Against two log-losses of the same model, on the test part." in shown
    assert "+0.013" in shown or "+0.012" in shown
    assert "−0.005 to +0.030" in shown
    assert "0.210" in shown


def test_a_run_without_controls_says_nothing_of_them():
    assert "averaging" not in text_of(tree_of(results(small_run()).body))
