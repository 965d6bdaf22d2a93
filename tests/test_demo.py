from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from rankwise import demo
from rankwise.data import read_table
from rankwise.tasks.compare import seconds_of


def test_the_table_is_whole_and_its_class_is_rare() -> None:
    table = read_table(demo.DATA, target="damage", positive="Substantial")
    assert (len(table), table.positives) == (10_000, 311)
    assert not [name for name in table.names if "cost" in name.lower()]  # known after the damage
    kinds = dict(zip(table.names, table.kinds, strict=True))
    assert (kinds["species"], kinds["speed"]) == ("categorical", "numeric")


def test_where_the_table_is_from_is_said_beside_it() -> None:
    said = (demo.DATA.parent / "README.md").read_text()
    header = gzip.decompress(demo.DATA.read_bytes()).decode().splitlines()[0]
    assert "damage" in header.split(",")
    for word in ("public domain", "Federal Aviation Administration", "3.1 %", demo.DATA.name):
        assert word in said


@pytest.fixture
def short(monkeypatch, tmp_path_factory) -> None:
    """The first rows, linear models and the first options: seconds rather than minutes."""
    some = tmp_path_factory.mktemp("data") / demo.DATA.name
    rows = gzip.decompress(demo.DATA.read_bytes()).splitlines(keepends=True)[:1501]
    some.write_bytes(gzip.compress(b"".join(rows)))
    real = demo.arguments

    def quick(out: Path, budget: str) -> list[str]:
        return [*real(out, budget), "--candidates", "linear", "--trials", "1"]

    monkeypatch.setattr(demo, "DATA", some)
    monkeypatch.setattr(demo, "arguments", quick)


@pytest.mark.usefixtures("short")
def test_it_ends_with_the_table_and_the_path_of_the_report(tmp_path, capsys) -> None:
    out = tmp_path / "demo"
    out.mkdir()
    (out / "config.json").write_text("of an earlier demo")
    with pytest.raises(SystemExit) as ended:
        demo.main(out, "30s")
    assert ended.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("$ rankwise compare ")
    assert any(re.match(r" ?linear, ap( ★)? +0\.", line) for line in lines)
    assert lines[-1] == str(out / "index.html")
    assert Path(lines[-1]).exists()
    assert json.loads((out / "results.json").read_text())["data"]["rows"] == 1500


@pytest.mark.usefixtures("short")
def test_what_is_no_run_is_left_alone(tmp_path, capsys) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(SystemExit) as ended:
        demo.main(tmp_path, "1s")
    assert ended.value.code == 2
    assert "holds no run" in capsys.readouterr().err
    assert (tmp_path / "letter.txt").read_text() == "mine"


def test_it_asks_for_all_candidates_and_ends_within_three_minutes() -> None:
    asked = demo.arguments()
    assert "--candidates" not in asked
    # What is begun is ended: it may take half as long again, and some seconds to test and write.
    assert seconds_of(asked[asked.index("--budget") + 1]) <= 90
