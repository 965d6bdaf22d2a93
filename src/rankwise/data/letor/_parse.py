"""The regular lines of LETOR and svmlight, a block of text at a time.

Long files are read in one compiled pass where numba is installed (extra ``fast``), all others by
polars' csv reader, with the same results.
A line of the common form, ``2 qid:7 1:0.5 2:1``, is three kinds of words. With its numbers taken
out it is `` qid: : :``, which shows in one pass over the text that all lines have this form. With
":" as the separator and the blank as the end of a record the whole text is then a csv of two
columns. Whatever is not of this form is left to the careful reader: None is the answer here.
"""

from __future__ import annotations

import io
import re

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from rankwise._jit import is_available
from rankwise.data.letor._blocks import Block, even_block
from rankwise.data.letor._lines import LAST

LONG = 1 << 24
"""Bytes of a file for which the compiled pass is loaded; compiling it takes two seconds, once."""

_NUMERALS = b"0123456789.+-eE"
_COMMENT = re.compile(rb"[ \t]*#[^\n]*")
_QUERY = re.compile(rb"qid:\d*[.eE]")  # a number, but not a whole one as it is written
_BLANK = re.compile(rb"\n\n+")
_FLAT = bytes.maketrans(b"\n", b" ")
_EXACT = 2**53  # whole numbers below it are exact in double precision


def parse(text: bytes, size: int = 0) -> Block | None:
    """Return the rows of whole lines; None where a line is not of the common form.

    ``size`` is that of the file as far as it is known; the text may be a part of it.
    """
    if max(size, len(text)) >= LONG and is_available():
        from rankwise.data.letor._compiled import parse_compiled  # noqa: PLC0415  (needs numba)

        block = parse_compiled(text)
        if block is not None:
            return block
    text = _plain(text)
    bare = text.translate(None, _NUMERALS)
    ended = bare.count(b" \n")
    if ended and ended < bare.count(b"\n"):
        text, ended = text.replace(b" \n", b"\n"), 0
        bare = text.translate(None, _NUMERALS)
    # Where every line ends with a blank, the ends of the lines are one too many.
    flat = text.translate(None, b"\n") if ended else text.translate(_FLAT)
    counts = _counts(bare.replace(b" \n", b"\n"))
    queried = bare.startswith(b" qid:")
    if counts is None or (queried and _QUERY.search(text)):
        return None
    words = counts + 1 + queried  # records of every line
    found = _records(flat, int(words.sum()))
    if found is None:
        return None
    first, second = found
    if (words == words[0]).all():
        return _even(text, first, second, int(words[0]), queried)
    return _uneven(text, first, second, words, queried)


def _plain(text: bytes) -> bytes:
    """Return the lines without comments and empty lines."""
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n")
    if b"#" in text:
        text = _COMMENT.sub(b"", text)
    if b"\n\n" in text:
        text = _BLANK.sub(b"\n", text)
    text = text.removeprefix(b"\n")
    return text if text.endswith(b"\n") else text + b"\n"


def _counts(bare: bytes) -> NDArray[np.int64] | None:
    """Return the pairs of every line, given the text without numbers; None for another form."""
    end = bare.index(b"\n") + 1
    head = 5 if bare.startswith(b" qid:") else 0
    rows, rest = divmod(len(bare), end)
    if not rest and bare == bare[:end] * rows:  # all lines have the form of the first one
        pairs = bare[head : end - 1]
        return np.full(rows, len(pairs) // 2) if pairs == b" :" * (len(pairs) // 2) else None
    ends = np.flatnonzero(np.frombuffer(bare, dtype=np.uint8) == ord("\n"))
    if bare.replace(b" :", b"") != (bare[:head] + b"\n") * len(ends):
        return None
    return (np.diff(ends, prepend=-1) - 1 - head) // 2


def _records(flat: bytes, count: int) -> tuple[NDArray[np.int32], NDArray[np.float64]] | None:
    """Return what is before and after ":" in every word; −1 and NaN where it is not a number."""
    frame = pl.read_csv(
        # The first record shows that there are two columns.
        io.BytesIO(b"0:0 " + flat[:-1]),
        separator=":",
        eol_char=" ",
        has_header=False,
        quote_char=None,
        schema={"first": pl.Int32, "second": pl.Float64},
        ignore_errors=True,
    )
    if frame.height != count + 1:
        return None
    first, second = frame["first"].fill_null(-1), frame["second"].fill_null(np.nan)
    return first.to_numpy()[1:], second.to_numpy()[1:]


def _even(
    text: bytes, first: NDArray[np.int32], second: NDArray[np.float64], words: int, queried: bool
) -> Block | None:
    """Return rows that have the same number of values each."""
    first, second, head = first.reshape(-1, words), second.reshape(-1, words), 1 + queried
    columns = first[0, head:]
    if not (first[:, head:] == columns).all():
        counts = np.full(len(first), words)
        return _uneven(text, first.ravel(), second.ravel(), counts, queried)
    values = _singles(second[:, head:])
    target = _target(text, first[:, 0])
    queries = _queries(second[:, 1] if queried else second[:0, 0])
    if values is None or target is None or queries is None or not _rising(columns):
        return None
    return even_block(columns, values, target, queries)


def _uneven(
    text: bytes,
    first: NDArray[np.int32],
    second: NDArray[np.float64],
    words: NDArray[np.int64],
    queried: bool,
) -> Block | None:
    """Return rows of any number of values; ``words`` counts the records of each."""
    starts = np.concatenate([[0], np.cumsum(words)[:-1]])
    pair = np.ones(len(first), dtype=bool)
    pair[starts] = False
    if queried:
        pair[starts + 1] = False
    columns, values = first[pair], _singles(second[pair])
    ends = np.concatenate([[0], np.cumsum(words - 1 - queried)])
    target = _target(text, first[starts])
    queries = _queries(second[starts + 1] if queried else second[:0])
    if values is None or target is None or queries is None:
        return None
    begins = np.zeros(len(columns) + 1, dtype=bool)
    begins[ends] = True  # the first value of a row follows none
    if not _rising(columns, begins[1:-1]):
        return None
    width = int(columns.max(initial=0)) + 1
    features = sparse.csr_array((values, columns, ends), (len(words), width))
    return Block(features, target, queries, len(values))


def _rising(columns: NDArray[np.int32], begins: NDArray[np.bool_] | None = None) -> bool:
    """Return whether the features of each row are numbers that can be, in ascending order."""
    if not len(columns):
        return True
    above = columns[1:] > columns[:-1]
    if begins is not None:
        above |= begins
    return bool(columns.min() >= 0 and columns.max() <= LAST and above.all())


def _singles(values: NDArray[np.float64]) -> NDArray[np.float32] | None:
    """Return the values as 32-bit numbers; None where one is none, or is too large."""
    with np.errstate(over="ignore"):
        short = values.astype(np.float32)
    return short if np.isfinite(short).all() else None


def _target(text: bytes, whole: NDArray[np.int32]) -> NDArray[np.float64] | None:
    """Return the relevances; None where one is not a number."""
    if whole.min() >= 0:
        return whole.astype(np.float64)
    try:  # a word that is not a whole number >= 0
        words = [line.partition(b" ")[0] for line in text.splitlines()]
        if any(b"_" in word for word in words):  # a number of Python, of no file
            return None
        target = np.array([float(word) for word in words])
    except ValueError:
        return None
    return target if np.isfinite(target).all() else None


def _queries(ids: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """Return the ids of the queries; None where one is too large to be exact."""
    exact = (ids >= 0) & (ids < _EXACT)
    return ids.astype(np.int64) if exact.all() else None
