from __future__ import annotations

from rankwise.report.comparison.markup import Markup, element, join

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
