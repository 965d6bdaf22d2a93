"""The fast parser agrees with scikit-learn's reader, or leaves the text to it."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from rankwise.data.letor._blocks import load_rows
from rankwise.data.letor._parse import parse

numbers = st.one_of(
    st.integers(-1000, 1000).map(str),
    st.floats(-1e6, 1e6, width=32).map(repr),
    st.floats(-1e30, 1e30).map("{:.6e}".format),
)


@st.composite
def files(draw):
    """Lines of the common form, with blanks at their ends, comments and empty lines."""
    queried, even = draw(st.booleans()), draw(st.booleans())
    pick = st.lists(st.integers(0, 40), unique=True, min_size=1, max_size=8).map(sorted)
    always, lines = draw(pick), []
    for row in range(draw(st.integers(1, 6))):
        words = [draw(st.sampled_from(["0", "1", "4", "0.5", "2.0"]))]
        words += [f"qid:{7 + row // 2}"] if queried else []
        words += [f"{column}:{draw(numbers)}" for column in (always if even else draw(pick))]
        ends = st.sampled_from(["", "", " ", " # d1", "\r", "\n", "\n# a comment 1:2"])
        lines.append(" ".join(words) + draw(ends) + "\n")
    return "".join(lines).encode()


@settings(deadline=None, max_examples=150)
@given(files())
def test_the_parser_reads_what_scikit_learn_reads(text):
    found = parse(text)
    known = load_rows(io.BytesIO(text), "tests", np.float32)
    assert found is not None
    features = found.features
    dense = features.toarray() if sparse.issparse(features) else features
    assert dense.dtype == np.float32
    np.testing.assert_array_equal(dense, known.features.toarray())
    np.testing.assert_array_equal(found.target, known.target)
    np.testing.assert_array_equal(found.queries, known.queries)
    assert found.entries == known.features.nnz


@pytest.mark.parametrize(
    "line",
    [
        "x qid:1 1:1",
        "1e400 qid:1 1:1",
        "1 qid:a 1:1",
        "1 qid:1.0 1:1",
        "1 qid:1e3 1:1",
        "1 qid:-1 1:1",
        "1 qid:9007199254740993 1:1",  # not exact in double precision
        "1 qid: 1:1",
        "1 qid:1 1:x",
        "1 qid:1 1:",
        "1 qid:1 :1",
        "1 qid:1 1.0:1",
        "1 qid:1 1e1:1",
        "1 qid:1 1",
        "1 qid:1 1:2:3 4",
        "1 qid:1 2:1 1:1",
        "1 qid:1 1:1 1:1",
        "1 qid:1 -1:1",
        "1 qid:1 1:nan",
        "1 qid:1 1:1e300",
        "1 qid:1 1:1-2",
        "1 qid:1 1000001:1",
        "1 qid:1 99999999999:1",
        "1 qid:1  1:1",
        "1\tqid:1 1:1",
        " 1 qid:1 1:1",
        "1 1:1",
        "qid:1 1:1",
    ],
)
@pytest.mark.parametrize("others", ["0 qid:1 1:1\n", "0 qid:1 1:1\n0 qid:1 1:1 3:2\n"])
def test_another_line_is_left_to_the_careful_reader(line, others):
    assert parse(others.encode()) is not None
    assert parse(f"{others}{line}\n{others}".encode()) is None


@pytest.mark.parametrize("text", [b"", b"\n", b"# a comment\n", b" \n"])
def test_nothing_is_left_to_the_careful_reader(text):
    found = parse(text)
    assert found is None or not len(found.target)


def test_few_values_stay_sparse():
    found = parse(b"1 qid:1 1:2 1000000:3\n0 qid:1 1:1 1000000:5\n")
    assert sparse.issparse(found.features)
    assert found.features.shape == (2, 1_000_001)
    assert found.features[:, [1, 1_000_000]].toarray().tolist() == [[2, 3], [1, 5]]
