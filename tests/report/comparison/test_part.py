from __future__ import annotations

from rankwise.report.comparison import part
from rankwise.report.comparison.markup import Markup, element
from rankwise.report.comparison.part import Part, figure, note, scroll, table


def test_a_section_is_named_by_its_heading():
    made = Part("lift", "Lift at k", element("p", "body")).drawn()
    assert made == (
        '<section id="lift" aria-labeledby="lift-heading">'
        '<h2 id="lift-heading">Lift at k</h2><p>body</p></section>'
    )


def test_a_section_takes_a_list_of_pieces_and_escapes_plain_text():
    made = Part("a", "A <b> & c", [element("p", 1), None, ["<b>", element("p", 2)]]).drawn()
    assert ">A &lt;b&gt; &amp; c</h2>" in made
    assert "<p>1</p>&lt;b&gt;<p>2</p></section>" in made


def test_a_section_has_no_charts_unless_it_is_given_some():
    assert Part("a", "A", "").charts == {}
    numbers = {"x": [1, 2]}
    assert Part("a", "A", "", {"pr": numbers}).charts["pr"] is numbers


def test_sections_do_not_share_their_charts():
    first, second = Part("a", "A", ""), Part("b", "B", "")
    assert first.charts is not second.charts


def test_a_note_is_one_paragraph_of_all_its_pieces():
    made = note("a < b, ", element("strong", "<b>"), ["; ", "c"])
    assert made == '<p class="note">a &lt; b, <strong>&lt;b&gt;</strong>; c</p>'
    assert isinstance(made, Markup)


def test_a_figure_has_a_hidden_tip_beside_its_picture_and_a_caption_below():
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


def test_what_sections_use_is_public():
    assert {"Part", "figure", "note", "scroll", "table"} <= set(part.__all__)


def test_what_scrolls_can_be_reached_with_the_keyboard_and_has_a_label():
    made = scroll(element("table"), 'A "wide" one')
    assert made == (
        '<div class="scroll" role="group" aria-label="A &quot;wide&quot; one" tabindex="0">'
        "<table></table></div>"
    )
