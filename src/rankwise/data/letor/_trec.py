"""TREC files: runs, which rank documents, and qrels, their relevance judgments."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias, TypeVar

from rankwise.data._text import as_number, as_whole, read_fields
from rankwise.data.errors import DataError, reads
from rankwise.errors import short_repr
from rankwise.files import require_unchanged_table, write_table

Value = TypeVar("Value", int, float)

Run: TypeAlias = dict[str, dict[str, float]]
"""Scores by query and document."""

Qrels: TypeAlias = dict[str, dict[str, int]]
"""Judgments by query and document; not above 0 is not relevant."""


@reads("a run")
def read_run(path: str | Path) -> Run:
    """Read a run: ``query Q0 document rank score tag`` lines; the score decides, not the rank.

    Args:
        path: The file.

    Returns:
        Scores by query and document.

    Raises:
        DataError: If a line cannot be read, or repeats a document of its query.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from rankwise.data.letor import read_run, write_run
        >>> file = Path(tempfile.mkdtemp()) / "bm25.run"
        >>> write_run(file, {"q1": {"d1": 0.2, "d2": 0.9}})
        >>> read_run(file)
        {'q1': {'d2': 0.9, 'd1': 0.2}}
    """
    return _by_query(path, "query Q0 document rank score tag", "score", "a number", as_number)


@reads("qrels")
def read_qrels(path: str | Path) -> Qrels:
    """Read relevance judgments: ``query iteration document relevance`` lines.

    Args:
        path: The file.

    Returns:
        Relevances by query and document.

    Raises:
        DataError: If a line cannot be read, or repeats a document of its query.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from rankwise.data.letor import read_qrels, write_qrels
        >>> file = Path(tempfile.mkdtemp()) / "test.qrels"
        >>> write_qrels(file, {"q1": {"d1": 1, "d2": 0}})
        >>> read_qrels(file)
        {'q1': {'d1': 1, 'd2': 0}}
    """
    layout = "query iteration document relevance"
    return _by_query(path, layout, "relevance", "a whole number", as_whole)


def write_run(
    path: str | Path, run: Mapping[str, Mapping[str, float]], tag: str = "rankwise"
) -> None:
    """Write a run, ranked by score; ties are in the order of trec_eval.

    Args:
        path: The file.
        run: Scores by query and document.
        tag: Name of the run.

    Raises:
        DataError: If a query, document or tag has a space.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from rankwise.data.letor import write_run
        >>> file = Path(tempfile.mkdtemp()) / "bm25.run"
        >>> write_run(file, {"q1": {"d1": 0.2, "d2": 0.9}})
        >>> print(file.read_text().splitlines()[0])
        q1 Q0 d2 1 0.9 rankwise
    """
    _require_words(path, run, tag)
    lines = []
    for query, scores in run.items():
        ordered = sorted(scores, key=lambda name: (scores[name], name), reverse=True)
        lines += [f"{query} Q0 {name} {rank} {scores[name]!r} {tag}\n"
                  for rank, name in enumerate(ordered, start=1)]  # fmt: skip
    write_table(Path(path), "".join(lines).encode())


def write_qrels(path: str | Path, qrels: Mapping[str, Mapping[str, int]]) -> None:
    """Write relevance judgments.

    Args:
        path: The file.
        qrels: Relevances by query and document.

    Raises:
        DataError: If a query or document has a space.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from rankwise.data.letor import write_qrels
        >>> file = Path(tempfile.mkdtemp()) / "test.qrels"
        >>> write_qrels(file, {"q1": {"d1": 1}})
        >>> file.read_text()
        'q1 0 d1 1\\n'
    """
    _require_words(path, qrels)
    lines = [
        f"{query} 0 {document} {relevance}\n"
        for query, documents in qrels.items()
        for document, relevance in documents.items()
    ]
    write_table(Path(path), "".join(lines).encode())


def _by_query(
    path: str | Path, layout: str, column: str, kind: str, value: Callable[[str], Value]
) -> dict[str, dict[str, Value]]:
    """Return the values of a column by query and document."""
    found: dict[str, dict[str, Value]] = {}
    wanted = [layout.split().index(name) for name in ("query", "document", column)]
    require_unchanged_table(Path(path))
    for place, fields in read_fields(Path(path), layout, blanks=False, errors="replace"):
        query, document, text = (fields[number] for number in wanted)
        own = found.setdefault(query, {})
        if document in own:
            raise DataError(
                f"{place}: document {short_repr(document)} was already there for query "
                f"{short_repr(query)}"
            )
        with suppress(ValueError):
            own[document] = value(text)
        if math.isnan(own.get(document, math.nan)):
            raise DataError(f"{place}: the {column} must be {kind}, got {short_repr(text)}")
    return found


def _require_words(
    path: str | Path, lists: Mapping[str, Mapping[str, object]], tag: str = "rankwise"
) -> None:
    documents = (("document", name) for own in lists.values() for name in own)
    for what, word in (("tag", tag), *(("query", query) for query in lists), *documents):
        if len(word.split()) != 1:
            raise DataError(
                f"{path}: TREC's files are separated by spaces; the {what} {word!r} has one"
            )
