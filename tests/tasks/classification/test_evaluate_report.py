from __future__ import annotations

import math
from dataclasses import replace

from tests.tasks.classification.cases import settings, splits

from rankwise.data.images import BrokenImage
from rankwise.report import Section
from rankwise.report.verdict import Verdict
from rankwise.tasks.classification.evaluate import (
    Evaluation,
    classes_table,
    report_section,
    results_table,
)
from rankwise.tasks.classification.task import Classifier
from rankwise.vision import run
from rankwise.vision.run import Trained, curve_figure

VERDICT = Verdict("worse than before training: <u>", ("a lower rate", "fewer steps"))
NAN = math.nan
THREE = Evaluation(
    ("cat", "<dog>", "emu"),
    (4, 5, 0),
    (0.5, 1.0, NAN),
    (0.75, 0.25, NAN),
    (0.125, 0.375, NAN),
    0.875,
    9,
    0.05,
)
ONE = Evaluation(("cat",), (4,), (0.5,), (0.75,), (0.125,), 0.875, 9, 0.1)
TRAINED = Trained(
    [{"step": 2, "loss": 1.5, "map": 0.25}, {"step": 4, "loss": 0.5, "map": 0.75}],
    best_step=4,
    best_row=2,
    best_value=0.75,
    last={},
    start=NAN,
    network=Classifier(settings(), 3),
)


def write_report(out, chosen, parts, trained, results):
    return run.write_report(
        out,
        "Classification",
        [report_section(results)],
        command="classify",
        training=Section("Training", figures=[curve_figure(trained)]),
        data=parts.describe().splitlines(),
        settings=chosen,
        verdict=VERDICT,
    )


def test_means_are_over_the_classes_that_have_something_to_rank():
    table = results_table({"untrained": replace(THREE, top_1=NAN), "ap": THREE})
    assert table.header == ("network", "AP", "AUROC", "partial AUROC", "top-1")
    assert table.rows == [
        ("untrained", "0.7500", "0.5000", "0.2500", "–"),
        ("ap", "0.7500", "0.5000", "0.2500", "0.8750"),
    ]
    assert table.caption == (
        "9 images; AP and the areas are means over 2 classes; "
        "partial AUROC: false positive rate ≤ 0.05."
    )


def test_of_one_class_there_is_no_mean():
    assert results_table({"ap": ONE}).caption == (
        "9 images; partial AUROC: false positive rate ≤ 0.1."
    )


def test_a_class_without_images_has_dashes():
    table = classes_table(THREE)
    assert table.rows == [
        ("cat", 4, "0.5000", "0.7500", "0.1250"),
        ("<dog>", 5, "1.0000", "0.2500", "0.3750"),
        ("emu", 0, "–", "–", "–"),
    ]
    assert table.caption.endswith("has nothing to rank: –.")


def test_the_page_has_the_classes_of_the_network_that_was_kept(tmp_path):
    first = replace(THREE, ap=(0.0625, 0.0625, NAN))
    parts = replace(splits(), dropped=(BrokenImage("a.png", "is not an image"),))
    results = {"untrained": first, "ap, last step": THREE, "ap": THREE}
    path = write_report(tmp_path / "run", settings("data.max_fpr=0.25"), parts, TRAINED, results)
    assert path == tmp_path / "run" / "index.html"
    assert [each.name for each in path.parent.iterdir()] == ["index.html"]
    html = path.read_text()
    assert '<p class="choice">Worse than before training: &lt;u&gt;.</p>' in html
    assert html.count("<td>0.0625</td>") == 1  # the mean of the untrained, not its classes
    assert '<tr><th scope="row">&lt;dog&gt;</th><td>5</td><td>1.0000</td>' in html
    assert "<dog>" not in html
    assert "The loss over 4 steps, 1.500 to 0.500." in html
    assert '<p class="note">left out: 1 files that cannot be read</p>' in html
    assert (
        '<p class="note">train: 24 images of 3 classes: class0 12, class1 8, class2 4</p>' in html
    )
    assert '<tr><th class="words" scope="row">data.max_fpr</th><td>0.25</td></tr>' in html


def test_the_same_run_has_the_same_page(tmp_path):
    pages = [
        write_report(tmp_path / name, settings(), splits(), TRAINED, {"ap": THREE}).read_bytes()
        for name in ("one", "other")
    ]
    assert pages[0] == pages[1]
