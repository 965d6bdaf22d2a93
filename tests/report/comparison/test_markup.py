"""Colors of candidates, and the legend that shows and hides them."""

from __future__ import annotations

import re
from importlib import resources

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.report.comparison.sections.small import candidate, pair, small_run, text_of, tree_of

from rankwise.report.comparison.markup import (
    Section,
    color_class,
    figure,
    legend,
    note,
    scroll,
    swatch,
    table,
)
from rankwise.report.comparison.run import Candidate, Estimate, Run
from rankwise.report.html import Markup, element, join

NASTY = "<script>alert(\"π & 'v'\")</script>"


def test_texts_and_attributes_are_escaped():
    made = element("p", NASTY, title=NASTY)
    safe = "&lt;script&gt;alert(&quot;π &amp; &#x27;v&#x27;&quot;)&lt;/script&gt;"
    assert made == f'<p title="{safe}">{safe}</p>'


def test_markup_is_not_escaped_again_but_what_is_made_from_it_is():
    inner = element("b", "x")
    assert element("p", inner) == "<p><b>x</b></p>"
    assert element("p", f"{inner}") == "<p>&lt;b&gt;x&lt;/b&gt;</p>"
    assert isinstance(join([inner]), Markup)


def test_attributes():
    made = element(
        "td", 3, class_="a", data_value=0.25, hidden=True, lang=None, for_="b", wide=False
    )
    assert made == '<td class="a" data-value="0.25" hidden for="b">3</td>'
    assert element("meta", name="viewport") == '<meta name="viewport">'


def test_children_of_any_depth():
    parts = (element("i", n) for n in range(2))
    assert element("p", "a", [None, ["b", parts]]) == "<p>ab<i>0</i><i>1</i></p>"


def test_a_section_is_named_by_its_heading():
    made = Section("lift", "Lift at k", element("p", "body")).render()
    assert made == (
        '<section id="lift" aria-labelledby="lift-heading">'
        '<h2 id="lift-heading">Lift at k</h2><p>body</p></section>'
    )


def test_a_section_takes_a_list_of_pieces_and_escapes_plain_text():
    made = Section("a", "A <b> & c", [element("p", 1), None, ["<b>", element("p", 2)]]).render()
    assert ">A &lt;b&gt; &amp; c</h2>" in made
    assert "<p>1</p>&lt;b&gt;<p>2</p></section>" in made


def test_a_section_has_no_charts_unless_it_is_given_some():
    assert Section("a", "A", "").charts == {}
    numbers = {"x": [1, 2]}
    assert Section("a", "A", "", {"pr": numbers}).charts["pr"] is numbers


def test_sections_do_not_share_their_charts():
    first, second = Section("a", "A", ""), Section("b", "B", "")
    assert first.charts is not second.charts


def test_a_note_is_one_paragraph_of_all_its_pieces():
    made = note("a < b, ", element("strong", "<b>"), ["; ", "c"])
    assert made == '<p class="note">a &lt; b, <strong>&lt;b&gt;</strong>; c</p>'
    assert isinstance(made, Markup)


def test_a_figure_has_a_hidden_tip_beside_its_image_and_a_caption_below():
    assert figure(element("svg"), "A & b") == (
        '<figure><div class="plot"><svg></svg><div class="tip" hidden></div></div>'
        "<figcaption>A &amp; b</figcaption></figure>"
    )


def test_a_table_names_its_columns_and_its_rows():
    made = table("Of <b>.", ["Name", "Value"], [["<i>", 1], ["second", element("em", "2")]])
    assert made == (
        '<div class="scroll" role="group" aria-label="Table, scrolls sideways" tabindex="0">'
        "<table><caption>Of &lt;b&gt;.</caption>"
        '<thead><tr><th scope="col">Name</th><th scope="col">Value</th></tr></thead><tbody>'
        '<tr><th scope="row">&lt;i&gt;</th><td>1</td></tr>'
        '<tr><th scope="row">second</th><td><em>2</em></td></tr>'
        "</tbody></table></div>"
    )


def test_a_table_without_rows_keeps_its_head():
    made = table("Nothing.", ["Name"], [])
    assert '<th scope="col">Name</th>' in made
    assert "<tbody></tbody>" in made


def test_what_scrolls_can_be_reached_with_the_keyboard_and_has_a_label():
    made = scroll(element("table"), 'A "wide" one')
    assert made == (
        '<div class="scroll" role="group" aria-label="A &quot;wide&quot; one" tabindex="0">'
        "<table></table></div>"
    )


def many(others: int) -> Run:
    """The baseline, the recommended, and so many more."""
    return small_run((*pair(), *(candidate(2 + i, f"other {i}") for i in range(others))))


def colors(run: Run) -> list[str]:
    return [color_class(run, each) for each in run.candidates]


def keys(run: Run, *shown: Candidate) -> list[str]:
    """The texts of the buttons, in their order."""
    return [text_of(each) for each in tree_of(legend(run, shown)).findall(".//button")]


def test_the_recommended_and_the_baseline_have_their_own() -> None:
    assert colors(many(3)) == ["base", "best", "c0", "c1", "c2"]


def test_after_six_the_colors_come_again_with_dashes() -> None:
    assert colors(many(8))[2:] == [
        "c0", "c1", "c2", "c3", "c4", "c5", "c0 dashed", "c1 dashed",
    ]  # fmt: skip


def test_a_baseline_that_is_recommended_is_drawn_as_that() -> None:
    run = small_run((candidate(0, "a"), candidate(1, "b", baseline=True)), recommended=1)
    assert colors(run) == ["c0", "best"]


def test_without_a_baseline_no_candidate_has_its_color() -> None:
    run = small_run((candidate(0, "a"), candidate(1, "b"), candidate(2, "c")))
    assert colors(run) == ["c0", "best", "c1"]


def test_of_several_baselines_the_one_that_differences_are_taken_to_has_the_color() -> None:
    compared = candidate(0, "tuned", baseline=True, difference=Estimate(0.1, 0.0, 0.2))
    run = small_run((compared, candidate(1, "best"), candidate(2, "plain", baseline=True)))
    assert colors(run) == ["c0", "best", "base"]


@settings(max_examples=30)
@given(st.integers(1, 13), st.data())
def test_thirteen_are_told_apart_wherever_the_recommended_and_the_baseline_stand(
    count: int, data: st.DataObject
) -> None:
    best, base = (data.draw(st.integers(0, count - 1)) for _ in range(2))
    candidates = tuple(candidate(i, "same name", baseline=i == base) for i in range(count))
    found = colors(small_run(candidates, recommended=best))
    assert len(set(found)) == count
    assert found[best] == "best"


def test_the_style_of_the_page_knows_every_class() -> None:
    style = resources.files("rankwise.report.comparison").joinpath("report.css").read_text("utf-8")
    for name in {word for each in colors(many(12)) for word in each.split()}:
        assert re.search(rf"^\.{name} ", style, re.MULTILINE), name


def test_a_swatch_is_a_line_inside_its_image_that_readers_aloud_pass_over() -> None:
    run = many(7)
    (picture,) = tree_of(swatch(run, run.candidates[-1]))
    assert picture.attrib["class"] == "swatch c0 dashed"
    assert picture.attrib["aria-hidden"] == "true"
    _, _, width, height = map(float, picture.attrib["viewbox"].split())
    (line,) = picture
    assert 0 < float(line.attrib["x1"]) < float(line.attrib["x2"]) < width
    assert float(line.attrib["y1"]) == float(line.attrib["y2"]) == height / 2


def test_the_recommended_is_first_then_the_baseline_then_the_others_as_they_come() -> None:
    run = many(3)
    base, best, first, second, third = run.candidates
    assert keys(run, third, base, first, best, second) == [
        "aprecommended",
        "log-lossbaseline",
        "other 2",
        "other 0",
        "other 1",
    ]


def test_one_candidate_can_be_both() -> None:
    run = small_run((candidate(0, "only", baseline=True),), recommended=0)
    assert keys(run, *run.candidates) == ["onlyrecommendedbaseline"]


def test_only_what_is_shown_has_a_button() -> None:
    run = many(1)
    assert keys(run, run.candidates[2]) == ["other 0"]
    assert keys(run) == []


def test_a_button_says_to_scripts_whom_it_hides_and_that_nobody_is_hidden() -> None:
    run = many(1)
    buttons = tree_of(legend(run, iter(run.candidates))).findall(".//button")
    assert [each.attrib["data-toggle"] for each in buttons] == ["1", "0", "2"]
    assert {each.attrib["aria-pressed"] for each in buttons} == {"true"}
    assert {each.attrib["type"] for each in buttons} == {"button"}
    pictures = [each.attrib["class"] for button in buttons for each in button.findall("svg")]
    assert pictures == ["swatch best", "swatch base", "swatch c0"]


def test_the_box_for_bands_is_there_where_there_are_bands() -> None:
    run = many(0)
    assert tree_of(legend(run, run.candidates)).findall(".//input") == []
    (box,) = tree_of(legend(run, run.candidates, bands=True)).findall(".//label/input")
    assert box.attrib["type"] == "checkbox"
    assert "data-bands" in box.attrib
    assert "checked" not in box.attrib


def test_the_buttons_are_a_group_with_a_name() -> None:
    (group,) = tree_of(legend(many(0), ()))
    assert (group.attrib["role"], group.attrib["aria-label"]) == (
        "group",
        "Candidates shown",
    )


def test_names_are_text_and_no_markup() -> None:
    run = small_run((candidate(0, "<b>0 & co"),), recommended=0)
    assert keys(run, *run.candidates) == ["<b>0 & corecommended"]
