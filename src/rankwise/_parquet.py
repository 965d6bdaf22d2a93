"""The structure of a parquet file, checked before polars reads it.

Polars takes memory for as many values as the footer or the header of a page announces, and a number
that is wrong ends the process, not the call. So all numbers are compared with each other and with
the size of the file first: the footer and one header per page, of which there are few. The content
of the pages is left to polars, whose errors there can be caught.

Both are in Thrift's compact protocol: https://parquet.apache.org/docs/file-format/metadata/.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from rankwise.errors import UsageError, foreign_errors
from rankwise.limits import MAX_COLUMNS, may_grow_to

_MAGIC = b"PAR1"
_DEPTH = 64  # of structures in each other
_TYPES = range(8)
_BYTES = (1, 4, 8, 12, 4, 8, 16, 0)  # of a value in memory, by type; the last has a length
_DATA, _INDEX, _DICTIONARY, _DATA_V2 = range(4)  # types of pages
Fields: TypeAlias = dict[int, Any]


def require_parquet(
    path: Path, raises: type[UsageError] = UsageError, *, in_memory: bool = True
) -> None:
    """Raise where a file is not parquet, or announces what it does not hold.

    ``in_memory`` limits what all of its values take, which repeated values make larger than the
    file; rows that are read in batches need no limit.
    """
    size = path.stat().st_size
    with foreign_errors(f"{path}: cannot be read as parquet", raises), path.open("rb") as file:
        if size < 12:
            raise ValueError(f"it has {size} bytes, less than the least file has")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            grown = _checked(data, size)
    if in_memory and grown > may_grow_to(size):
        raise raises(
            f"{path}: has {size:,} bytes and would take {grown:,} in memory, at most "
            f"{may_grow_to(size):,} are read; write its columns without repeated values packed, "
            "or fewer rows"
        )


def _checked(data: mmap.mmap, size: int) -> int:
    """Return the bytes that all values take in memory."""
    if data[:4] != _MAGIC or data[-4:] != _MAGIC:
        raise ValueError("it does not begin and end with PAR1; it was cut off, or is another kind")
    end = size - 8 - int.from_bytes(data[-8:-4], "little")
    if end < 4:
        raise ValueError("its footer is longer than the file")
    footer, _ = _struct(data[end : size - 8], 0, _DEPTH)
    leaves, grown, rows = list(_leaves(footer[2])), 0, 0
    if len(leaves) > MAX_COLUMNS:
        raise ValueError(f"it has {len(leaves)} columns, at most {MAX_COLUMNS:,} are read")
    for group in footer.get(4, []):
        count = _count(group[3], "rows of a group")
        rows += count
        if len(group[1]) != len(leaves):
            raise ValueError(f"a group has {len(group[1])} of {len(leaves)} columns")
        for chunk, (width, repeated) in zip(group[1], leaves, strict=True):
            about = chunk[3]
            if about[1] not in _TYPES:
                raise ValueError(f"a column has the unknown type {about[1]}")
            values = _count(about[5], "values of a column")
            if not repeated and values != count:
                raise ValueError(f"a column has {values} values in a group of {count} rows")
            _require_pages(data, about, values, end)
            grown += values * width
    if rows != _count(footer[3], "rows"):
        raise ValueError(f"it announces {footer[3]} rows, its groups have {rows}")
    return grown


def _leaves(schema: list[Fields]) -> Iterator[tuple[int, bool]]:
    """Yield the bytes of a value, and whether it may repeat, of every column that holds values."""
    above: list[list[Any]] = []  # children that are still to come, and whether they may repeat
    for number, element in enumerate(schema):
        repeated = number > 0 and (element.get(3) == 2 or above[-1][1])
        if above:
            above[-1][0] -= 1
        children = element.get(5, 0)
        if number == 0 or 1 not in element:
            above.append([_count(children, "columns"), repeated])
            if len(above) > _DEPTH:
                raise ValueError("its columns are nested too deeply")
        else:
            if children or element[1] not in _TYPES:
                raise ValueError(f"a column has type {element[1]} and {children} columns in it")
            length = _count(element.get(2, 0), "bytes of a value")
            yield _BYTES[element[1]] or length, repeated
        while above and above[-1][0] == 0 and number + 1 < len(schema):
            above.pop()
            if not above:
                raise ValueError("its schema has more columns than it announces")
    if any(left for left, _ in above):
        raise ValueError("its schema has fewer columns than it announces")


def _require_pages(data: mmap.mmap, about: Fields, values: int, end: int) -> None:
    """Raise unless the pages of a column are inside the file and hold its values."""
    start, length = about[9], _count(about[7], "bytes of a column")
    places = [place for place in (start, about.get(11, 0)) if place > 0]  # 0: there is none
    start = min(places, default=4)  # the page of the dictionary, if any, comes first
    stop = start + length
    if not 4 <= start <= stop <= end:
        raise ValueError(f"a column is from byte {start} to {stop}, outside of the data")
    packed, found, place = about.get(4, 0) != 0, 0, start
    while found < values:
        if place >= stop:
            raise ValueError(f"a column announces {values} values and holds {found}")
        try:
            page, place = _struct(data, place, _DEPTH)
        except IndexError:
            raise ValueError("the header of a page is cut off") from None
        size, held = _count(page[2], "bytes of a page"), _count(page[3], "bytes of a page")
        place += held
        if place > stop or size > (may_grow_to(held) if packed else held):
            raise ValueError(f"a page announces {held} bytes that are {size} unpacked")
        kind = page[1]
        if kind == _DICTIONARY:
            _require_at_most(size, _count(page[7][1], "words"), "words")
        elif kind in (_DATA, _DATA_V2):
            header = page[5 if kind == _DATA else 8]
            found += _count(header[1], "values of a page")
            if kind == _DATA_V2:
                levels = sum(_count(header.get(name, 0), "levels") for name in (5, 6))
                _require_at_most(min(size, held), levels, "bytes of levels")
                for name in (2, 3):
                    _require_at_most(header[1], _count(header[name], "values"), "values")
        elif kind != _INDEX:
            raise ValueError(f"a page is of the unknown type {kind}")
    if found != values:
        raise ValueError(f"a column announces {values} values and holds {found}")


def _require_at_most(most: int, found: int, what: str) -> None:
    if found > 8 * most:  # a value may be one bit
        raise ValueError(f"a page of {most} announces {found} {what}")


def _count(value: object, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"the number of {what} is {value}")
    return value


def _varint(data: bytes | mmap.mmap, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number has more than 64 bits")


def _integer(data: bytes | mmap.mmap, at: int, _: int) -> tuple[int, int]:
    value, at = _varint(data, at)
    return (value >> 1) ^ -(value & 1), at


def _binary(data: bytes | mmap.mmap, at: int, _: int) -> tuple[None, int]:
    size, at = _varint(data, at)
    return None, _skipped(data, at, size)


def _skipped(data: bytes | mmap.mmap, at: int, size: int) -> int:
    if at + size > len(data):
        raise ValueError("a value goes beyond the end")
    return at + size


def _list(data: bytes | mmap.mmap, at: int, depth: int) -> tuple[list[Any], int]:
    head, at = data[at], at + 1
    size, read = head >> 4, _READERS[head & 15]
    if size == 15:
        size, at = _varint(data, at)
    if size > len(data) - at:  # an element has a byte at least
        raise ValueError("a list goes beyond the end")
    found = []
    for _ in range(size):
        value, at = read(data, at, depth - 1)
        found.append(value)
    return found, at


def _map(data: bytes | mmap.mmap, at: int, depth: int) -> tuple[None, int]:
    size, at = _varint(data, at)
    if not size:
        return None, at
    kinds, at = data[at], at + 1
    if size > len(data) - at:
        raise ValueError("a map goes beyond the end")
    for _ in range(size):
        for kind in (kinds >> 4, kinds & 15):
            _, at = _READERS[kind](data, at, depth - 1)
    return None, at


def _struct(data: bytes | mmap.mmap, at: int, depth: int) -> tuple[Fields, int]:
    """Return the fields of a structure by number, and the place after it."""
    if depth <= 0:
        raise ValueError("its footer is nested too deeply")
    fields: Fields = {}
    number = 0
    while True:
        head = data[at]
        at += 1
        if not head:
            return fields, at
        kind, step = head & 15, head >> 4
        if step:
            number += step
        else:
            number, at = _integer(data, at, 0)
        if kind <= 2:
            fields[number] = kind == 1
        else:
            fields[number], at = _READERS[kind](data, at, depth - 1)


def _fixed(size: int) -> Callable[[bytes | mmap.mmap, int, int], tuple[None, int]]:
    return lambda data, at, _: (None, _skipped(data, at, size))


_READERS: dict[int, Callable[[bytes | mmap.mmap, int, int], tuple[Any, int]]] = {
    1: _fixed(1),
    2: _fixed(1),
    3: _fixed(1),
    4: _integer,
    5: _integer,
    6: _integer,
    7: _fixed(8),
    8: _binary,
    9: _list,
    10: _list,
    11: _map,
    12: _struct,
    13: _fixed(16),
}
