"""HTML whose every text is escaped."""

from __future__ import annotations

from rankwise.report.elements import Markup, element, figure, join, note, scroll

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


def test_a_note_is_one_paragraph_of_all_its_pieces():
    made = note("a < b, ", element("strong", "<b>"), ["; ", "c"])
    assert made == '<p class="note">a &lt; b, <strong>&lt;b&gt;</strong>; c</p>'
    assert isinstance(made, Markup)


def test_a_figure_has_a_hidden_tip_beside_its_image_and_a_caption_below():
    assert figure(element("svg"), "A & b") == (
        '<figure><div class="plot"><svg></svg><div class="tip" hidden></div></div>'
        "<figcaption>A &amp; b</figcaption></figure>"
    )


def test_what_scrolls_can_be_reached_with_the_keyboard_and_has_a_label():
    made = scroll(element("table"), 'A "wide" one')
    assert made == (
        '<div class="scroll" role="group" aria-label="A &quot;wide&quot; one" tabindex="0">'
        "<table></table></div>"
    )
