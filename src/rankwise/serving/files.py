"""The files of a ranker and of a model, verified and read; nothing in them is ever executed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwise.errors import short_repr
from rankwise.files import parse_json, read_array, read_zip, sha256_of
from rankwise.seals import read_sealed_json, require_sealed_file

RANKER, RANKER_VERSION, RANKER_HEADER = "rankwise ranker", 2, "ranker.json"
"""Format of the file of a fitted ranker: a zip of JSON, arrays and text."""

MODEL, MODEL_VERSION, MODEL_HEADER = "rankwise model", 3, "model.json"
"""Format of the folder of a model of ``rankwise compare``: rankers, ranks of their scores."""

RANKS, TRAINING_ROWS = "ranks.npz", "training_rows.npz"

RUN, RANKER_OF_RUN = "run.json", "model.ranker"
"""The record of a run, and the ranker in a run of ``rankwise rank``."""

Header = dict[str, Any]
Parts = dict[str, Any]  # arrays and text, by name


def read_ranker(path: Path) -> tuple[Header, Parts]:
    """Return the header of the file of a ranker, and its arrays and text by name.

    Raises:
        ValueError, KeyError: It is another file, is damaged, or is of another version.
    """
    with path.open("rb") as file:
        require_sealed_file(path)
        members = dict(read_zip(file, path))
    header: Header = parse_json(members.pop(RANKER_HEADER))
    _require_version(header, RANKER, RANKER_VERSION, "fit it again")
    return header, dict(_part(*member) for member in members.items())


def read_model_header(path: Path) -> tuple[Path, Header]:
    """Return the folder and the header of a model, whose files are those that were written.

    Args:
        path: The folder of the model, or that of its run.

    Raises:
        ValueError, KeyError, OSError: It holds no model, a damaged one, or one of another version.
    """
    folder = path if (path / MODEL_HEADER).exists() else path / "model"
    require_of_run(path, (folder / MODEL_HEADER).relative_to(path).as_posix())
    header: Header = read_sealed_json((folder / MODEL_HEADER).read_bytes())
    _require_version(header, MODEL, MODEL_VERSION, "run compare again")
    # The hashes of the rows may be left out of a model that is given away.
    given = (folder / TRAINING_ROWS).exists()
    for name, digest in header["files"].items():
        if (name != TRAINING_ROWS or given) and sha256_of(folder / name) != digest:
            raise ValueError(
                f"{name} was changed or damaged, its SHA-256 is not that of {MODEL_HEADER}"
            )
    return folder, header


def ranker_file(path: Path) -> Path | None:
    """Return the file of a single ranker: ``path``, or the one in a run of ``rankwise rank``."""
    if path.is_file():
        return path
    if (path / MODEL_HEADER).exists() or not (path / RANKER_OF_RUN).exists():
        return None
    require_of_run(path, RANKER_OF_RUN)
    return path / RANKER_OF_RUN


def require_of_run(folder: Path, name: str) -> None:
    """Raise where a file in the folder of a run is whole, but not the one that the run wrote.

    A folder without ``run.json``, such as one of the model alone, is not checked.
    """
    if not (folder / RUN).is_file():
        return
    known = read_sealed_json((folder / RUN).read_bytes())["parts"].get(name)
    if known is not None and sha256_of(folder / name) not in known:
        raise ValueError(f"{name} was changed or damaged, its SHA-256 is not that of {RUN}")


def _require_version(header: Header, form: str, version: int, remedy: str) -> None:
    if header.get("format") != form:
        raise ValueError("another format")
    found = header["version"]
    if found > version:
        raise ValueError(f"format {short_repr(found)} is of a newer rankwise: update it")
    if found < version:
        raise ValueError(f"format {short_repr(found)} is of an older rankwise: {remedy}")


def _part(name: str, content: bytes) -> tuple[str, NDArray[np.generic] | str]:
    stem, _, kind = name.rpartition(".")
    return stem, content.decode() if kind == "txt" else read_array(content, name)
