"""TREC files: runs, which rank documents, and qrels, their relevance judgments."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from rankwise.data.errors import DataError
from rankwise.files import write_whole

Run: TypeAlias = dict[str, dict[str, float]]
"""Scores by query and document."""

Qrels: TypeAlias = dict[str, dict[str, int]]
"""Judgments by query and document; not above 0 is not relevant."""


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
    found: Run = {}
    for number, fields in _fields(Path(path), "query Q0 document rank score tag"):
        query, _, document, _, score, _ = fields
        own = found.setdefault(query, {})
        _require_new(path, number, own, query, document)
        own[document] = _score(path, number, score)
    return found


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
    found: Qrels = {}
    for number, fields in _fields(Path(path), "query iteration document relevance"):
        query, _, document, relevance = fields
        own = found.setdefault(query, {})
        _require_new(path, number, own, query, document)
        try:
            own[document] = int(relevance)
        except ValueError:
            raise DataError(
                f"{path}: line {number}: the relevance must be a whole number, got {relevance!r}"
            ) from None
    return found


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
    _require_words(path, {"tag": tag})
    lines = []
    for query, documents in run.items():
        _require_words(path, {"query": query, **{f"document {d}": d for d in documents}})
        for rank, (document, score) in enumerate(_ordered(documents), start=1):
            lines.append(f"{query} Q0 {document} {rank} {score!r} {tag}\n")
    write_whole(Path(path), "".join(lines))


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
    lines = []
    for query, documents in qrels.items():
        _require_words(path, {"query": query, **{f"document {d}": d for d in documents}})
        lines += [f"{query} 0 {document} {rel}\n" for document, rel in documents.items()]
    write_whole(Path(path), "".join(lines))


def _ordered(documents: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(documents.items(), key=lambda pair: (pair[1], pair[0]), reverse=True)


def _fields(path: Path, layout: str) -> Iterator[tuple[int, list[str]]]:
    if not path.is_file():
        raise DataError(f"{path}: there is no such file")
    wanted, empty = len(layout.split()), True
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            fields = line.split()
            if not fields:
                continue
            if len(fields) != wanted:
                raise DataError(
                    f"{path}: line {number}: {len(fields)} fields where {wanted} belong: "
                    f"{line.strip()[:80]!r}; a line is {layout}"
                )
            empty = False
            yield number, fields
    if empty:
        raise DataError(f"{path}: is empty; a line is {layout}")


def _score(path: str | Path, number: int, text: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if math.isnan(score):
        raise DataError(f"{path}: line {number}: the score must be a number, got {text!r}")
    return score


def _require_new(
    path: str | Path, number: int, own: Mapping[str, object], query: str, document: str
) -> None:
    if document in own:
        raise DataError(
            f"{path}: line {number}: document {document!r} was already there for query {query!r}"
        )


def _require_words(path: str | Path, words: Mapping[str, str]) -> None:
    for what, word in words.items():
        if not word or len(word.split()) != 1:
            raise DataError(
                f"{path}: TREC's files are separated by spaces; the {what} {word!r} has one"
            )
