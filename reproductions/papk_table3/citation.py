"""Citation recommendation: pairs of papers with embeddings of both, in three published parts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rankwise.data import DataError
from reproductions.papk_table3.instances import Instances, crossed

PARTS = ("Train", "Val", "Test")
COUNTS = (
    "CoAuthorCount",
    "UserAuthorCitationCount",
    "AuthorUserCitationCount",
    "UserCitedConference",
    "UserPublishedInConferenceCount",
)
NUMBERS = ("a_id", "c_id")
"""The author and the conference of the candidate; with the counts they are seven columns."""
INTERACTIONS = (len(COUNTS), len(COUNTS) + len(NUMBERS))
_IDS, _LABEL = ("u_id", "paper_id_written"), "label"
_SUFFIXES = (".parquet", ".csv")
_CONVERT = (
    "pandas.read_pickle(name).to_parquet(name.replace('.pkl', '.parquet')) writes what is read "
    "here, for somebody who trusts the files: a pickle can run anything"
)

_WITHOUT = " (--interactions 5 leaves it out, as the authors' code does)"

Array = NDArray[np.float64]


def is_citation(path: Path) -> bool:
    """Whether this is a folder with the published files, or one of them."""
    folder = path if path.is_dir() else path.parent
    own = path.is_dir() or path.stem in {_name(part) for part in PARTS}
    return own and any(folder.glob(f"{_name(PARTS[0])}.*"))


def read_citation(
    path: Path, *, interactions: int = 7, least: int = 3, share: float = 0.1
) -> Instances:
    """The three parts of Budhiraja et al. (2020) as the paper has them.

    Files ``CitationDataset_Train``, ``_Val`` and ``_Test`` with a row for every pair of papers:
    who writes (``u_id``) what (``paper_id_written``), which together are a user; five counts of
    authors and conferences, and the numbers of the candidate's author and conference (``a_id``,
    ``c_id``); the embedding of the paper in progress, then that of the candidate, in columns ``0``,
    ``1``, … (50 and 50); ``label`` (0/1). They are published as pickles, which are not opened here:
    as parquet or csv. The products are made here, and of every part users with fewer than ``least``
    positives or a smaller ``share`` of them are left out, as the authors do.

    The paper has 7 features of author–conference interactions, d = 157, and does not name them.
    These seven columns of the files are the only ones that are of authors and conferences. The
    authors' public code (stair-lab/pap-k, ``data_processing_for_citation.py``) drops the two
    numbers and writes d = 155: ``interactions=5``.
    """
    if interactions not in INTERACTIONS:
        raise ValueError(f"interactions must be 5 or 7, got {interactions!r}")
    named = (*COUNTS, *NUMBERS)[:interactions]
    folder = path if path.is_dir() else path.parent
    read = [_read(_file(folder, part), named, least, share) for part in PARTS]
    width = {part.X.shape[1] for part in read}
    if len(width) > 1:
        raise DataError(f"{folder}: the parts must have the same columns, got {sorted(width)}")
    names = np.concatenate([part.users for part in read])
    size = (read[0].X.shape[1] - interactions) // 3
    dropped = sum(part.dropped for part in read)
    return Instances(
        "Citation",
        np.concatenate([part.X for part in read]),
        np.concatenate([part.y for part in read]),
        np.unique(names, return_inverse=True)[1].astype(np.int64),
        f"A user is a paper in progress. {interactions} features of authors and conferences "
        f"({', '.join(named)}), the embeddings of that paper and of the candidate and their "
        f"product, 3 · {size} numbers: d = {read[0].X.shape[1]}; "
        f"{dropped} users with fewer than {least} positives or less than {share:.0%} of them in "
        "a part are left out of it.",
        parts=np.repeat(np.arange(len(read)), [len(part.y) for part in read]),
    )


@dataclass(frozen=True, eq=False)
class _Part:
    """The rows of one file whose users are kept."""

    X: Array
    y: NDArray[np.bool_]
    users: NDArray[np.str_]
    dropped: int


def _name(part: str) -> str:
    return f"CitationDataset_{part}"


def _file(folder: Path, part: str) -> Path:
    for suffix in _SUFFIXES:
        if (file := folder / f"{_name(part)}{suffix}").exists():
            return file
    if (folder / f"{_name(part)}.pkl").exists():
        raise DataError(f"{folder}: {_name(part)}.pkl is a pickle and not opened; {_CONVERT}")
    raise DataError(f"{folder}: there is no {_name(part)}.parquet or .csv beside the other parts")


def _read(path: Path, named: tuple[str, ...], least: int, share: float) -> _Part:
    lazy = pl.scan_parquet(path) if path.suffix == ".parquet" else pl.scan_csv(path)
    columns = lazy.collect_schema().names()
    missing = [name for name in (*_IDS, *named, _LABEL) if name not in columns]
    if missing:
        hint = _WITHOUT if missing[0] in NUMBERS else ""
        raise DataError(
            f"{path}: has no column {missing[0]!r}{hint}; its columns are {columns[:12]}"
        )
    numbered = sorted(int(name) for name in columns if name.isdigit())
    if not numbered or len(numbered) % 2 or numbered != list(range(len(numbered))):
        raise DataError(
            f"{path}: the embeddings must be an even number of columns 0, 1, …, got "
            f"{len(numbered)} of them, {numbered[:3]} … {numbered[-2:]}"
        )
    frame = lazy.collect()
    label = frame[_LABEL].cast(pl.Float64, strict=False).to_numpy()
    if (wrong := ~np.isin(label, (0.0, 1.0))).any():
        row = int(np.flatnonzero(wrong)[0])
        got = frame[_LABEL][row]
        raise DataError(f"{path}: row {row + 1}: the label must be 0 or 1, got {got!r}")
    counts = _numbers(path, frame, named)
    both = _numbers(path, frame, [str(number) for number in numbered])
    half = both.shape[1] // 2
    features = np.concatenate([counts, crossed(both[:, :half], both[:, half:])], axis=1)
    users = np.array(
        [f"{one}_{other}" for one, other in frame.select(_IDS).iter_rows()], dtype=np.str_
    )
    names, number = np.unique(users, return_inverse=True)
    positives, rows = np.bincount(number, label), np.bincount(number)
    good = (positives >= least) & (positives >= share * rows)
    if not good.any():
        raise DataError(
            f"{path}: none of {len(names)} users has {least} positives and {share:.0%} of them"
        )
    kept = good[number]
    return _Part(features[kept], label[kept] == 1, users[kept], int((~good).sum()))


def _numbers(path: Path, frame: pl.DataFrame, names: tuple[str, ...] | list[str]) -> Array:
    values = frame.select(pl.col(name).cast(pl.Float64, strict=False) for name in names)
    matrix = values.to_numpy().reshape(frame.height, len(names))
    if not np.isfinite(matrix).all():
        row, column = (int(place[0]) for place in np.nonzero(~np.isfinite(matrix)))
        hint = _WITHOUT if names[column] in NUMBERS else ""
        raise DataError(f"{path}: row {row + 1}: {names[column]} must be a number{hint}")
    return matrix
