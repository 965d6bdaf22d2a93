"""What a fuzzed reader is: valid files that it makes itself, and a call that reads one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rankwise.files import write_npz
from rankwise.seals import sealed_json


@dataclass(frozen=True)
class Target:
    """A reader: valid contents of the file ``name``, and a call with the folder it is in.

    ``around`` are the other files of the folder.
    """

    name: str
    seeds: Callable[[Path], list[bytes]]
    read: Callable[[Path], object]
    around: Callable[[Path], None] = lambda folder: None
    slow: bool = False  # it starts a process, or opens a database


def text_seeds(*texts: str) -> Callable[[Path], list[bytes]]:
    return lambda folder: [text.encode() for text in texts]


def json_seeds(value: object) -> Callable[[Path], list[bytes]]:
    return lambda folder: [json.dumps(value).encode()]


def sealed_json_seeds(value: Mapping[str, object]) -> Callable[[Path], list[bytes]]:
    return lambda folder: [sealed_json(value)]


def npz_seeds(**values: np.ndarray) -> Callable[[Path], list[bytes]]:
    return lambda folder: [write_npz(folder / "seed.npz", values).read_bytes()]
