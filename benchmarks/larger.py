"""Files larger than memory: LETOR text, and estimators that are fitted from parquet.

``python -m benchmarks.larger 10000000 neural 2`` fits one estimator (linear, neural, lightgbm or
xgboost) with two steps, epochs or trees to a table of that number of rows × 30 and prints what it
took. The files are written into the folder of temporary files (``TMPDIR``) and deleted at the end.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
from benchmarks.memory import peak_bytes, peak_bytes_of
from benchmarks.timing import Result, measure_in_fresh_process

DOCUMENTS, FEATURES, COPIES = 40_000, 136, 24  # 960 000 documents, as in three folds of MSLR-WEB
ROWS, COLUMNS, RATE = 50_000_000, 30, 0.02
PART = 1_000_000  # rows of a parquet file
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "linear": ("LinearRanker", {}),
    "neural": ("NeuralRanker", {"epochs": 2, "warm_start_epochs": 1, "batch_size": 8192}),
    "lightgbm": ("BoostedRanker", {"n_estimators": 10}),
    "xgboost": ("BoostedRanker", {"n_estimators": 10, "engine": "xgboost"}),
}
LENGTH = {"linear": "max_iter", "neural": "epochs"}  # the option that iterations are; else trees


def letor_text() -> bytes:
    """Lines as those of MSLR-WEB: small whole numbers and decimals, a blank at the end."""
    rng = np.random.default_rng(0)
    forms = ["{:.0f}", "{:.0f}", "{:.0f}", "{:.6f}", "{:.6g}"]
    pattern = " ".join(f"{n + 1}:{forms[n % 5]}" for n in range(FEATURES))
    lines = [
        f"{n % 5} qid:{n // 120} {pattern.format(*(50 * rng.random(FEATURES)))} \n"
        for n in range(DOCUMENTS)
    ]
    return "".join(lines).encode()


def write_letor(path: Path, copies: int) -> None:
    """Write the lines several times, as other queries."""
    text = letor_text()
    with path.open("wb") as file:
        for copy in range(copies):
            file.write(text.replace(b"qid:", b"qid:%d" % (10 + copy)))


def read(path: str, cache: str) -> dict[str, float]:
    """Read a file without a cache and with one, in this process, which should do nothing else."""
    from rankwise.data.letor import read_letor  # noqa: PLC0415  (the parent needs none of this)

    found: dict[str, float] = {}

    def parse() -> None:
        found["parse"] = _cpu(lambda: read_letor(path))

    found["bytes"] = peak_bytes_of(parse) / (DOCUMENTS * COPIES)
    read_letor(path, cache=cache)
    found["cached"] = _cpu(lambda: read_letor(path, cache=cache))
    return found


def careful(path: Path) -> float:
    """CPU time of the reader that goes line by line, which was the only one before."""
    from rankwise.data.letor import read_letor  # noqa: PLC0415

    with patch("rankwise.data.letor._letor.parse", return_value=None):
        return _cpu(lambda: read_letor(path))


def plain(path: Path) -> float:
    """CPU time of the parser without numba."""
    from rankwise.data.letor import read_letor  # noqa: PLC0415

    with patch("rankwise.data.letor._parse.is_available", return_value=False):
        return _cpu(lambda: read_letor(path))


def letor() -> Iterator[Result]:
    """960 000 documents of 136 features, against the reader by lines on a part of them."""
    with TemporaryDirectory() as folder:
        part, whole = Path(folder, "part.txt"), Path(folder, "whole.txt")
        write_letor(part, 1)
        write_letor(whole, COPIES)
        before, polars = (min(call(part) for _ in range(2)) * COPIES for call in (careful, plain))
        found = measure_in_fresh_process("benchmarks.larger", "read", str(whole), folder)
    what = f"LETOR file of {DOCUMENTS * COPIES:,} documents × {FEATURES}"
    detail = {"by lines": before, "without numba": polars, **found}
    yield Result(f"{what}, parser against the reader by lines", before / found["parse"],
                 "× faster", ">= 8", detail)  # fmt: skip
    yield Result(f"{what}, parser without numba against the reader by lines", before / polars,
                 "× faster", ">= 2.5", detail)  # fmt: skip
    yield Result(f"{what}, cache against the reader by lines", before / found["cached"],
                 "× faster", ">= 100", detail)  # fmt: skip
    yield Result(f"{what}, peak memory of the parser", found["bytes"], "bytes a document",
                 "<= 1200", detail)  # fmt: skip


def write_table(folder: Path, rows: int) -> None:
    """Write a table of float32 in several files, without ever holding more than one of them."""
    import polars as pl  # noqa: PLC0415

    for number, start in enumerate(range(0, rows, PART)):
        rng, count = np.random.default_rng(number), min(PART, rows - start)
        x = rng.standard_normal((count, COLUMNS), dtype=np.float32)
        z = x[:, 0] + x[:, 1] * x[:, 2] + 0.5 * x[:, 3:8].sum(axis=1) + rng.normal(size=count)
        columns = {f"x{n}": x[:, n] for n in range(COLUMNS)}
        frame = pl.DataFrame({**columns, "y": (z > np.quantile(z, 1 - RATE)).astype(np.int8)})
        frame.write_parquet(folder / f"{number:04}.parquet", compression="lz4")


def fit(folder: str, model: str, iterations: int = 0) -> dict[str, float]:
    """Fit in this process, which should do nothing else."""
    import polars as pl  # noqa: PLC0415

    from rankwise import estimators  # noqa: PLC0415

    name, options = MODELS[model]
    if iterations:
        options = {**options, LENGTH.get(model, "n_estimators"): iterations}
    make = getattr(estimators, name)
    with TemporaryDirectory() as small:  # what libraries load on first use is not the fit's
        write_table(Path(small), 20_000)
        make("ap", random_state=0, **options).fit_parquet(small, "y")
    ranker, wall = make("ap", random_state=0, **options), time.perf_counter()
    found: dict[str, float] = {}

    def learn() -> None:
        found["cpu"] = _cpu(lambda: ranker.fit_parquet(folder, "y", folder=folder))

    found["beyond"] = peak_bytes_of(learn)
    found["wall"] = time.perf_counter() - wall
    found["peak"] = peak_bytes()
    sample = pl.read_parquet(Path(folder) / "0000.parquet", n_rows=200_000)
    found["ap"] = ranker.score(sample.drop("y"), sample["y"].to_numpy())
    return found


def parquet() -> Iterator[Result]:
    """Peak memory of fits to a table of 5·10⁷ rows, two searches or trees each."""
    with TemporaryDirectory() as folder:
        write_table(Path(folder), ROWS)
        for model in ("linear", "xgboost"):
            found = measure_in_fresh_process("benchmarks.larger", "fit", folder, model, "2")
            what = f'{MODELS[model][0]}("ap").fit_parquet ({model}), {ROWS:,} × {COLUMNS}'
            yield Result(f"{what}, peak memory", found["peak"] / 1e9, "GB", "<= 8", found)
            yield Result(f"{what}, processor time", found["cpu"], "s", detail=found)


ALL = [letor, parquet]


def _cpu(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def main(arguments: list[str]) -> None:
    if arguments[0] == "read":
        print(json.dumps(read(*arguments[1:])))
    elif arguments[0] == "fit":
        print(json.dumps(fit(arguments[1], arguments[2], *map(int, arguments[3:]))))
    else:
        with TemporaryDirectory() as folder:
            write_table(Path(folder), int(arguments[0]))
            print(measure_in_fresh_process("benchmarks.larger", "fit", folder, *arguments[1:]))


if __name__ == "__main__":
    main(sys.argv[1:])
