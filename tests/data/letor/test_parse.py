"""The fast parsers agree with scikit-learn's reader, or leave the text to it."""

from __future__ import annotations

import gzip
import io
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from rankwise.data.letor import _letor, _parse, read_letor
from rankwise.data.letor._blocks import load_rows
from rankwise.data.letor._compiled import parse_compiled
from rankwise.data.letor._parse import parse

both = pytest.mark.parametrize("parse", [parse, parse_compiled], ids=["polars", "compiled"])

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


@both
@settings(deadline=None, max_examples=150)
@given(text=files())
def test_the_parser_reads_what_scikit_learn_reads(parse, text):
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
        "1 qid:1 1:3.4028236e38",  # the first that rounds to infinity is 3.40282357e38
        "1 qid:1 1:1e",
        "1 qid:1 1:1e+",
        "1 qid:1 1:.",
        "1 qid:1 1:-",
        "1 qid:1 1:+-1",
        "1 qid:1 1:1_0",
        "1 qid:1 1:1 x",
        "1 qip:1 1:1",
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
@both
@pytest.mark.parametrize("others", ["0 qid:1 1:1\n", "0 qid:1 1:1\n0 qid:1 1:1 3:2\n"])
def test_another_line_is_left_to_the_careful_reader(line, others, parse):
    assert parse(others.encode()) is not None
    assert parse(f"{others}{line}\n{others}".encode()) is None


@both
@pytest.mark.parametrize("text", [b"", b"\n", b"# a comment\n", b" \n"])
def test_nothing_is_left_to_the_careful_reader(text, parse):
    found = parse(text)
    assert found is None or not len(found.target)


@both
def test_few_values_stay_sparse(parse):
    found = parse(b"1 qid:1 1:2 1000000:3\n0 qid:1 1:1 1000000:5\n")
    assert sparse.issparse(found.features)
    assert found.features.shape == (2, 1_000_001)
    assert found.features[:, [1, 1_000_000]].toarray().tolist() == [[2, 3], [1, 5]]


digits = st.text("0123456789", min_size=1, max_size=25)
signs = st.sampled_from(["", "-", "+"])
powers = st.one_of(st.integers(-70, 70), st.integers(-(10**6), -50)).map(str)


@st.composite
def forms(draw):
    """Numbers as a file may write them: any digits, with a point, with an exponent."""
    before, after = draw(digits), draw(digits)
    body = draw(st.sampled_from([before, f"{before}.", f".{after}", f"{before}.{after}"]))
    power = draw(st.one_of(st.just(""), st.tuples(st.sampled_from("eE"), powers).map("".join)))
    return draw(signs) + body + power


@st.composite
def near_ties(draw):
    """Decimals at, just below and just above the middle of two 32-bit numbers."""
    low = np.float32(draw(st.floats(2.0**-149, 2.0**127, width=32)))
    middle = (Decimal(float(low)) + Decimal(float(np.nextafter(low, np.float32(np.inf))))) / 2
    far = draw(st.sampled_from([0, 0, Decimal("1e-30"), Decimal("1e-17"), Decimal("1e-14")]))
    with localcontext(prec=draw(st.sampled_from([9, 17, 25, 60, 200]))):
        return str(middle * (1 + draw(st.sampled_from([-1, 1])) * far))


@both
@settings(deadline=None, max_examples=100)
@given(words=st.lists(st.one_of(forms(), near_ties()), min_size=1, max_size=40))
def test_every_number_is_rounded_as_python_rounds_it(parse, words):
    with np.errstate(over="ignore"):
        known = [np.float32(float(word)) for word in words]
    fits = np.isfinite(known)
    words = [word for word, fit in zip(words, fits, strict=True) if fit]
    found = parse("".join(f"0 1:{word}\n" for word in ["1", *words]).encode())
    assert found is not None
    expected = np.array([1, *np.array(known)[fits]], dtype=np.float32)
    # Bits, so that −0 is not 0.
    np.testing.assert_array_equal(found.features[:, 1].view(np.int32), expected.view(np.int32))


@pytest.mark.parametrize(
    "word",
    [
        "123456789012345",  # 15 digits, the most that are read without a look at their number
        "1234567890123456",
        "12345678901234567890123456789",
        "0.00000000012345",
        "0.000000000123456",
        "-0",
        "-0.000000",
        "5.",
        ".5",
        "-.5",
        "+.5",
        "1e5",
        "1.5E-5",
    ],
)
def test_numbers_of_few_and_of_many_digits_are_rounded_alike(word):
    found = parse_compiled(f"0 1:{word}\n".encode()).features[:, 1]
    np.testing.assert_array_equal(found.view(np.int32), np.float32([float(word)]).view(np.int32))


@both
@pytest.mark.parametrize("word", ["1", "0.1", "-2", "4.25e3", "123456789012345", "1e-22"])
def test_relevances_are_rounded_as_python_rounds_them(parse, word):
    assert parse(f"{word} 1:1\n".encode()).target.tolist() == [float(word)]


def test_more_ties_than_fit_are_left_to_the_other_parser():
    word = "1.00000005960464477539062500000000001"
    tie = f"0 1:{word}\n"
    assert parse_compiled(tie.encode() * 10) is not None
    assert parse_compiled(tie.encode() * 5000) is None
    rows = parse(tie.encode() * 5000).features
    np.testing.assert_array_equal(rows[:, 1], np.float32(float(word)))


def test_long_texts_are_read_by_the_compiled_pass(tmp_path, monkeypatch):
    monkeypatch.setattr(_parse, "LONG", 20)
    monkeypatch.setattr(_parse, "_plain", None)
    (tmp_path / "lists").write_text("2 qid:7 1:0.5 2:1\n0 qid:7 1:.1\n1 qid:8 2:3e-1 # d3\n")
    lists = read_letor(tmp_path / "lists")
    np.testing.assert_array_equal(
        lists.features, np.float32([[0, 0.5, 1], [0, 0.1, 0], [0, 0, 0.3]])
    )
    assert lists.documents == ("", "", "d3")


def test_every_part_of_a_long_file_is_read_by_the_compiled_pass(tmp_path, monkeypatch):
    monkeypatch.setattr(_letor, "_CHUNK", 10)
    monkeypatch.setattr(_parse, "LONG", 40)
    monkeypatch.setattr(_parse, "_plain", None)
    (tmp_path / "lists").write_text("2 qid:7 1:0.5\n" * 3)
    assert read_letor(tmp_path / "lists").features[:, 1].tolist() == [0.5] * 3


def test_a_long_gzip_file_is_read_by_the_compiled_pass_from_where_it_is_long(tmp_path, monkeypatch):
    monkeypatch.setattr(_letor, "_CHUNK", 100)
    monkeypatch.setattr(_parse, "LONG", 1000)
    by_polars, plain = [], _parse._plain

    def counted(text):
        by_polars.append(len(text))
        return plain(text)

    monkeypatch.setattr(_parse, "_plain", counted)
    with gzip.open(tmp_path / "lists.gz", "wb") as file:
        file.write(b"2 qid:7 1:0.5\n" * 200)
    assert (tmp_path / "lists.gz").stat().st_size < 1000
    assert read_letor(tmp_path / "lists.gz").features[:, 1].tolist() == [0.5] * 200
    assert 800 < sum(by_polars) < 1000
