from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwise._grammar import Spec, parse, split_names


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("auc", Spec("auc")),
        (" auc ( ) ", Spec("auc")),
        ("ndcg@10", Spec("ndcg", 10)),
        ("map@r", Spec("map@r")),
        ("cross-entropy", Spec("cross-entropy")),
        ("opauc(max_fpr=.1)", Spec("opauc", options={"max_fpr": 0.1})),
        ("ndcg@10(gain=linear)", Spec("ndcg", 10, options={"gain": "linear"})),
        ("a(.2, b=True,)", Spec("a", None, (0.2,), {"b": True})),
        ("ovr(ndcg@5)", Spec("ovr", None, (Spec("ndcg", 5),))),
        ("a(b(c(1)))", Spec("a", None, (Spec("b", None, (Spec("c", None, (1,)),)),))),
        ("a(b=c())", Spec("a", options={"b": Spec("c")})),
    ],
)
def test_names(text, spec):
    assert parse(text) == spec


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-10_000", -10_000),
        ("+2.", 2.0),
        (".1", 0.1),
        ("-1e-3", -0.001),
        ("inf", math.inf),
        ("-inf", -math.inf),
        ("kl", "kl"),
        ("squared-hinge", "squared-hinge"),
        ("info", "info"),
        ("none", "none"),
        ("'a b'", "a b"),
        ('"it\'s"', "it's"),
        (r"'\\ \' \n \xe9 \u03c4'", "\\ ' \n é τ"),
        ("None", None),
        ("True", True),
        ("true", True),
        ("False", False),
        ("false", False),
        ("()", ()),
        ("(1)", 1),
        ("(1,)", (1,)),
        ("[1]", [1]),
        ("(1, 5.0)", (1, 5.0)),
        ("[[1, 2], (3, 4)]", [[1, 2], (3, 4)]),
    ],
)
def test_values(text, value):
    found = parse(f"x({text})").args
    assert found == (value,)
    assert type(found[0]) is type(value)
    assert parse(f"x(option={text})").options == {"option": value}


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ("", "at its end", "a name"),
        ("3", 'at "3"', "a name"),
        ("auc ap", 'at "ap"', "its end"),
        ("ndcg@", "at its end", "a whole number after @"),
        ("ndcg@1.5", 'at "1.5"', "a whole number after @"),
        ("ndcg@-1", 'at "-1"', "a whole number after @"),
        ("ndcg@5@5", 'at "@5"', "its end"),
        ("opauc(", "at its end", "a value"),
        ("opauc(max_fpr .1)", 'at ".1)"', '"," or ")"'),
        ("opauc(max_fpr=)", 'at ")"', "a value"),
        ("opauc(max_fpr=.1", "at its end", '"," or ")"'),
        ("opauc(max_fpr=.1, 0)", 'at "0)"', "option=value, as before it"),
        ("opauc((1, 2])", 'at "])"', '"," or ")"'),
        ("opauc(1-2)", 'at "1-2)"', "a value"),
        ("opauc(1..2)", 'at "1..2)"', "a value"),
        ("opauc('x)", 'at "\'x)"', "a value"),
        (r"opauc('\q')", "at \"'", "a value"),
        ("opauc(a.b)", 'at ".b)"', '"," or ")"'),
        ("opauc({1: 2})", 'at "{1: 2})"', "a value"),
        ("opauc(1 if x else 2)", 'at "if x', '"," or ")"'),
    ],
)
def test_what_cannot_be_read_is_shown_with_its_place(text, place, expected):
    with pytest.raises(ValueError, match="cannot be read") as caught:
        parse(text)
    assert place in str(caught.value)
    assert f"expected {expected}" in str(caught.value)
    assert 'write "name", "name@10" or "name(option=value, …)"' in str(caught.value)


def test_an_option_may_be_given_once():
    with pytest.raises(ValueError, match=r'"a\(b=1, b=2\)" gives b twice'):
        parse("a(b=1, b=2)")


def test_a_name_is_a_string():
    with pytest.raises(ValueError, match="name must be a string, got 3"):
        parse(3)


def test_depth_is_bounded():
    assert parse("a(" * 20 + ")" * 20)
    with pytest.raises(ValueError, match="at most 20 brackets"):
        parse("a(" * 5_000)
    assert parse("a(" + ", ".join(["(1,)"] * 50) + ")").args == ((1,),) * 50


@given(st.text(alphabet="ab@10.()[]=,-' \"\\ne∞", max_size=12))
def test_any_text_is_read_or_refused(text):
    try:
        spec = parse(text)
    except ValueError:
        return
    assert parse(str(spec)) == spec


def test_names_are_split_at_the_commas_outside_of_parentheses():
    text = "linear:tpauc(max_fpr=.5, surrogate=squared_hinge(margin=2)), boosted,, x([1, 2])"
    names = [
        "linear:tpauc(max_fpr=.5, surrogate=squared_hinge(margin=2))",
        "boosted",
        "",
        "x([1, 2])",
    ]
    assert split_names(text) == names
