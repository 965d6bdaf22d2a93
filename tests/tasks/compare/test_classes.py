"""A comparison on a target of several classes, from the table to the report, with real models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import false_discovery_control
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.preprocessing import label_binarize
from typer.testing import CliRunner

from rankwise.cli import app
from rankwise.data import DataError
from rankwise.files import read_npz
from rankwise.metrics import delong_test, holm
from rankwise.report.comparison.report import write_report
from rankwise.tasks.compare.model import load_model
from rankwise.tasks.compare.pipeline import run
from rankwise.tasks.compare.predict import predict_file
from rankwise.tasks.compare.problem import read_problem
from rankwise.tasks.compare.run_files import data_of_run, rows_of_part
from rankwise.tasks.compare.scores import evaluate_run, evaluate_scores
from rankwise.tasks.compare.settings import Settings

LABELS = ("ape", "lynx", "yak")


def table(rows: int = 600, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    number = rng.choice(3, rows, p=[0.4, 0.35, 0.25])
    x = rng.normal(size=(rows, 3)) + 1.3 * np.eye(3)[number]
    words = np.where(rng.random(rows) < 0.8, np.array(["a", "b", "c"])[number], "d")
    frame = {f"x{i}": x[:, i] for i in range(3)}
    return pl.DataFrame({**frame, "word": words, "kind": np.array(LABELS)[number]})


def settings(path: Path, **options: Any) -> Settings:
    given = {"target": "kind", "candidates": "linear", "trials": 1, "budget": 60}
    return Settings(data=path, **{**given, **options})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Path:
    where = tmp_path_factory.mktemp("classes")
    table().write_csv(where / "kinds.csv")
    run(settings(where / "kinds.csv"), where / "run")
    return where


def results(folder: Path) -> Any:
    return json.loads((folder / "run" / "results.json").read_text())


def test_the_numbers_are_those_of_scikit_learn(folder: Path) -> None:
    found, kept = results(folder), read_npz(folder / "run" / "predictions.npz")
    assert found["classes"] == list(LABELS)
    assert found["data"]["classes"] == dict(table()["kind"].value_counts().sort("kind").iter_rows())
    target = kept["target"].astype(int)
    hot = label_binarize(target, classes=range(3))
    for number, candidate in enumerate(found["candidates"]):
        scores, shares = kept[f"score_{number}"], kept[f"probability_{number}"]
        assert scores.shape == shares.shape == (120, 3)
        np.testing.assert_allclose(shares.sum(1), 1)
        wanted = average_precision_score(hot, scores, average="macro")
        assert candidate["test"]["value"] == pytest.approx(wanted)
        assert candidate["test"]["low"] < wanted < candidate["test"]["high"]
        # scikit-learn wants probabilities for several classes, whatever they are made from.
        positive = 1 / (1 + np.exp(-scores))
        others = found["other_metrics"]
        for name, options in (
            ("auc", {"multi_class": "ovr"}),
            ("auc(average=weighted)", {"multi_class": "ovr", "average": "weighted"}),
        ):
            by_class = [roc_auc_score(target == c, positive[:, c]) for c in range(3)]
            weight = np.bincount(target) if "average" in options else np.ones(3)
            wanted = np.average(by_class, weights=weight)
            assert others[name][number] == pytest.approx(wanted)
        assert 0.5 < others["auc(scheme=ovo)"][number] < 1


def test_every_class_has_its_numbers_and_adjusted_gains(folder: Path) -> None:
    found, kept = results(folder), read_npz(folder / "run" / "predictions.npz")
    best = found["recommended"]
    base = next(n for n, each in enumerate(found["candidates"]) if each["baseline"])
    lines, target = found["by_class"], kept["target"]
    assert [line["class"] for line in lines] == list(LABELS)
    p_values = []
    for c, line in enumerate(lines):
        own, other = kept[f"score_{best}"][:, c], kept[f"score_{base}"][:, c]
        assert line["rows"] == (target == c).sum()
        assert line["ap"]["value"] == pytest.approx(average_precision_score(target == c, own))
        assert line["ap"]["low"] <= line["ap"]["value"] <= line["ap"]["high"]
        assert line["auc"]["value"] == pytest.approx(roc_auc_score(target == c, own))
        if best != base:
            test = delong_test(own, other, target == c)
            assert line["auc difference"]["value"] == pytest.approx(test.difference)
            p_values.append(test.p_value)
    if best != base:
        adjusted = [line["auc difference"]["p_holm"] for line in lines]
        assert adjusted == pytest.approx(holm(p_values))
        assert (np.array(adjusted) >= false_discovery_control(p_values) - 1e-12).all()


def test_a_run_is_resumed_to_the_same_results(folder: Path) -> None:
    before = results(folder)
    run(settings(folder / "kinds.csv"), folder / "run", resume=True)
    after = results(folder)
    assert after["by_class"] == before["by_class"]
    assert after["verdict"] == before["verdict"]
    for was, now in zip(before["candidates"], after["candidates"], strict=True):
        assert now["test"] == was["test"]
        assert now["validation"] == was["validation"]


def test_predictions_have_a_label_and_columns_for_every_class(folder: Path) -> None:
    path = folder / "run"
    rows = rows_of_part(path, "test")
    found = predict_file(path, data_of_run(path, None), keep=["kind"], rows=rows).frame
    columns = ["kind", "prediction"]
    columns += [f"{what}_{label}" for what in ("score", "probability") for label in LABELS]
    assert found.columns == columns
    best = results(folder)["recommended"]
    kept = read_npz(path / "predictions.npz")
    np.testing.assert_allclose(found[:, 2:5].to_numpy(), kept[f"score_{best}"])
    np.testing.assert_allclose(found[:, 5:].to_numpy(), kept[f"probability_{best}"])
    likely = np.array(LABELS)[kept[f"probability_{best}"].argmax(1)]
    assert found["prediction"].to_list() == likely.tolist()
    found.write_csv(folder / "test.csv")
    here = evaluate_scores(folder / "test.csv", target="kind", score="score")
    there = evaluate_run(path)
    assert here.metrics["ap"].value == pytest.approx(there.metrics["ap"].value)
    assert here.metrics["ap"].value == pytest.approx(
        results(folder)["candidates"][best]["test"]["value"]
    )
    assert [each.label for each in here.by_class] == list(LABELS)
    assert "120 rows, means over 3 classes" in here.caption
    assert set(here.as_frame()["class"]) == {None, *LABELS}
    one = evaluate_scores(
        folder / "test.csv", target="kind", score="score_yak", positive="yak", metrics=["ap"]
    )
    by_class = {each.label: each.metrics["ap"].value for each in here.by_class}
    assert one.metrics["ap"].value == pytest.approx(by_class["yak"])


def test_the_commands_print_every_class(folder: Path) -> None:
    shown = CliRunner().invoke(app, ["evaluate", str(folder / "run"), "--metric", "mauc"])
    assert shown.exit_code == 0
    assert "auc(scheme=ovo)" in shown.stdout
    assert "by class" in shown.stdout
    refused = CliRunner().invoke(app, ["evaluate", str(folder / "run"), "--threshold", "f1"])
    assert refused.exit_code != 0
    assert "--threshold is for a target of two classes" in refused.output


def test_a_changed_model_is_refused(folder: Path) -> None:
    model = load_model(folder / "run")
    assert model.classes == LABELS
    again = load_model(model.save(folder / "copy"))
    assert again.labels == LABELS
    assert len(again.members[0].knots) == 3
    ranks = folder / "copy" / "ranks.npz"
    ranks.write_bytes(ranks.read_bytes()[:-1] + b"?")
    with pytest.raises(DataError, match="holds no model that rankwise wrote"):
        load_model(folder / "copy")


def test_the_report_leaves_out_what_is_of_two_classes(folder: Path) -> None:
    page = write_report(folder / "run").read_text()
    for words in (
        "Average precision on 3 classes of kinds.csv",
        "among the first of their own class",
        'id="classes"',
        'data-series="class-0"',
        "Classes shown",
        "mean over 3 classes",
    ):
        assert words in page, words
    for words in ('id="lift"', 'id="calibration"', 'id="scores"', '<input type="range"'):
        assert words not in page, words


def test_repeated_cross_validation_has_the_classes_of_all_rows(tmp_path: Path) -> None:
    table(150, seed=1).write_parquet(tmp_path / "kinds.parquet")
    asked = settings(
        tmp_path / "kinds.parquet", repeats=1, candidates="linear:log_loss", metric="mauc"
    )
    found = run(asked, tmp_path / "run")
    assert found is not None
    assert found.results["metric"] == "auc(scheme=ovo)"
    lines: Any = found.results["by_class"]
    assert sum(line["rows"] for line in lines) == 150
    assert all(line["auc difference"]["value"] == 0 for line in lines)
    assert found.report.read_text().count("This is the baseline itself.") == 1


def written(frame: pl.DataFrame, folder: Path) -> Path:
    path = folder / "table.parquet"
    frame.write_parquet(path)
    return path


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (
            {"kind": pl.int_range(600) % 60},
            {},
            r"has 60 values: '0', .*up to 50 can be classes: name one of them with --positive",
        ),
        (
            {"kind": pl.when(pl.int_range(600) < 3).then(pl.lit("gnu")).otherwise("kind")},
            {},
            r"part has \d rows of the class 'gnu', at least 2 are needed; the table has 3 in 600",
        ),
        ({}, {"threshold": "f1"}, "--threshold f1 is for a target of two classes, and 'kind' has"),
        ({}, {"group": "x0"}, "--group x0 is for a target of two classes"),
        ({}, {"metric": "bpref"}, 'metric "bpref" has no value for the 3 classes'),
        ({"kind": pl.int_range(600) % 2}, {"metric": "mauc"}, "is one of more than two classes"),
        (
            {"day": pl.int_range(600), "kind": pl.when(pl.int_range(600) < 400).then("kind")
             .otherwise(pl.lit("ape"))},
            {"time": "day"},
            "part has 0 rows of the class",
        ),
    ],
)  # fmt: skip
def test_tables_and_options_that_are_refused(
    change: Any, options: Any, message: str, tmp_path: Path
) -> None:
    path = written(table().with_columns(**change), tmp_path)
    with pytest.raises(DataError, match=message):
        read_problem(settings(path, **options))


def test_one_class_can_be_named_and_classes_may_be_numbers(tmp_path: Path) -> None:
    path = written(table(), tmp_path)
    alone = read_problem(settings(path, positive="yak"))
    assert alone.table.positive == "yak"
    assert not alone.table.classes
    numbers = table().with_columns(
        kind=pl.col("kind").replace_strict(dict(zip(LABELS, (10, 9, 2), strict=False)))
    )
    found = read_problem(settings(written(numbers, tmp_path)))
    assert found.table.classes == ("2", "9", "10")
    assert not found.table.graded
    parts = found.plan.parts
    for part in (parts.train, parts.validation, parts.test):
        counts = np.array([*found.table.class_counts(part).values()])
        np.testing.assert_allclose(
            counts / len(part), [(numbers["kind"] == n).mean() for n in (2, 9, 10)], atol=0.02
        )


def test_score_columns_must_be_whole(folder: Path, tmp_path: Path) -> None:
    frame = pl.DataFrame({"kind": ["a", "b", "c"] * 4, "score_a": 1.0, "score_b": 2.0})
    frame.write_csv(tmp_path / "p.csv")
    with pytest.raises(DataError, match="score_c"):
        evaluate_scores(tmp_path / "p.csv", target="kind", score="score")
    whole = frame.with_columns(score_c=pl.when(pl.int_range(12) != 4).then(3.0))
    whole.write_csv(tmp_path / "q.csv")
    with pytest.raises(DataError, match=r"'score_c' must hold a number in every row.*row 5"):
        evaluate_scores(tmp_path / "q.csv", target="kind", score="score")
    two = whole.with_columns(kind=pl.int_range(12) % 2)
    with pytest.raises(DataError, match="is one of more than two classes"):
        evaluate_scores(tmp_path / "p.csv", target="kind", score="score_a", metrics=["mauc"])
    two.write_csv(tmp_path / "r.csv")
    with pytest.raises(DataError, match="has two classes, and --score score names columns of"):
        evaluate_scores(tmp_path / "r.csv", target="kind", score="score")
