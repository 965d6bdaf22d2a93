from __future__ import annotations

import base64
import copy
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from tests.report.comparison.sample import (
    BASELINE,
    CANDIDATES,
    CONFIG,
    RECOMMENDED,
    arrays,
    grouped,
    results,
    write_run,
)

from rankwise.metrics import average_precision
from rankwise.report.comparison.report import write_report

NASTY = "<script>alert(\"π & 'v'\")</script>"
VOID = {"meta", "input", "br", "hr"}


class Reader(HTMLParser):
    """Tags, attributes and texts; tags must close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[tuple[tuple[str, ...], str]] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((tuple(self.open), data))

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def text(self) -> str:
        return "".join(
            t for inside, t in self.texts if "script" not in inside and "style" not in inside
        )

    @property
    def data(self):
        return json.loads(next(t for inside, t in self.texts if inside[-1:] == ("script",)))


def read(path) -> Reader:
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Pages that are written again have rougher bands; the sample's page has all draws."""
    monkeypatch.setattr("rankwise.report.comparison.curves.DRAWS", 10)


@pytest.fixture(scope="module")
def reader(page):
    return read(page)


def test_every_section_is_there_and_linked(reader):
    anchors = [
        "results", "importance", "curves", "time", "scores", "threshold", "lift", "calibration",
        "settings",
    ]  # fmt: skip
    assert [section["id"] for section in reader.of("section")] == anchors
    assert [link["href"] for link in reader.of("a")] == [f"#{anchor}" for anchor in anchors]


def test_the_headline_says_what_and_why(reader, found):
    text = reader.text
    assert "Average precision on transactions.csv" in text
    assert found["why"] in text
    assert f"{found['candidates'][RECOMMENDED]['test']['value']:.3f}" in text
    assert "Recommended" in text


def test_the_table_has_every_number(reader, found, held):
    cells = [
        attributes["data-value"] for attributes in reader.of("td") if "data-value" in attributes
    ]
    rows = [cells[n : n + 7] for n in range(0, len(cells), 7)]
    assert len(rows) == len(CANDIDATES)
    values = [float(row[0]) for row in rows]
    assert values == sorted(values, reverse=True)
    wanted = [float(average_precision(held[f"score_{n}"], held["target"])) for n in range(6)]
    assert values == pytest.approx(sorted(wanted, reverse=True))
    base = next(row for row in rows if row[2] == "")
    assert float(base[0]) == pytest.approx(wanted[BASELINE])
    heads = [th for th in reader.of("th") if "aria-sort" in th]
    assert [th["aria-sort"] for th in heads].count("descending") == 1
    assert all(th["scope"] == "col" for th in heads)


def test_nothing_is_fetched_and_only_this_script_may_run(page, reader):
    for _, attributes in reader.tags:
        assert "src" not in attributes
        assert "style" not in attributes
        assert not any(name.startswith("on") for name in attributes)
        assert str(attributes.get("href", "#")).startswith("#")
    assert not reader.of("link")
    html = page.read_text(encoding="utf-8")
    assert "http:" not in html
    assert "https:" not in html
    policy = next(meta["content"] for meta in reader.of("meta") if "http-equiv" in meta)
    assert policy.startswith("default-src 'none';")
    for kind, text in (
        ("script-src", html.rpartition("<script>")[2].partition("</script>")[0]),
        ("style-src", html.partition("<style>")[2].partition("</style>")[0]),
    ):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy


def test_what_a_reader_needs_to_find_their_way(reader):
    assert reader.of("html") == [{"lang": "en"}]
    ids = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    labels = {attributes["for"] for attributes in reader.of("label") if "for" in attributes}
    named = {box["id"] for box in reader.of("input") if "id" in box}
    assert named == labels
    for chart in reader.of("svg"):
        assert chart.get("aria-hidden") == "true" or chart.get("aria-label")
    for section in reader.of("section"):
        assert section["aria-labelledby"] in ids
    for th in reader.of("th"):
        assert th["scope"] in ("col", "row")


def test_curves_are_drawn_for_all_with_bands_and_few_points(reader):
    data = reader.data["charts"]
    for name in ("pr", "roc", "lift"):
        assert len(data[name]["px"]) <= 200
        assert [series["number"] for series in data[name]["series"]] == list(range(6))
    assert len([p for p in reader.of("path") if p.get("class") == "band"]) == 3 * 6


def test_the_explorer_starts_at_the_best_f1_with_its_numbers(reader, held):
    rows = reader.data["charts"]["threshold"]
    at = rows["best"]
    flagged = held[f"probability_{RECOMMENDED}"] >= rows["threshold"][at]
    true = int((flagged & (held["target"] == 1)).sum())
    assert rows["tp"][at] == true
    assert rows["fp"][at] == int(flagged.sum()) - true
    slider = next(box for box in reader.of("input") if box.get("type") == "range")
    assert slider["value"] == str(at)
    assert rows["threshold"][-1] is None
    assert rows["tp"][-1] == 0


def test_what_was_run(reader):
    text = reader.text
    for words in ("lightgbm", "4.6.0", "stratified", "learning_rate", "25\u202f000", "v29"):
        assert words in text
    assert "rankwise compare data/transactions.csv --target fraud" in text


def test_names_from_data_are_text_wherever_they_are(tmp_path, held, found):
    nasty = copy.deepcopy(found)
    for n, each in enumerate(nasty["candidates"]):
        each["name"] = f"{NASTY}{n}"
        each["params"] = {NASTY: NASTY}
    nasty |= {
        "why": NASTY,
        "metric": NASTY,
        "choice": NASTY,
        "left_out": {NASTY: NASTY},
        "other_metrics": {NASTY: [0.5] * 6},
    }
    nasty["data"] = {"path": f"data/{NASTY}", NASTY: NASTY}
    config = {**CONFIG, "data": NASTY, "target": NASTY, "features": {NASTY: NASTY}, NASTY: [NASTY]}
    path = write_report(write_run(tmp_path, held, nasty, config))
    reader = read(path)
    assert len(reader.of("script")) == 2
    assert path.read_text().count("alert") == path.read_text().count("&lt;script&gt;alert") + (
        path.read_text().count("\\u003cscript\\u003ealert")
    )
    assert reader.data["names"]["0"] == f"{NASTY}0"
    assert reader.text.count(NASTY) > 40


def test_without_probabilities_the_scores_are_used_and_it_is_said(tmp_path, held, found):
    less = {name: array for name, array in held.items() if not name.startswith("probability")}
    reader = read(write_report(write_run(tmp_path, less, found)))
    assert "scores scaled to the range from 0 to 1" in reader.text
    assert "no calibrated probabilities, so there is nothing to compare" in reader.text
    rows = reader.data["charts"]["threshold"]["threshold"][:-1]
    assert (min(rows), max(rows)) == (0, 1)


def test_weights_are_counted(tmp_path, held, found):
    weight = np.where(held["target"] == 1, 0.5, 2.0)
    reader = read(write_report(write_run(tmp_path, {**held, "weight": weight}, found)))
    rows = reader.data["charts"]["threshold"]
    assert rows["positives"] == 0.5 * held["target"].sum()
    assert rows["fp"][0] == 2 * (held["target"] == 0).sum()


def test_lists_have_a_histogram_instead_of_curves(tmp_path):
    reader = read(write_report(grouped(tmp_path)))
    assert [section["id"] for section in reader.of("section")] == [
        "results", "lists", "time", "settings",
    ]  # fmt: skip
    assert "a mean over 59 lists" in reader.text
    assert "which have no value: 1." in reader.text
    better, equal, worse = map(
        int, re.search(r"better in (\d+), equal in (\d+), worse in (\d+)", reader.text).groups()
    )
    assert better + equal + worse == 59
    assert better > worse


def test_the_verdict_of_the_run_is_on_the_page(tmp_path, held, found):
    words = "Nothing can be decided: the test part has 11 positives, fewer than 50."
    changed = {**found, "recommended": BASELINE, "verdict": words, "decided": False}
    reader = read(write_report(write_run(tmp_path, held, changed)))
    assert words in reader.text
    assert "within chance" not in reader.text


def test_what_drives_the_scores_is_on_the_page(reader, found):
    for column in found["importance"]["columns"]:
        assert column["name"] in reader.text
    assert "14 more columns" in reader.text


def test_a_run_that_knows_little_still_has_a_page(tmp_path):
    held = {"target": np.array([0, 1, 0, 1]), "score_0": np.array([-np.inf, 0.0, 1.0, np.inf])}
    found = {"candidates": [{}, {"name": "without scores"}], "recommended": 0}
    reader = read(write_report(write_run(tmp_path, held, found, {})))
    assert "without scores" in reader.text
    assert "time" not in [section["id"] for section in reader.of("section")]


def test_the_page_stays_small_however_many_rows(tmp_path):
    held = arrays(100_000, 0.02)
    path = write_report(write_run(tmp_path, held, results(arrays(400, 0.1), 10)))
    assert path.stat().st_size < 500_000


def test_a_run_that_cannot_be_read_leaves_the_old_page(tmp_path, held, found):
    path = write_report(write_run(tmp_path, held, found))
    before = path.read_bytes()
    (tmp_path / "predictions.npz").write_bytes(b"broken")
    with pytest.raises(ValueError, match=r"predictions\.npz is not"):
        write_report(tmp_path)
    assert path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "config.json", "index.html", "predictions.npz", "results.json",
    ]  # fmt: skip


def test_the_same_run_gives_the_same_page(tmp_path, held, found):
    folder = write_run(tmp_path, held, found)
    first = write_report(folder).read_bytes()
    assert write_report(str(folder)).read_bytes() == first
