"""The built site: an anchor for every public name, text for every image, nothing from elsewhere."""

from __future__ import annotations

import json
import re

import pytest
from tests.public_api import LIST

pytest.importorskip("mkdocs")
pytest.importorskip("mkdocstrings")

PUBLIC = [line.partition(":")[0] for line in LIST.read_text().splitlines()]
pytestmark = pytest.mark.xdist_group("site")  # built once, not once per worker


def without_anchor(names, pages):
    """The names that no page of the reference has as an anchor."""
    anchors = {
        anchor
        for path, text in pages.items()
        if path.startswith("reference/")
        for anchor in re.findall(r'\sid="([^"]+)"', text)
    }
    return [name for name in names if name not in anchors]


def test_every_public_name_has_an_anchor(site):
    assert without_anchor(PUBLIC, site) == []


def test_a_name_without_an_anchor_is_reported(site):
    pages = {
        path: text.replace('id="rankwise.objectives.SOPRC"', "") for path, text in site.items()
    }
    assert without_anchor(PUBLIC, pages) == ["rankwise.objectives.SOPRC"]


def test_names_are_tags_of_the_search_unless_they_begin_with_another(site_folder):
    index = json.loads((site_folder / "search" / "search_index.json").read_text())
    tags = [entry["tags"][0] for entry in index["docs"] if "tags" in entry]
    names = {name.rpartition(".")[2] for name in PUBLIC}
    assert {"Mean", "Stage", "SOPRC", "ndcg"} <= set(tags) <= names
    assert "mean_of" in names - set(tags)
    for name in names - set(tags):
        assert any(
            name.lower() != tag.lower() and name.lower().startswith(tag.lower()) for tag in tags
        )


def test_every_name_is_described_with_its_signature_and_example(site):
    page = site["reference/objectives/index.html"]
    for part in (
        "tau_fpr",
        "Share of positives in the data set",
        "&gt;&gt;&gt; ",
        "Wen et al. 2022",
    ):
        assert part in page
    # Roles of the docstrings are links by now.
    assert not [path for path, text in site.items() if re.search(r":(class|func|mod|meth):", text)]


@pytest.mark.parametrize("tag", ["img", "script", "link", "iframe"])
def test_nothing_is_loaded_from_elsewhere(site, tag):
    loads = re.compile(rf'<{tag}\b[^>]*\s(?:src|href)="(?:https?:)?//[^"]*"[^>]*>')
    found = {path: loads.findall(text) for path, text in site.items()}
    # <link rel="canonical"> and the like load nothing.
    found = {
        path: [each for each in loaded if tag != "link" or "stylesheet" in each or "icon" in each]
        for path, loaded in found.items()
    }
    assert not {path: loaded for path, loaded in found.items() if loaded}


def test_every_image_has_a_text_alternative(site):
    for path, text in site.items():
        for image in re.findall(r"<img\b[^>]*>", text):
            assert re.search(r'\balt="[^"]{10,}"', image), f"{path}: {image}"


def test_every_drawing_has_a_text_alternative(site):
    drawings = [
        svg for text in site.values() for svg in re.findall(r"<svg [^>]*viewBox[^>]*>", text)
    ]
    figures = [svg for svg in drawings if 'role="img"' in svg]
    assert len(figures) >= 20
    assert all(re.search(r'aria-label="[^"]{40,}"', svg) for svg in figures)


def test_results_and_root_pages_are_filled_in(site):
    assert "fitted exponent" in site["benchmarks/speed/index.html"]
    assert "<!-- results" not in site["benchmarks/speed/index.html"]
    assert "One engine" in site["contributing/index.html"]


def test_screenshots_that_exist_are_shown(tmp_path):
    from docs.hooks.screenshots import with_screenshots

    assert with_screenshots("a\n<!-- screenshots -->", tmp_path) == "a\n"
    for name in ("compare.png", "compare-dark.png", "rank.png"):
        (tmp_path / name).touch()
    page = with_screenshots("<!-- screenshots -->", tmp_path)
    assert page.index("## Compare") < page.index("compare-dark.png") < page.index("## Rank")
    assert "![Screenshot of the report of compare, dark](images/reports/compare-dark.png)" in page


def test_every_command_is_on_the_page_of_the_command_line(site):
    page = site["reference/commands/index.html"]
    for command in ("compare", "predict", "recommend topk", "rank compare", "retrieval search"):
        assert f"rankwise {command}" in page
    assert "Maximum number of tuning trials per candidate." in page
