"""One whole demo in its quick form, and what it leaves."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from rankwise.cli import app
from rankwise.demo import demo, make_room
from rankwise.errors import UsageError
from rankwise.training import RunFolder, command_of

pytestmark = pytest.mark.xdist_group("demo")  # one run for all of them


class Ended(NamedTuple):
    """What a demo printed, and what it wrote."""

    out: Path
    lines: list[str]
    progress: list[str]
    numbers: dict[str, Any]
    report: str


@pytest.fixture(scope="module")
def ended(tmp_path_factory) -> Ended:
    out = tmp_path_factory.mktemp("runs") / "demo"
    done = CliRunner().invoke(app, ["demo", "--quick", "--seed", "3", "--out", str(out)])
    assert done.exit_code == 0, done.output
    numbers = json.loads((out / "results.json").read_text())
    report = (out / "index.html").read_text()
    return Ended(out, done.stdout.splitlines(), done.stderr.splitlines(), numbers, report)


def test_it_ends_with_five_lines(ended) -> None:
    trained, images, table, report, following = ended.lines[-5:]
    assert ended.lines[-6] == ""
    assert trained == (
        "Trained   one small network with triplet, SupCon, SOPRC, 8 steps each on 2340 drawings; "
        "2 models on 36372 flights"
    )
    assert images.startswith("Images    SOPRC has mAP 0.")
    assert table.startswith("Table     A linear model trained on average precision has AP 0.")
    words = report.replace("(", " ").replace(")", " ").split()
    assert [Path(word).exists() for word in words if word.endswith(".html")] == [True, True]
    for command in ("compare", "retrieval train", "recommend train"):
        assert f"rankwise {command} " in following


def test_the_lines_have_the_numbers_of_the_run(ended) -> None:
    images, table = ended.lines[-4:-2]
    last = str(ended.numbers["steps"])
    maps = {name: of["map"][last] for name, of in ended.numbers["images"].items()}
    other = max(("triplet", "SupCon"), key=maps.get)
    gap = ended.numbers["differences"][other]
    # All characters have as many drawings: the mean over characters is that over queries.
    assert gap["value"] == pytest.approx(maps["SOPRC"] - maps[other])
    assert f"against {other}, the best other loss" in images
    assert _numbers(images) == [maps["SOPRC"], *(gap[key] for key in ("value", "low", "high"))]
    found = ended.numbers["table"]
    gap = found["difference"]
    assert gap["value"] == pytest.approx(found["metric"]["test"] - found["log_loss"]["test"])
    expected = [found["metric"]["test"], *(gap[key] for key in ("value", "low", "high"))]
    assert _numbers(table) == expected
    results = json.loads((ended.out / "table" / "results.json").read_text())
    assert [row["test"]["value"] for row in results["candidates"]] == [
        found["log_loss"]["test"],
        found["metric"]["test"],
    ]
    assert f"{found['positives']} of them late" in table


def _numbers(line: str) -> list[Any]:
    """The numbers of a line with three decimals, as close as these are."""
    shown = re.findall(r"[+-]?\d\.\d{3}", line)
    return [pytest.approx(float(number), abs=5.1e-4) for number in shown]


def test_all_losses_start_from_the_same_network(ended) -> None:
    starts = {of["map"]["0"] for of in ended.numbers["images"].values()}
    assert len(starts) == 1
    assert ended.numbers["seed"] == 3
    assert set(ended.numbers["images"]) == {"triplet", "SupCon", "SOPRC"}


def test_without_a_terminal_every_look_is_a_line(ended) -> None:
    looks = [line for line in ended.progress if line.startswith("step ")]
    assert [line.split(":")[0] for line in looks] == ["step 4/8", "step 8/8"]
    maps = [of["map"]["8"] for of in ended.numbers["images"].values()]
    assert [float(value) for value in re.findall(r"0\.\d+", looks[-1])] == pytest.approx(
        maps, abs=5.1e-4
    )


def test_the_report_has_the_verdict_the_figures_and_the_table(ended) -> None:
    images, table = (line[10:] for line in ended.lines[-4:-2])
    assert images in ended.report
    assert table in ended.report
    assert ended.report.count('class="tile query"') == 6
    assert ended.report.count('class="tile right"') + ended.report.count('class="tile wrong"') == (
        6 * 4 * 5  # queries, networks with the one before training, nearest images
    )
    assert "mAP over the steps" in ended.report
    assert "Mean precision at each recall" in ended.report
    assert "before training" in ended.report
    assert "http://" not in ended.report
    assert "https://" not in ended.report


def test_a_loss_has_one_color_in_both_figures(ended) -> None:
    colors: dict[str, set[str]] = {}
    for color, name in re.findall(r'class="chip (\w+)">([^<]*)<', ended.report):
        colors.setdefault(name, set()).add(color)
    assert {name: len(used) for name, used in colors.items()} == dict.fromkeys(colors, 1)
    assert {"triplet", "SupCon", "SOPRC"} <= set(colors)


def test_the_table_is_compared_by_the_command_that_is_shown(ended) -> None:
    (shown,) = [line for line in ended.lines if line.startswith("$ ")]
    words = shlex.split(shown)
    assert words[1:3] == ["rankwise", "compare"]
    assert Path(words[3]).exists()
    config = json.loads((ended.out / "table" / "config.json").read_text())
    given = dict(zip(words[4::2], words[5::2], strict=True))
    assert Path(given.pop("--out")) == ended.out / "table"
    assert given.pop("--budget") == "60s"
    kept = json.dumps(config)
    for name, value in given.items():
        assert f'"{name[2:]}": {json.dumps(value)}' in kept or f'"{name[2:]}": {value}' in kept


def test_an_earlier_demo_makes_way(ended) -> None:
    assert command_of(ended.out) == "demo"
    kept = ended.out.with_name("copy")
    with RunFolder(kept, "demo").opened() as folder:
        folder.write("index.html", b"of an earlier demo")
        folder.finish()
    make_room(kept)
    assert not kept.exists()
    make_room(kept)  # where there is nothing


def test_what_is_no_demo_is_left_alone(tmp_path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("mine")
    done = CliRunner().invoke(app, ["demo", "--out", str(tmp_path)])
    assert done.exit_code == 2
    assert "holds no demo; pass another folder with --out" in done.stderr
    assert letter.read_text() == "mine"
    with RunFolder(tmp_path / "other", "classify").opened() as folder:
        folder.write("a.txt", b"a")
        folder.finish()
    with pytest.raises(UsageError, match="holds no demo"):
        demo(tmp_path / "other")
    assert (tmp_path / "other" / "a.txt").exists()
