"""Options that come from settings, and files of settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from rankwise.cli import app
from rankwise.commands.app import App
from rankwise.tasks.classification.settings import Settings as Classification
from rankwise.tasks.compare.settings import Settings as Compare
from rankwise.tasks.contrast.settings import Settings as Contrast
from rankwise.tasks.detection.settings import Settings as Detection
from rankwise.tasks.ranking.settings import Settings as Ranking
from rankwise.tasks.recommendation.settings import Settings as Recommendation
from rankwise.tasks.retrieval.settings import Settings as Retrieval

Data = Annotated[Path, typer.Argument()]
KINDS = {
    "classify": Classification,
    "compare": Compare,
    "contrast": Contrast,
    "detect": Detection,
    "rank": Ranking,
    "recommend": Recommendation,
    "retrieval": Retrieval,
}


@pytest.mark.parametrize("command", KINDS)
def test_config_prints_documented_settings_that_can_be_read_again(command, tmp_path):
    done = CliRunner().invoke(app, [command, "config"])
    assert done.exit_code == 0, done.output
    path, kind = tmp_path / "mine.yaml", KINDS[command]
    path.write_text(done.output)
    required = {"data": Path("a.csv")} if command == "compare" else {}
    assert kind.read(path, values=required) == kind(**required)
    for line in done.output.splitlines():
        assert line.partition("  # ")[2].endswith("."), line


@pytest.mark.parametrize("command", KINDS)
def test_the_schema_describes_every_setting(command):
    done = CliRunner().invoke(app, [command, "config", "--schema"])
    schema = json.loads(done.output)
    assert set(KINDS[command].model_fields) < set(schema["properties"])
    assert schema["additionalProperties"] is False


def test_config_of_a_name_that_ships():
    done = CliRunner().invoke(app, ["retrieval", "config", "omniglot"])
    assert "  kind: omniglot  # Layout of the data." in done.output.splitlines()
    done = CliRunner().invoke(app, ["retrieval", "config", "omniglott"])
    assert done.exit_code == 2
    assert "did you mean omniglot" in done.output


def made() -> App:
    mine = App()

    @mine.command()
    def train(data: Data, settings: Recommendation) -> None:
        """Print what was read."""
        typer.echo(json.dumps([str(data), settings.hidden, settings.epochs, settings.model]))

    return mine


def test_options_override_the_file_and_the_file_overrides_defaults(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("hidden: [8, 4]\nepochs: 7\n")
    for more, values in (
        ([], [[128], 40, "mf"]),
        (["--hidden", "3, 2"], [[3, 2], 40, "mf"]),
        (["--config", str(path)], [[8, 4], 7, "mf"]),
        (
            ["--config", str(path), "--epochs", "40", "--model", "two_tower"],
            [[8, 4], 40, "two_tower"],
        ),
    ):
        done = CliRunner().invoke(made(), ["data.csv", *more])
        assert json.loads(done.output) == ["data.csv", *values]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--hidden", "64.5"], "--hidden must be whole numbers separated by commas, got '64.5'"),
        (["--epochs", "0"], "epochs must be a whole number >= 1, got 0"),
        (["--split", "user"], "split must be one of random, time, got 'user'"),
        (["--config", "no.yaml"], "no.yaml: there is no such file or folder"),
    ],
)
def test_what_is_wrong_is_one_line_and_2(more, message):
    done = CliRunner().invoke(made(), ["data.csv", *more])
    assert done.exit_code == 2
    assert done.output.splitlines() == [message]
