"""Files that are there whole or not at all."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import os
import re
import secrets
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.lib import format as npy
from numpy.typing import ArrayLike, NDArray

from rankwise.errors import UsageError, foreign_errors, short_repr
from rankwise.limits import MAX_JSON_BYTES, may_grow_to
from rankwise.seals import require_sealed_file, require_sealed_table, sealed_zip

_PART = re.compile(r"\.[0-9a-f]{16}\.part")  # the name of what is being written
_PARQUET = b"PAR1"  # how a parquet file begins
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_then: ContextVar[Callable[[Path], None] | None] = ContextVar("after_write", default=None)


@contextmanager
def after_write(function: Callable[[Path], None]) -> Iterator[None]:
    """Call a function with the path of every file that is written whole inside, in their order."""
    token = _then.set(function)
    try:
        yield
    finally:
        _then.reset(token)


@contextmanager
def open_whole(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file in the same folder, renamed at the end: no reader sees half a file.

    File and folder are flushed to the disk, so that the same is true after a loss of power.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = part_of(path)
    try:
        # Not by tempfile, whose files are for their owner alone: the umask decides.
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        _flush_folder(path.parent)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            error.filename = str(path)  # a full disk names no file
        raise
    if (function := _then.get()) is not None:
        function(path)


def write_whole(path: Path, content: str | bytes) -> Path:
    """Write a file that is there whole or not at all, see :func:`open_whole`."""
    with open_whole(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
    return path


def part_of(path: Path) -> Path:
    """Return a new temporary name next to a file or folder, for what will be renamed to it."""
    return path.with_name(f".{secrets.token_hex(8)}.part")


def is_part(path: Path) -> bool:
    """Whether a name is one of :func:`part_of`: what a killed process left."""
    return _PART.fullmatch(path.name) is not None


def remove_parts(folder: Path) -> None:
    """Remove what killed processes left half written in a folder and below it."""
    for path in [each for each in folder.rglob(".*.part") if is_part(each)]:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Give a new folder to write into, which then replaces ``folder``: whole or not at all."""
    made = part_of(folder)
    made.mkdir(parents=True)
    try:
        yield made
        shutil.rmtree(folder, ignore_errors=True)
        made.rename(folder)
        _flush_folder(folder.parent)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of the content of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_table(path: Path, content: bytes) -> Path:
    """Write a table, and the SHA-256 of text into ``NAME.sha256``, as sha256sum does.

    Parquet has its seal in it (:data:`rankwise.seals.TABLE_METADATA`), text has no place for one.
    """
    if content.startswith(_PARQUET):
        return write_whole(path, content)
    beside = _beside(path)
    beside.unlink(missing_ok=True)  # first: a process killed here leaves a table that is read
    write_whole(path, content)
    write_whole(beside, f"{hashlib.sha256(content).hexdigest()}  {path.name}\n")
    return path


def require_unchanged_table(path: Path) -> None:
    """Verify a table that rankwise wrote (:func:`write_table`); others have nothing to verify.

    A file that is not there is left to the reader to report.

    Raises:
        UsageError: If it was changed or damaged.
    """
    if not path.is_file():
        return
    beside = _beside(path)
    try:
        if beside.is_file() and sha256_of(path) != beside.read_text(errors="replace")[:64]:
            raise ValueError(
                f"its SHA-256 is not that of {beside.name}; restore it, or remove {beside.name} "
                "if the change is yours"
            )
        with path.open("rb") as file:
            parquet = file.read(4) == _PARQUET or path.suffix.lower() in (".parquet", ".pq")
        if parquet:
            require_sealed_table(path)
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from None


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def write_csv(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    """Write rows as comma-separated values, see :func:`csv_text`."""
    return write_whole(path, csv_text(rows))


def csv_text(rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as comma-separated values; the columns are the union of their keys, in order."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write_json(path: Path, value: object) -> Path:
    """Write a value as indented JSON; NaN and infinity raise."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    return write_whole(path, text + "\n")


def nan_to_none(value: object) -> object:
    """Return a value, or a dict of values at any depth, with None in place of NaN."""
    if isinstance(value, Mapping):
        return {name: nan_to_none(part) for name, part in value.items()}
    return None if isinstance(value, float) and math.isnan(value) else value


def write_npz(path: Path, arrays: Mapping[str, ArrayLike]) -> Path:
    """Write arrays by name as npz, sealed and without time stamps: equal arrays make equal files.

    Arrays of Python objects are refused.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
            # A new ZipInfo has the first date that zip knows, not that of today.
            info = zipfile.ZipInfo(f"{name}.npy")
            file.writestr(info, member.getvalue(), zipfile.ZIP_DEFLATED)
    return write_whole(path, sealed_zip(buffer.getvalue()))


def read_npz(path: Path, *, foreign: bool = False) -> dict[str, NDArray[Any]]:
    """Read the arrays of an npz file by name; nothing in it is ever executed.

    Its seal is verified, unless it is ``foreign``: of another program.

    Raises:
        UsageError: The file is not an npz, is damaged, or would grow beyond :mod:`rankwise.limits`.
    """
    with path.open("rb") as file, foreign_errors(f"{path}: cannot be read as npz without pickles"):
        if not foreign:
            require_sealed_file(path)
        if file.read(6) == npy.MAGIC_PREFIX:
            raise ValueError("it holds one array, without a name")
        return {
            name.removesuffix(".npy"): read_array(content, name)
            for name, content in read_zip(file, path)
        }


def read_zip(file: BinaryIO, path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of every member of a zip file, of bounded size in all."""
    held = zipfile.ZipFile(file)
    members = held.infolist()
    require_growth(path, sum(one.file_size for one in members), path.stat().st_size)
    names = [one.filename for one in members]
    if len(set(names)) < len(names):
        raise ValueError("two members have the same name")
    for one in members:
        yield one.filename, held.read(one)  # of which no more than it says is read


def require_growth(path: Path, grown: int, size: int) -> None:
    """Raise where compressed content of ``size`` bytes would grow too large."""
    if grown > may_grow_to(size):
        raise UsageError(
            f"{path}: would grow from {size:,} to {grown:,} bytes, at most {may_grow_to(size):,} "
            "are read; write it without compression if it is right"
        )


def read_array(content: bytes, name: str) -> NDArray[Any]:
    """Read an array in numpy's format; one of Python objects, or of another size, is refused."""
    if not content.startswith(npy.MAGIC_PREFIX):
        raise ValueError(f"{short_repr(name)} is not an array")
    file = io.BytesIO(content)
    version = npy.read_magic(file)
    if version not in _HEADERS:
        raise ValueError(f"{short_repr(name)} is of version {version} of numpy's format")
    shape, _, dtype = _HEADERS[version](file)
    if dtype.hasobject:
        raise ValueError(f"Object arrays are refused (allow_pickle=False): {short_repr(name)}")
    held, wanted = len(content) - file.tell(), dtype.itemsize * math.prod(shape)
    if min(shape, default=0) < 0 or held != wanted:  # before memory is taken for it
        raise ValueError(f"{short_repr(name)} has {held} bytes where its head announces {wanted}")
    file.seek(0)
    return np.asarray(npy.read_array(file, allow_pickle=False))


def read_json(path: Path) -> Any:
    """Read a JSON file; NaN, infinity and nesting of any depth are one error.

    Raises:
        UsageError: The file is missing, too large or not JSON.
    """
    if (size := path.stat().st_size) > MAX_JSON_BYTES:
        raise UsageError(
            f"{path}: has {size:,} bytes, a JSON file of a run has at most {MAX_JSON_BYTES:,}; "
            "give the file that rankwise wrote"
        )
    content = path.read_bytes()
    with foreign_errors(f"{path}: is not JSON"):
        return parse_json(content)


def parse_json(text: str | bytes) -> Any:
    """Parse JSON as its standard has it: numbers are finite."""
    return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")
