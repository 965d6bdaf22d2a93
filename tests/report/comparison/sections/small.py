"""Runs of ten rows that can be checked by hand, and sections read as trees."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from rankwise.report.comparison.run import Candidate, Estimate, Predictions, Run
from rankwise.report.elements import Child, join

NAMES = ("log-loss", "ap")  # the baseline and the recommended
TARGET = (1, 0, 1, 0, 0, 0, 0, 0, 0, 0)
SCORES = {
    0: (8, 9, 5, 7, 6, 4, 3, 2, 1, 0),  # the positives are second and fifth
    1: (9, 8, 7, 6, 5, 4, 3, 2, 1, 0),  # first and third
}


def candidate(number: int, name: str, **known: Any) -> Candidate:
    """A candidate of which nothing is known but this."""
    nothing: dict[str, Any] = {
        "baseline": False,
        "validation": Estimate(nan, nan, nan),
        "test": Estimate(nan, nan, nan),
        "difference": None,
        "seconds": nan,
        "trials": None,
        "params": {},
        "curve": (),
    }
    return Candidate(number=number, name=name, **{**nothing, **known})


def pair(**known: Any) -> tuple[Candidate, Candidate]:
    """The baseline, and a candidate of which this is known."""
    return candidate(0, NAMES[0], baseline=True), candidate(1, NAMES[1], **known)


def predictions(
    target: Sequence[float] = TARGET,
    scores: Mapping[int, Sequence[float]] = SCORES,
    *,
    probabilities: Mapping[int, Sequence[float]] | None = None,
    weight: Sequence[float] | None = None,
    group: Sequence[int] | None = None,
) -> Predictions:
    """Plain numbers as the arrays of a run."""
    return Predictions(
        np.array(target, dtype=np.float64),
        np.ones(len(target)) if weight is None else np.array(weight, dtype=np.float64),
        None if group is None else np.array(group, dtype=np.int64),
        {number: np.array(each, dtype=np.float64) for number, each in scores.items()},
        {n: np.array(each, dtype=np.float64) for n, each in (probabilities or {}).items()},
    )


def small_run(
    candidates: tuple[Candidate, ...] | None = None,
    given: Predictions | None = None,
    *,
    recommended: int = 1,
    **known: Any,
) -> Run:
    """A run by average precision in which the second candidate is recommended."""
    candidates = pair() if candidates is None else candidates
    nothing: dict[str, Any] = {
        "folder": Path("a-run"),
        "metric": "ap",
        "data": {},
        "why": "",
        "choice": "",
        "left_out": {},
        "other_metrics": {},
        "config": {},
    }
    return Run(
        candidates=candidates,
        recommended=candidates[recommended],
        predictions=predictions() if given is None else given,
        **{**nothing, **known},
    )


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.made = ET.TreeBuilder()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.made.start(tag, {name: value or "" for name, value in attrs})
        if tag == "input":  # it has no end
            self.made.end(tag)

    def handle_endtag(self, tag: str) -> None:
        self.made.end(tag)

    def handle_data(self, data: str) -> None:
        self.made.data(data)


def tree_of(body: Child) -> ET.Element:
    """Markup as a browser reads it."""
    reader = _Reader()
    reader.feed(f"<body>{join(body)}</body>")
    reader.close()
    return reader.made.close()


def text_of(element: ET.Element | None) -> str:
    """All text inside an element."""
    assert element is not None
    return "".join(element.itertext())


def rows_of(table: ET.Element | None) -> list[list[str]]:
    """The cells of a table's body, row by row."""
    assert table is not None
    return [[text_of(cell) for cell in row] for row in table.findall("./tbody/tr")]
