from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.tasks.retrieval.cases import settings, splits

from rankwise.report import Section
from rankwise.report.verdict import Verdict
from rankwise.retrieval import RetrievalResult
from rankwise.tasks.retrieval.evaluate import report_section, results_table
from rankwise.tasks.retrieval.task import make_network
from rankwise.training.checkpoint import flat_settings
from rankwise.vision import run
from rankwise.vision.run import Trained, curve_figure

VERDICT = Verdict("worse than before training: <u>", ("a lower rate", "fewer steps"))
NETWORK = make_network(settings().network)
VALIDATED = [
    {"step": 2, "loss": 0.9, "map": 0.25},
    {"step": 4, "loss": 0.6, "map": 0.5},
    {"step": 6, "loss": 0.3125, "map": 0.4},
]


def result(*values: float, **changed) -> RetrievalResult:
    known = np.array(values)
    found = RetrievalResult(
        map=float(np.nanmean(known)),
        hit_at={1: 0.5, 5: 1.0},
        r_precision=0.375,
        map_at_r=0.125,
        per_class={},
        recall=np.linspace(0, 1, 101),
        precision=np.linspace(1, 0.2, 101),
        average_precision=known,
        first_rank=np.ones(len(known)),
        gallery=len(known),
        left_out=int(np.isnan(known).sum()),
    )
    return replace(found, **changed)


def trained(history) -> Trained:
    rest = {"best_row": 2, "best_value": 0.5, "last": {}, "start": math.nan, "network": NETWORK}
    return Trained(history, best_step=4, **rest)


def write_report(out, chosen, parts, trained, results):
    return run.write_report(
        out,
        "Image retrieval",
        [report_section(parts, results)],
        command="retrieval",
        training=Section("Training", figures=[curve_figure(trained)]),
        data=parts.describe().splitlines(),
        settings=chosen,
        verdict=VERDICT,
    )


def test_a_row_has_its_numbers_and_an_interval_over_queries():
    table = results_table({"ap": {"test": result(0.5, 1.0)}})
    assert table.header == ("network", "gallery", "mAP", "R@1", "R@5", "R-precision", "MAP@R")
    # The deviation of .5 and 1 is √.125; over √2 it is the error of their mean, .25.
    assert table.rows == [("ap", "test", "0.7500 ± 0.4900", "0.5000", "1.0000", "0.3750", "0.1250")]
    assert table.caption == ("2 queries; ± is a 95 % interval over them, not over trainings.")


def test_the_caption_counts_the_queries_of_the_largest_gallery():
    galleries = {"large": result(0.5, 1.0, 0.75, np.nan, np.nan), "small": result(0.5, 1.0, np.nan)}
    caption = results_table({"untrained": galleries}).caption
    assert caption.startswith("At most 3 queries;")
    assert caption.endswith(" 2 images alone in their class were no queries.")


def test_every_setting_has_one_row():
    chosen = settings("objective.name=stable_ap(a=.1)", "data.hits=[1, 7]")
    rows = list(flat_settings(chosen.plain()))
    shown = dict(rows)
    assert len(shown) == len(rows)
    assert shown["objective.name"] == "stable_ap(a=.1)"
    assert shown["data.hits"] == [1, 7]
    assert shown["network.weights"] is None
    for section in ("data", "network", "augmentations", "mixup", "batches", "memory", "training"):
        names = {name for name in shown if name.startswith(f"{section}.")}
        assert names == {f"{section}.{name}" for name in vars(getattr(chosen, section))}


def test_the_curve_in_words_with_and_without_validation():
    validated = curve_figure(trained(VALIDATED))
    assert "<figcaption>The loss over 6 steps, 0.900 to 0.312.</figcaption>" in validated
    assert "<figcaption>mAP on validation; the best, after step 4, was kept." in validated
    bare = [{name: row[name] for name in ("step", "loss")} for row in VALIDATED]
    plain = curve_figure(trained(bare))
    assert plain.count("<svg") == 1
    assert "mAP" not in plain


def test_the_page_says_what_was_found_and_nothing_in_it_is_markup(tmp_path):
    results = {"untrained": {"test": result(0.25, 0.5)}, "a <b>": {"test": result(0.5, 1.0)}}
    chosen = settings("objective.name=<i>")
    path = write_report(tmp_path / "run", chosen, splits(), trained(VALIDATED), results)
    assert path == tmp_path / "run" / "index.html"
    assert [each.name for each in path.parent.iterdir()] == ["index.html"]
    html = path.read_text()
    assert "untrained, test: mAP 0.375; a &lt;b&gt;, test: mAP 0.750." in html
    assert '<th scope="row">a &lt;b&gt;</th>' in html
    assert "<td>&lt;i&gt;</td>" in html
    assert "<b>" not in html
    assert "<i>" not in html
    assert html.count("<figure>") == 3  # precision–recall, loss, validation
    for line in splits().describe().splitlines():
        assert f'<p class="note">{line}</p>' in html
    assert '<p class="choice">Worse than before training: &lt;u&gt;.</p>' in html
    assert '<p class="why">What to try: a lower rate; fewer steps.</p>' in html
    assert "none of their classes were in training" in html
    order = ["Retrieval on the whole gallery", "Training", "Data", "Settings"]
    places = [html.index(f'-heading">{heading}</h2>') for heading in order]
    assert places == sorted(places)


def test_a_page_takes_the_place_of_an_earlier_one(tmp_path):
    (tmp_path / "index.html").write_text("an earlier page")
    for value in (0.25, 0.75):
        results = {"ap": {"test": result(value, value)}}
        html = write_report(tmp_path, settings(), splits(), trained(VALIDATED), results).read_text()
        assert f"<td>{value:.4f} ± 0.0000</td>" in html
        assert "an earlier page" not in html
    assert "0.2500 ± " not in html


@pytest.mark.parametrize("count", [1, 6])
def test_any_number_of_networks_can_be_drawn(tmp_path, count):
    results = {f"network {n}": {"test": result(0.5, 0.25)} for n in range(count)}
    html = write_report(tmp_path, settings(), splits(), trained(VALIDATED), results).read_text()
    assert html.count(": mAP 0.375") == 2 * count  # in the words of the figure, twice


def test_one_query_has_no_interval():
    (row,) = results_table({"ap": {"test": result(0.5)}}).rows
    assert row[2] == "0.5000"
