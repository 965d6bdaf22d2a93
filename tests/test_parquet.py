"""The structure of parquet files, which polars would trust."""

from __future__ import annotations

import io
from contextlib import suppress
from random import Random

import polars as pl
import pytest

from rankwise._parquet import require_parquet
from rankwise.data import DataError
from rankwise.limits import FREE_GROWTH

FRAME = pl.DataFrame(
    {
        "x": [1.5, None, 3.0] * 40,
        "words": ["a", "b", "cc"] * 40,
        "lists": [[1, 2], [], None] * 40,
        "nested": [{"a": [{"b": 1}]}, {"a": []}, {"a": None}] * 40,
        "flag": [True, False, None] * 40,
    }
)


def written(frame=FRAME, **options):
    file = io.BytesIO()
    frame.write_parquet(file, **options)
    return file.getvalue()


def put(tmp_path, content):
    path = tmp_path / "a.parquet"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("compression", ["uncompressed", "snappy", "gzip", "zstd", "lz4", "brotli"])
@pytest.mark.parametrize("rows", [None, 7])
def test_what_polars_writes_passes(tmp_path, compression, rows):
    content = written(compression=compression, row_group_size=rows, data_page_size=64)
    require_parquet(put(tmp_path, content))


@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_what_arrow_writes_passes(tmp_path, version, dictionary):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    options = {"data_page_version": version, "use_dictionary": dictionary, "data_page_size": 64}
    parquet.write_table(FRAME.to_arrow(), path, row_group_size=50, **options)
    require_parquet(path)
    parquet.write_table(FRAME.to_arrow().slice(0, 0), path, **options)
    require_parquet(path)


def test_a_file_without_rows_and_one_without_columns_pass(tmp_path):
    require_parquet(put(tmp_path, written(FRAME.clear())))
    require_parquet(put(tmp_path, written(pl.DataFrame())))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c[:8], "8 bytes, less than the least"),
        (lambda c: c[: len(c) // 2], "does not begin and end with PAR1"),
        (lambda c: b"x,y\n1,2\n3,4\n", "does not begin and end with PAR1"),
        (lambda c: c[:-8] + b"\xff\xff\xff\x7fPAR1", "its footer is longer than the file"),
        (lambda c: b"PAR1" + c[-200:], "footer|beyond|number|outside"),
    ],
)
def test_what_is_cut_off_is_refused(tmp_path, change, message):
    with pytest.raises(DataError, match=f"a.parquet: cannot be read as parquet: .*({message})"):
        require_parquet(put(tmp_path, change(written())), DataError)


def test_a_page_that_announces_more_values_than_there_are_is_refused(tmp_path):
    """Polars takes memory for what the header of a page says, and the process ends."""
    content = bytearray(written(pl.DataFrame({"x": [1, 2, 3]}), compression="uncompressed"))
    # Field 5 of the header of a page of data is a structure, whose first field is an i32: 3.
    place = content.index(b"\x2c\x15\x06")
    content[place + 2] = 0x05  # −3
    with pytest.raises(DataError, match="number of values of a page is -3"):
        require_parquet(put(tmp_path, bytes(content)), DataError)


def test_few_bytes_that_are_many_values_are_refused_unless_they_are_read_in_batches(tmp_path):
    rows = FREE_GROWTH // 8 + 1
    frame = pl.select(x=pl.repeat(7, rows, dtype=pl.Int64))
    path = tmp_path / "a.parquet"
    frame.write_parquet(path, compression="zstd")
    assert path.stat().st_size < 1 << 20
    with pytest.raises(DataError, match=r"would take 268,435,\d+ in memory, at most 268,435,456"):
        require_parquet(path, DataError)
    require_parquet(path, in_memory=False)


def test_nothing_but_one_error_comes_out_of_damaged_bytes(tmp_path):
    content, random = written(row_group_size=30), Random(0)
    path = tmp_path / "a.parquet"
    for _ in range(300):
        changed = bytearray(content)
        for _ in range(3):
            changed[random.randrange(len(changed) - 700, len(changed))] = random.randrange(256)
        path.write_bytes(changed)
        with suppress(DataError):
            require_parquet(path, DataError)
