"""What the checks of files cost next to reading them: ``python -m tests.fuzz.costs``."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import lightgbm
import numpy as np
import polars as pl
from scipy.io import savemat

from rankwise._parquet import require_parquet
from rankwise.data.images._matlab import read_matlab
from rankwise.serving.trees.lightgbm_text import checked_trees

_ROWS, _COLUMNS = 2_000_000, 20
_TREES, _LEAVES = 300, 255


def seconds(function: Callable[[], object]) -> float:
    """Return the least time of three calls."""
    times = []
    for _ in range(3):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> None:
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "a.parquet")
        frame = pl.DataFrame({f"c{i}": rng.normal(size=_ROWS) for i in range(_COLUMNS)})
        frame.write_parquet(path)
        size = path.stat().st_size / 1e6
        check, read = seconds(lambda: require_parquet(path)), seconds(lambda: pl.read_parquet(path))
        print(
            f"parquet of {_ROWS:,} × {_COLUMNS} ({size:.0f} MB): {check:.3f} s, read {read:.2f} s"
        )
        x = rng.normal(size=(5000, 6))
        labels = (x[:, 0] * x[:, 1] > 0).astype(float)
        options = {"num_leaves": _LEAVES, "min_data_in_leaf": 5, "verbosity": -1, "num_threads": 1}
        text = lightgbm.train(
            {**options, "objective": "binary"}, lightgbm.Dataset(x, labels), _TREES
        ).model_to_string()
        check = seconds(lambda: checked_trees(text))
        load = seconds(lambda: lightgbm.Booster(model_str=text))
        size = len(text) / 1e6
        print(
            f"{_TREES} trees of {_LEAVES} leaves ({size:.1f} MB): {check:.2f} s, load {load:.2f} s"
        )
        savemat(path, {"names": np.array(["a", "b"], object)})
        print(f"MATLAB: {seconds(lambda: read_matlab(path, 'names')):.2f} s")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
