from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from rankwise.tasks import classification, contrast, recommendation, retrieval
from rankwise.tasks.detection.files import write_config as write_detection
from rankwise.tasks.detection.settings import Settings as Detection
from rankwise.tasks.ranking.fitting import Settings as Ranking
from rankwise.tasks.recommendation.files import write_config as write_recommendation
from rankwise.tasks.run_folder import command_of, require_free
from rankwise.tasks.usage import UsageError


def compare(out):
    (out / "config.json").write_text(json.dumps({"command": "rankwise compare", "data": "a.csv"}))


def rank(out):
    asked = {"data": {"train": "a.txt"}, "settings": asdict(Ranking())}
    (out / "config.json").write_text(json.dumps(asked))


BEGUN = {
    "classify": lambda out: classification.files.write_config(out, classification.Settings()),
    "compare": compare,
    "contrast": lambda out: contrast.page.write_config(out, contrast.Settings()),
    "detect": lambda out: write_detection(out, Detection()),
    "rank": rank,
    "recommend": lambda out: write_recommendation(out, recommendation.Settings(), "a.csv"),
    "retrieval": lambda out: retrieval.files.write_config(out, retrieval.Settings()),
}


@pytest.mark.parametrize("command", BEGUN)
def test_a_run_is_known_by_its_settings(tmp_path, command):
    BEGUN[command](tmp_path)
    assert command_of(tmp_path) == command


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("held", BEGUN)
def test_the_run_of_another_command_is_never_touched(tmp_path, held, resume):
    BEGUN[held](tmp_path)
    (tmp_path / "results.json").write_text("{}")
    for command in BEGUN.keys() - {held}:
        with pytest.raises(UsageError) as refused:
            require_free(tmp_path, command, resume=resume)
        for words in (
            f"{tmp_path} holds a run of rankwise {held}, not of rankwise {command} (config.",
            ", results.json); pass another folder with --out",
        ):
            assert words in str(refused.value)


@pytest.mark.parametrize("command", BEGUN)
def test_the_own_run_is_gone_on_with_when_asked(tmp_path, command):
    require_free(tmp_path / "new", command, resume=False)
    require_free(tmp_path / "new", command, resume=True)
    BEGUN[command](tmp_path)
    # Killed before its first checkpoint, or refused by a setting: there is nothing to be lost.
    require_free(tmp_path, command, resume=False)
    require_free(tmp_path, command, resume=True)
    (tmp_path / "checkpoint.pt").write_bytes(b"")
    require_free(tmp_path, command, resume=True)
    with pytest.raises(UsageError, match="already holds a run; pass --resume to continue it, or"):
        require_free(tmp_path, command, resume=False)


def test_a_ranker_under_way_has_no_settings_yet(tmp_path):
    (tmp_path / "checkpoint.pt").write_bytes(b"")
    require_free(tmp_path, "rank", resume=True)
    with pytest.raises(UsageError, match="already holds a run; pass --resume"):
        require_free(tmp_path, "rank", resume=False)
    with pytest.raises(UsageError, match="a run of rankwise rank, not of rankwise contrast"):
        require_free(tmp_path, "contrast", resume=True)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("results.json", "{}"),
        ("study.db", ""),
        ("config.json", "[]"),
        ("config.json", "{"),
        ("config.json", '{"key": 1}'),
        ("config.yaml", "data:\n  root: here\n"),
        ("config.yaml", ""),
    ],
)
def test_files_of_somebody_else_are_not_touched(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    for resume in (False, True):
        with pytest.raises(UsageError, match=rf"holds what is no run of rankwise detect \({name}"):
            require_free(tmp_path, "detect", resume=resume)


def test_two_runs_in_one_folder_are_nobodys(tmp_path):
    BEGUN["compare"](tmp_path)
    BEGUN["detect"](tmp_path)
    assert command_of(tmp_path) is None


def test_other_files_do_not_matter(tmp_path):
    (tmp_path / "data.csv").write_text("")
    require_free(tmp_path, "recommend", resume=False)
