"""Model cards of runs of every kind, as huggingface_hub reads them; uploads and downloads."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import ModelCard
from tests.report.comparison.sample import arrays, results, write_run
from tests.report.kinds import KINDS
from tests.serving.models import fitted, table
from typer.testing import CliRunner

from rankwise.cli import app
from rankwise.data.reading import Reading, Rule
from rankwise.errors import UsageError
from rankwise.report import hub
from rankwise.report.card import write_card
from rankwise.report.results import read_summary
from rankwise.serving import load_scorer
from rankwise.tasks.compare.model import Member, Model
from rankwise.training import RunFolder


def comparison(out: Path, *names: str) -> Path:
    """Write a finished run of rankwise compare, with a model of two members."""
    frame, _ = table()
    kinds = ["numeric", "categorical", "time", "text", "numeric"]
    reading = Reading(tuple(map(Rule, frame.columns, kinds)))  # type: ignore[arg-type]
    members = tuple(Member.of(fitted(n), frame) for n in names or ("linear", "lightgbm"))
    with RunFolder(out, "compare").opened() as folder:
        held = arrays(2000, 0.05)
        write_run(out, held, results(held))
        Model(members, reading, {}).save(out / "model")
        folder.finish()
    return out


@pytest.fixture(scope="module", params=["compare", "rank", "recommend", "classify", "retrieval"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp(request.param) / "run"
    if request.param == "compare":
        return comparison(out)
    with warnings.catch_warnings():  # of runs this small
        warnings.simplefilter("ignore")
        return KINDS[request.param](out).parent


def test_the_hub_reads_the_card_and_its_results(run: Path, tmp_path: Path) -> None:
    summary = read_summary(run)
    assert summary is not None
    card = ModelCard.load(write_card(run, tmp_path / "README.md", name="mine"))
    assert card.data.library_name == "rankwise"
    found = {each.metric_type: each.metric_value for each in card.data.eval_results}
    known = {
        each.name: round(each.value, 6) for each in summary.results if each.value == each.value
    }
    assert found == known
    assert known
    for title in ("Results", "Data", "Settings", "Limits", "How to load"):
        assert f"\n## {title}\n" in card.content
    assert card.data.model_name == "mine"


def test_the_card_of_a_comparison_names_data_interval_and_log_loss(tmp_path: Path) -> None:
    out = comparison(tmp_path / "run")
    done = CliRunner().invoke(app, ["card", str(out)])
    assert done.exit_code == 0, done.output
    text = (out / "README.md").read_text()
    (best,) = read_summary(out).results  # type: ignore[union-attr]
    assert f"{best.low:.4f} to {best.high:.4f}" in text
    assert "share of positives" in text
    assert "log-loss" in text.partition("## Compared with")[2]
    assert json.loads((out / "results.json").read_text())["verdict"] in text


@pytest.mark.parametrize(("name", "loads"), [("linear", True), ("neural", False)])
def test_the_card_loads_the_model_in_a_way_that_works(
    name: str, loads: bool, tmp_path: Path
) -> None:
    out = comparison(tmp_path / "run", name)
    how = ModelCard.load(write_card(out)).content.partition("## How to load")[2]
    assert ("load_scorer" in how) == loads
    assert ("```bash\nrankwise predict run rows.csv\n```" in how) != loads


@pytest.mark.parametrize("part", ["train", "validation", "test"])
def test_the_card_says_which_rows_its_numbers_are_of(part: str, tmp_path: Path) -> None:
    found = {"ndcg@10": {"value": 0.5, "standard_error": 0.1, "queries": 7, "left_out": 0}}
    parts = ["train", "validation", "test"]
    known = dict.fromkeys(parts[: parts.index(part) + 1], found)
    settings = {"model": "linear", "objective": "listnet", "metric": "ndcg@10"}
    with RunFolder(tmp_path, "rank").opened() as folder:
        folder.write("results.json", json.dumps({"results": known, "history": []}).encode())
        data = {"train": "lists.txt", "clicks": "clicks.csv"}
        folder.write("config.json", json.dumps({"data": data, "settings": settings}).encode())
        folder.finish()
    card = ModelCard.load(write_card(tmp_path, tmp_path / "README.md"))
    assert ("rows that were held out" in card.content) == (part == "test")
    assert ("no estimate for new rows" in card.content) == (part == "train")
    (result,) = card.data.eval_results
    kept = "held-out" if part == "test" else part
    assert result.dataset_name == f"{kept} rows (private)"
    assert result.metric_name == "ndcg@10 (95 % 0.3040 to 0.6960)"
    assert "Compared with" not in card.content  # the other parts are no other models
    assert ("| train | ndcg@10 | 0.5000 |" in card.content) == (part != "train")
    assert f"| {part} queries | 7 |" in card.content
    assert "| relevances of the training | clicks" in card.content


def test_words_of_the_data_are_no_html_in_a_card(tmp_path: Path) -> None:
    word = "<img src=x onerror=alert(1)>"
    found = {"ndcg@10": {"value": 0.5, "standard_error": 0.1, "queries": 7, "left_out": 0}}
    settings = {"model": word, "objective": "listnet", "metric": "ndcg@10", word: word}
    with RunFolder(tmp_path / "run", "rank").opened() as folder:
        results = {"results": {"test": found}, "history": [], "notes": [word]}
        folder.write("results.json", json.dumps(results).encode())
        folder.write("config.json", json.dumps({"data": {}, "settings": settings}).encode())
        folder.finish()
    text = write_card(tmp_path / "run").read_text()
    assert text.count("&lt;img src=x") == 5
    assert "<img" not in text.partition("\n---\n")[2]


def test_what_has_no_card_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no run"):
        write_card(tmp_path)
    with RunFolder(tmp_path / "a", "compare").opened() as folder:
        folder.write("x", b"")
    with pytest.raises(UsageError, match="not finished"):
        write_card(tmp_path / "a")
    with RunFolder(tmp_path / "b", "detect").opened() as folder:
        folder.write("x", b"")
        folder.finish()
    with pytest.raises(UsageError, match="no results that a card can show"):
        write_card(tmp_path / "b")


@pytest.mark.parametrize("name", ["results.json", "config.json", "predictions.npz"])
def test_a_card_of_changed_files_is_refused(name: str, tmp_path: Path) -> None:
    out = comparison(tmp_path / "run")
    path = out / name
    path.write_bytes(path.read_bytes() + b" ")
    for write in (write_card, lambda run: hub.push_to_hub(run, "me/fraud")):
        with pytest.raises(UsageError, match=f"{name}: was changed or damaged"):
            write(out)
    assert not (out / "README.md").exists()


def test_a_damaged_model_is_not_uploaded(tmp_path: Path) -> None:
    out = comparison(tmp_path / "run")
    path = out / "model" / "model.json"
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(UsageError, match=r"model\.json: was changed or damaged"):
        hub.push_to_hub(out, "me/fraud")


class FakeHub:
    """The calls of ``HfApi`` that are used, on a folder; wrong arguments raise as there."""

    place: Path
    made: list[tuple[str, bool]]

    def __init__(self, token: str | None = None) -> None:
        self.token = token

    def create_repo(self, repo_id: str, *, private: bool, exist_ok: bool) -> None:
        self.made.append((repo_id, private))

    def upload_folder(
        self, *, repo_id: str, folder_path: Path, allow_patterns: list[str], commit_message: str
    ) -> None:
        from huggingface_hub.utils import filter_repo_objects

        names = [str(p.relative_to(folder_path)) for p in folder_path.rglob("*") if p.is_file()]
        for name in filter_repo_objects(names, allow_patterns=allow_patterns):
            (self.place / repo_id / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder_path / name, self.place / repo_id / name)

    def upload_file(
        self, *, path_or_fileobj: Any, path_in_repo: str, repo_id: str, **_: Any
    ) -> str:
        shutil.copy(path_or_fileobj, self.place / repo_id / path_in_repo)
        return f"https://hub/{repo_id}/commit/1"

    def list_repo_files(self, repo_id: str, *, revision: str | None) -> list[str]:
        root = self.place / repo_id
        if not root.is_dir():
            raise FileNotFoundError(f"404: {repo_id}")
        return [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]

    def snapshot_download(
        self, repo_id: str, *, revision: str | None, local_dir: str | None, allow_patterns: Any
    ) -> str:
        return str(shutil.copytree(self.place / repo_id, local_dir or self.place / "cache"))


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> type[FakeHub]:
    FakeHub.place, FakeHub.made = tmp_path / "hub", []
    monkeypatch.setattr("huggingface_hub.HfApi", FakeHub)
    return FakeHub


def test_a_run_goes_to_the_hub_and_back(server: type[FakeHub], tmp_path: Path) -> None:
    out, (frame, _) = comparison(tmp_path / "run"), table()
    done = CliRunner().invoke(app, ["card", str(out), "--push-to-hub", "me/fraud"])
    assert done.exit_code == 0, done.output
    assert "https://hub/me/fraud/commit/1" in done.output
    assert server.made == [("me/fraud", True)]
    sent = set(server().list_repo_files("me/fraud", revision=None))
    assert {"README.md", "model/model.json", "model/0.ranker", "run.json"} <= sent
    assert not {"predictions.npz", "model/training_rows.npz"} & sent
    back = hub.from_hub("me/fraud", folder=tmp_path / "back")
    found, expected = load_scorer(back).scores(frame), load_scorer(out).scores(frame)
    assert (found == expected).all()


def test_without_the_flag_nothing_is_sent(server: type[FakeHub], tmp_path: Path) -> None:
    assert CliRunner().invoke(app, ["card", str(comparison(tmp_path / "run"))]).exit_code == 0
    assert server.made == []
    done = CliRunner().invoke(app, ["card", str(tmp_path / "run"), "--public"])
    assert done.exit_code == 2


def test_predict_takes_a_model_of_the_hub_with_its_flag(
    server: type[FakeHub], tmp_path: Path
) -> None:
    hub.push_to_hub(comparison(tmp_path / "run"), "me/fraud", private=False)
    assert server.made == [("me/fraud", False)]
    rows = tmp_path / "rows.csv"
    table(10)[0].write_csv(rows)
    assert CliRunner().invoke(app, ["predict", "me/fraud", str(rows)]).exit_code == 2
    done = CliRunner().invoke(app, ["predict", "me/fraud", str(rows), "--from-hub"])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("score,probability")


def test_a_changed_file_and_a_pickle_of_the_hub_are_refused(
    server: type[FakeHub], tmp_path: Path
) -> None:
    hub.push_to_hub(comparison(tmp_path / "run"), "me/fraud")
    repo = server.place / "me" / "fraud"
    model = repo / "model" / "0.ranker"
    model.write_bytes(model.read_bytes()[:-1] + b"0")
    with pytest.raises(UsageError, match="SHA-256"):
        load_scorer(hub.from_hub("me/fraud", folder=tmp_path / "back"))
    (repo / "extra.PKL").write_bytes(b"")
    with pytest.raises(UsageError, match=r"extra\.PKL, which may be a pickle"):
        hub.from_hub("me/fraud", folder=tmp_path / "again")
    assert not (tmp_path / "again").exists()
    with pytest.raises(UsageError, match="cannot be read from the Hugging Face Hub"):
        hub.from_hub("me/none")


def test_a_recommender_stays_here(server: type[FakeHub], tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = KINDS["recommend"](tmp_path / "run").parent
    with pytest.raises(UsageError, match="interactions of people"):
        hub.push_to_hub(out, "me/films")
    assert server.made == []
