from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwise._grammar import Spec, canonical, parse, write

WORDS = st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True)
ATOMS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=6)
    | st.sampled_from(["inf", "None", "true", "kl", "a-b", "-inf"])
)


def specs(values):
    return st.builds(
        Spec,
        WORDS,
        st.none() | st.integers(0, 100),
        st.lists(values, max_size=2).map(tuple),
        st.dictionaries(WORDS, values, max_size=2),
    )


VALUES = st.recursive(
    ATOMS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple) | specs(inner)
    ),
    max_leaves=6,
)


@given(specs(VALUES))
def test_what_is_written_reads_the_same(spec):
    assert parse(str(spec)) == spec


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (Spec("auc"), "auc"),
        (Spec("ndcg", 10), "ndcg@10"),
        (Spec("opauc", None, (0.1,), {"form": "kl"}), "opauc(0.1, form=kl)"),
        (Spec("ovr", None, (Spec("auc"),)), "ovr(auc())"),
        (Spec("x", None, ((1,), [2], "a b", "inf", None)), "x((1,), [2], 'a b', 'inf', None)"),
    ],
)
def test_the_written_form(spec, text):
    assert str(spec) == text


def test_a_word_that_means_something_else_is_quoted():
    assert [write(word) for word in ("none", "None", "true", "inf", "a b", "")] == [
        "none",
        "'None'",
        "'true'",
        "'inf'",
        "'a b'",
        "''",
    ]


def test_letter_case_and_dashes_do_not_matter():
    forms = ("SquaredHinge", "squared_hinge", "squared-hinge", "SQUAREDHINGE")
    assert {canonical(form) for form in forms} == {"squaredhinge"}
