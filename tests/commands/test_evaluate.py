from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import average_precision_score, ndcg_score, roc_auc_score
from typer.testing import CliRunner

from rankwise.cli import app

RUN = CliRunner()


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def scored(tmp_path):
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.1).astype(int)
    frame = pl.DataFrame(
        {
            "y": y,
            "s": (y + rng.normal(size=400)).round(1),  # with ties
            "user": [f"u{number}" for number in rng.integers(20, size=400)],
            "word": ["many" if value else "few" for value in y],
            "grade": rng.integers(4, size=400),
        }
    )
    frame.write_csv(tmp_path / "scores.csv")
    return tmp_path / "scores.csv", frame


def invoke(path, *arguments):
    return RUN.invoke(app, ["evaluate", str(path), *arguments])


def test_the_numbers_are_those_of_scikit_learn(scored, tmp_path):
    path, frame = scored
    out = tmp_path / "out.json"
    done = invoke(path, "--target", "y", "--score", "s", "--json", str(out))
    assert done.exit_code == 0, done.output
    found = json.loads(out.read_text())
    y, s = frame["y"].to_numpy(), frame["s"].to_numpy()
    assert found["rows"] == 400
    assert found["positives"] == y.sum()
    metrics = found["metrics"]
    assert metrics["ap"]["value"] == pytest.approx(average_precision_score(y, s))
    assert metrics["auc"]["value"] == pytest.approx(roc_auc_score(y, s))
    assert {metrics["ap"]["method"], metrics["auc"]["method"]} == {"logit", "delong"}
    assert {"precision@10", "recall@100", "opauc(max_fpr=0.05)", "r_precision"} < set(metrics)
    for each in metrics.values():
        assert each["low"] <= each["value"] <= each["high"]
    assert f"{metrics['ap']['value']:.4f}" in done.stdout
    assert f"400 rows, {y.sum()} positives" in done.stdout


def test_by_group_it_is_the_mean_over_lists(scored, tmp_path):
    path, frame = scored
    out = tmp_path / "out.json"
    done = invoke(path, "--target", "y", "--score", "s", "--group", "user", "--json", str(out))
    assert done.exit_code == 0, done.output
    found = json.loads(out.read_text())
    each = [
        average_precision_score(part["y"], part["s"])
        for part in frame.partition_by("user")
        if 0 < part["y"].sum() < len(part)
    ]
    assert found["metrics"]["ap"]["value"] == pytest.approx(np.mean(each))
    assert found["lists"] - found["lists_left_out"] == len(each)
    assert {"ndcg@10", "mrr", "hit@10"} < set(found["metrics"])


def test_relevances_for_metrics_that_take_them(scored, tmp_path):
    path, frame = scored
    arguments = ["--target", "grade", "--score", "s", "--group", "user", "--json"]
    out = tmp_path / "out.json"
    done = invoke(path, *arguments, str(out), "--metric", "ndcg@5")
    assert done.exit_code == 0, done.output
    found = json.loads(out.read_text())["metrics"]
    assert list(found) == ["ndcg@5"]
    each = [
        ndcg_score([2 ** part["grade"].to_numpy() - 1.0], [part["s"].to_numpy()], k=5)
        for part in frame.partition_by("user")
    ]
    assert found["ndcg@5"]["value"] == pytest.approx(np.mean(each))


def test_words_and_which_one_is_to_be_found(scored):
    path, _ = scored
    assert invoke(path, "--target", "word", "--score", "s", "--positive", "many").exit_code == 0


def test_one_positive_has_no_variance_but_a_value(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y,s\n1,3\n0,2\n0,4\n")
    done = invoke(path, "--target", "y", "--score", "s")
    assert done.exit_code == 0, done.output
    assert "0.5000" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "x", "--score", "s"], "there is no target column 'x'"),
        (["--target", "y", "--score", "word"], "the score column 'word' must hold numbers"),
        (["--target", "word", "--score", "s"], "say which one is to be found with --positive"),
        (["--target", "grade", "--score", "s"], "has 4 values"),
        (["--target", "y", "--score", "s", "--metric", "app"], 'did you mean "ap"?'),
        (["--target", "y", "--score", "s", "--metric", "ndcg"], "belongs to with --group"),
        (["--target", "y"], "--score must be given for a table"),
        ([], "--target and --score must be given for a table"),
    ],
)
def test_bad_input_is_one_line_and_2(scored, tmp_path, arguments, message):
    out = tmp_path / "out.json"
    done = invoke(scored[0], *arguments, "--json", str(out))
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert not out.exists()


def test_a_failure_is_one_line_and_1_and_debug_shows_where(scored, tmp_path):
    (tmp_path / "file").write_text("")
    arguments = ["--target", "y", "--score", "s", "--json", str(tmp_path / "file" / "out.json")]
    done = invoke(scored[0], *arguments)
    assert done.exit_code == 1
    assert done.stderr.count("\n") == 1
    assert "--debug shows where" in done.stderr
    done = invoke(scored[0], *arguments, "--debug")
    assert done.exit_code == 1
    assert "Traceback" in done.stderr


def test_the_scores_are_not_written_over(scored, monkeypatch):
    path, _ = scored
    monkeypatch.chdir(path.parent)
    before = path.read_bytes()
    for json_file in (path, "./scores.csv"):
        done = invoke(path, "--target", "y", "--score", "s", "--json", str(json_file))
        assert done.exit_code == 2
        assert done.stderr.count("\n") == 1
        assert "--json must be another file than" in done.stderr
        assert path.read_bytes() == before


def test_values_can_be_read_where_there_is_little_room(scored, tmp_path, monkeypatch):
    path, _ = scored
    monkeypatch.setenv("COLUMNS", "40")
    out = tmp_path / "out.json"
    done = invoke(path, "--target", "y", "--score", "s", "--json", str(out))
    assert done.exit_code == 0, done.output
    assert max(map(len, done.stdout.splitlines())) <= 40
    for each in json.loads(out.read_text())["metrics"].values():
        for value in (each["value"], each["low"], each["high"]):
            assert f"{value:.4f}" in done.stdout


def test_a_folder_is_that_of_a_run_which_knows_its_columns(tmp_path):
    done = invoke(tmp_path, "--target", "y", "--positive", "1")
    assert done.exit_code == 2
    assert "--target, --positive: only for a table" in done.stderr
    done = invoke(tmp_path)
    assert done.exit_code == 2
    assert "holds no run; pass the folder of a run of `rankwise compare`" in done.stderr
    assert done.stderr.count("\n") == 1


def test_names_that_people_type_are_shown_under_ours(scored, tmp_path):
    path, frame = scored
    typed = ("roc_auc", "average_precision", "auprc", "P@5", "recall_10")
    asked = [part for name in typed for part in ("--metric", name)]
    out = tmp_path / "numbers.json"
    done = invoke(path, "--target", "y", "--score", "s", *asked, "--json", str(out))
    assert done.exit_code == 0, done.output
    numbers = json.loads(out.read_text())["metrics"]
    assert list(numbers) == ["auc", "ap", "precision@5", "recall@10"]
    assert numbers["auc"]["value"] == pytest.approx(roc_auc_score(frame["y"], frame["s"]))
    assert "roc_auc" not in done.output


def test_thresholds_by_rules(scored, tmp_path):
    path, frame = scored
    out = tmp_path / "out.json"
    rules = ["recall>=0.8", "precision>=0.9@95%"]
    arguments = [part for rule in rules for part in ("--threshold", rule)]
    done = invoke(path, "--target", "y", "--score", "s", *arguments, "--json", str(out))
    assert done.exit_code == 0, done.output
    plain, sure = json.loads(out.read_text())["operating_points"]
    flagged = frame["s"].to_numpy() > plain["threshold"]
    y = frame["y"].to_numpy()
    assert (plain["rule"], plain["column"], plain["supported"]) == (rules[0], "score", True)
    assert plain["flagged"] == flagged.sum()
    assert plain["rates"]["recall"]["value"] == pytest.approx(y[flagged].sum() / y.sum())
    assert plain["rates"]["recall"]["value"] >= 0.8
    assert "recall>=0.8@95% would choose one that does" in done.stdout
    assert (sure["supported"], sure["flagged"], sure["rates"]["precision"]["value"]) == (
        *(False, 0),
        None,
    )
    assert "The rows do not support the rule: precision>=0.9@95% needs" in done.stdout
    table = done.stdout.partition("are flagged")[2].splitlines()
    (first,) = (row.split() for row in table if row.strip().startswith("precision>=0.9@95% "))
    assert first[2:] == ["0", "precision", "–", "–"]  # the rule in one piece, and what it flags


def test_alerts_of_a_day_by_number_and_by_dates(scored, tmp_path):
    path, frame = scored
    days = [f"2024-01-{1 + n // 40:02d}" for n in range(400)]  # 10 days of 40 rows
    dated = tmp_path / "dated.csv"
    frame.with_columns(when=pl.Series(days)).write_csv(dated)
    rule = ("--target", "y", "--score", "s", "--threshold", "alerts<=4/day")
    found = []
    for arguments in ((path, "--rows-per-day", "40"), (dated, "--time", "when")):
        out = tmp_path / "out.json"
        done = invoke(arguments[0], *rule, *arguments[1:], "--json", str(out))
        assert done.exit_code == 0, done.output
        found.append(json.loads(out.read_text())["operating_points"][0])
    assert found[0] == found[1]
    assert 20 < found[0]["flagged"] <= 40
    done = invoke(path, *rule)
    assert done.exit_code != 0
    assert "pass --rows-per-day, or --time with a column of dates" in done.output
    done = invoke(path, *rule, "--time", "grade")
    assert done.exit_code != 0
    assert "holds numbers, not dates" in done.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--threshold", "f2"), "--threshold: rule must be one of"),
        (("--threshold", "f1", "--group", "user"), "is for rows of one list"),
    ],
)
def test_rules_that_are_refused(scored, arguments, words):
    path, _ = scored
    done = invoke(path, "--target", "y", "--score", "s", *arguments)
    assert done.exit_code != 0
    assert words in done.output


def test_slices_are_tables_and_rows_of_files(scored, tmp_path):
    path, frame = scored
    out, table = tmp_path / "out.json", tmp_path / "out.csv"
    asked = ["--target", "y", "--score", "s", "--metric", "auc", "--by", "half"]
    halves = frame.with_columns(half=pl.int_range(pl.len()) % 2)
    halves.write_csv(path)
    done = invoke(path, *asked, "--json", str(out), "--out", str(table))
    assert done.exit_code == 0, done.output
    assert "auc by half" in done.stdout
    assert "2 comparisons of a slice with the other rows" in done.stdout
    written = pl.read_csv(table)
    assert written["slice"].to_list()[0] is None
    listed = json.loads(out.read_text())["slices"]
    for each in listed:
        part = halves.filter(pl.col("half") == int(each["slice"]))
        assert each["value"] == pytest.approx(roc_auc_score(part["y"], part["s"]))
        assert f"{each['value']:.4f}" in done.stdout


def test_slices_need_a_table_and_other_files_than_the_scores(scored, tmp_path):
    path, _ = scored
    done = invoke(tmp_path, "--by", "user")
    assert done.exit_code == 2
    assert "--by: only for a table" in done.stderr
    done = invoke(path, "--target", "y", "--score", "s", "--out", str(path))
    assert done.exit_code == 2
    assert "--out must be another file than" in done.stderr


def test_several_scores_are_compared_in_pairs(scored, tmp_path):
    path, frame = scored
    rng = np.random.default_rng(1)
    frame.with_columns(t=pl.col("s") + 3 * pl.col("y"), r=rng.random(400)).write_csv(path)
    out, table = tmp_path / "out.json", tmp_path / "out.csv"
    asked = ["--target", "y", "--score", "s", "--score", "t", "--score", "r", "--metric", "auc"]
    done = invoke(path, *asked, "--json", str(out), "--out", str(table))
    assert done.exit_code == 0, done.output
    assert "auc: differences of all pairs" in done.stdout
    assert "t is better" in done.stdout
    assert "adjusted for the number of pairs by Holm's method" in done.stdout
    pairs = json.loads(out.read_text())["pairs"]
    assert {(each["a"], each["b"]) for each in pairs} == {("s", "t"), ("s", "r"), ("t", "r")}
    assert pl.read_csv(table)["difference"].to_list() == [each["difference"] for each in pairs]
    done = invoke(path, *asked, "--group", "user", "--correction", "holm")
    assert done.exit_code == 0, done.output
    assert "paired over lists" in done.stdout


def test_several_scores_warn_of_rows_that_were_trained_on(scored, tmp_path):
    path, frame = scored
    asked = ["--target", "y", "--score", "s", "--score", "grade", "--metric", "auc"]
    assert "trained on" not in invoke(path, *asked).output
    frame.with_columns(in_training=pl.int_range(400) < 7).write_csv(path)
    out = tmp_path / "out.json"
    done = invoke(path, *asked, "--json", str(out))
    assert done.exit_code == 0, done.output
    words = "7 of 400 rows equal a row the model was trained on"
    assert words in " ".join(done.stdout.split())
    assert json.loads(out.read_text())["rows_trained_on"] == 7


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--correction", "holm"], "--correction is for several --score, got one"),
        (["--correction", "sidak"], "--correction must be one of "),
        (["--rows-per-day", "40"], "--rows-per-day: only for rules of alerts per day"),
        (["--time", "user"], "--time: only for rules of alerts per day"),
        (["--rows-per-day", "4", "--threshold", "fpr<=0.1"], "only for rules of alerts per day"),
        (["--rows-per-day", "4", "--threshold", "alerts<=1/9"], "only for rules of alerts per day"),
        (["--rows-per-day", "4", "--memory", "bounded"], "only for rules of alerts per day"),
        (["--score", "grade", "--correction", "tukey-hsd"], "is for lists: name them with --group"),
    ],
)
def test_options_that_nothing_would_read_are_refused(scored, more, message):
    done = invoke(scored[0], "--target", "y", "--score", "s", *more)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--memory", "bounded"], "--memory: only for a table\n"),
        (["--correction", "holm"], "--correction: only for a table\n"),
        (["--rows-per-day", "40"], "--rows-per-day: only for rules of alerts per day"),
    ],
)
def test_options_that_a_run_does_not_read_are_refused(tmp_path, more, message):
    done = invoke(tmp_path, *more)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_several_scores_have_no_slices_and_known_corrections(scored):
    path, _ = scored
    asked = ["--target", "y", "--score", "s", "--score", "grade"]
    for more, message in (
        (["--by", "user"], "--by takes one column of scores"),
        (
            ["--correction", "sidak"],
            "must be one of randomized-tukey, tukey-hsd, holm",
        ),
    ):
        done = invoke(path, *asked, *more)
        assert done.exit_code == 2
        assert message in done.stderr
        assert done.stderr.count("\n") == 1
