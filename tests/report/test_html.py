from __future__ import annotations

import base64
import hashlib
import math
import re
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import rankwise
from rankwise.report import Figure, Headline, Mean, Section, Table, settings_section
from rankwise.report.elements import Markup, element
from rankwise.report.html import write_html

NASTY = "<script>alert(\"π & 'v'\")</script>"


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: dict[str, list[str]] = {}
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, []).append(value)

    def handle_data(self, data):
        self.text += data


def render_report(title, sections, **options):
    with TemporaryDirectory() as folder:
        path = write_html(Path(folder) / "index.html", title, sections, **options)
        return path.read_text(encoding="utf-8")


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    return reader


def test_every_text_is_escaped_and_comes_back():
    section = Section(
        NASTY,
        [NASTY],
        [Figure(b"picture", NASTY, NASTY)],
        [Table([NASTY], [[NASTY]], NASTY)],
    )
    reader = read(render_report(NASTY, [section], headline=Headline(NASTY)))
    assert reader.tags.count("script") == 2  # the report's own and its data
    assert "alert" not in reader.tags
    # title, h1, headline, link, h2, p, figcaption, caption, th, th
    assert reader.text.count(NASTY) == 10
    assert reader.attributes["alt"] == [NASTY]


def test_nothing_is_fetched_from_elsewhere():
    reader = read(render_report("t", [Section("h", [], [Figure(b"\x89PNG", "d")])]))
    assert reader.attributes["src"] == [
        "data:image/png;base64," + base64.b64encode(b"\x89PNG").decode()
    ]
    assert "link" not in reader.tags
    assert reader.attributes["href"] == ["#h"]


def test_a_section_is_named_by_its_heading():
    made = Section("Lift at k", body=element("p", "body"), anchor="lift").render()
    assert made == (
        '<section id="lift" aria-labelledby="lift-heading">'
        '<h2 id="lift-heading">Lift at k</h2><p>body</p></section>'
    )


def test_a_section_takes_a_list_of_pieces_and_escapes_plain_text():
    made = Section("A <b> & c", body=[element("p", 1), None, ["<b>", element("p", 2)]]).render()
    assert ">A &lt;b&gt; &amp; c</h2>" in made
    assert "<p>1</p>&lt;b&gt;<p>2</p></section>" in made


def test_sections_of_one_heading_have_links_of_their_own():
    reader = read(
        render_report("t", [Section("All numbers"), Section("All numbers"), Section("σ")])
    )
    assert reader.attributes["href"] == ["#all-numbers", "#all-numbers-2", "#section"]
    assert len(set(reader.attributes["id"])) == len(reader.attributes["id"])


def test_settings_are_folded():
    made = settings_section({"steps": 3}).render("settings")
    assert made.startswith('<section id="settings" aria-labelledby="settings-heading"><details>')
    assert '<th scope="row">steps</th><td>3</td>' in made


def test_the_card_at_the_top_has_a_sentence_what_follows_and_numbers():
    made = Headline("It is better.", ["Why."], {"found": ("38", "of 62", "")}).render()
    assert made == (
        '<div class="hero"><p class="eyebrow">Verdict</p><p class="choice">It is better.</p>'
        '<p class="why">Why.</p><dl class="tiles"><div><dt>found</dt><dd class="number">38</dd>'
        '<dd class="more">of 62</dd></div></dl></div>'
    )


def test_a_table_names_its_columns_and_its_rows():
    rows = [["<i>", 1], ["second", element("em", "2")], ["third", [element("b", 3), "<"]]]
    made = Table(["Name", "Value"], rows, "Of <b>.").render()
    assert made == (
        '<div class="scroll" role="group" aria-label="Table, scrolls sideways" tabindex="0">'
        "<table><caption><span>Of &lt;b&gt;.</span></caption>"
        '<thead><tr><th scope="col">Name</th><th scope="col">Value</th></tr></thead><tbody>'
        '<tr><th scope="row">&lt;i&gt;</th><td>1</td></tr>'
        '<tr><th scope="row">second</th><td><em>2</em></td></tr>'
        '<tr><th scope="row">third</th><td><b>3</b>&lt;</td></tr>'
        "</tbody></table></div>"
    )
    assert isinstance(made, Markup)


def test_a_table_without_rows_keeps_its_head():
    made = Table(["Name"], [], "Nothing.").render()
    assert '<th scope="col">Name</th>' in made
    assert "<tbody></tbody>" in made


def test_only_a_wide_image_scrolls():
    for width, scrolls in ((400, False), (1430, True)):
        png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + width.to_bytes(4) + bytes(17)
        assert ("scrolls sideways" in Figure(png, "d").render()) is scrolls


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match=r"^rows must have 2 cells"):
        Table(["a", "b"], [[1, 2], [3]])


def test_a_mean_is_shown_with_its_interval_if_it_has_one():
    assert str(Mean(0.5, 0.01, 100)) == "0.5000 ± 0.0196"
    assert str(Mean(0.5, math.nan, 1)) == "0.5000"


def test_every_report_forbids_all_but_its_own_style_and_script(tmp_path):
    html = write_html(tmp_path / "a.html", "Title", [Section("One", ["text"])]).read_text("utf-8")
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="(.*?)"', html, re.DOTALL)
    rules = dict(rule.strip().split(maxsplit=1) for rule in policy.split(";"))
    assert rules.pop("default-src") == rules.pop("base-uri") == rules.pop("form-action") == "'none'"
    assert rules.pop("img-src") == "data:"
    for rule, found in (("style-src", "<style>(.*?)</style>"), ("script-src", "<script>(.*?)</s")):
        (content,) = re.findall(found, html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules.pop(rule) == f"'sha256-{digest}'"
    assert rules == {}


def test_all_reports_are_made_from_the_one_page_with_the_policy():
    package = Path(rankwise.__file__).parent
    files = [path for kind in ("py", "html", "js") for path in package.rglob(f"*.{kind}")]
    pages = [path.name for path in files if "<html" in path.read_text("utf-8").lower()]
    assert pages == ["html.py"]


def test_the_heading_of_sentences_is_aligned_with_them():
    made = Table(("name", "n", "remark"), [("a", 1, ""), ("b", 2, "a sentence of some length")])
    headings = re.findall(r"<th([^>]*)>(name|n|remark)<", made.render())
    assert ["words" in attributes for attributes, _ in headings] == [False, False, True]
    assert made.render().count('class="words"') == 3  # the heading and both of its cells
    assert "words" not in Table(("name", "n"), []).render()
