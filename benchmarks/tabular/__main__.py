"""``python -m benchmarks.tabular DIR boosted|neural ap|opauc [--sets A …] [--losses B …]``.

DIR is the folder of the shared data sets (it is not part of this repository). Every loss gets the
same splits, 60:20:20 within each class, the same model and the same number of trees or epochs, and
stops by the metric of the validation part. Results go to ``MODEL_METRIC.json`` set by set; what is
there is not measured again unless it is named after ``--again``. ``--choose``
judges on rows that are no test rows: the 80 % others are parted 60:20:20 again. ``--print`` only
shows the table.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from benchmarks.page import write_safely
from benchmarks.tabular import boosted, neural
from benchmarks.tabular.fits import Fit
from benchmarks.tabular.sets import SETS, inner, load
from benchmarks.tabular.table import table

from rankwise.estimators.names import value

METRICS = {"ap": "ap", "opauc": "opauc(max_fpr=.05)"}
LOSSES: dict[tuple[str, str], dict[str, Fit]] = {
    ("boosted", "ap"): boosted.AP,
    ("boosted", "opauc"): boosted.PARTIAL,
    ("neural", "ap"): neural.AP,
    ("neural", "opauc"): neural.PARTIAL,
}


def measure(asked: argparse.Namespace, losses: dict[str, Fit], out: Path) -> Any:
    known = json.loads(out.read_text()) if out.exists() else {"sizes": {}, "values": {}}
    metric = METRICS[asked.metric]
    for name in asked.sets or SETS:
        before = known["values"].get(name, {})
        wanted = asked.losses or list(losses)
        missing = [loss for loss in wanted if loss not in before or loss in asked.again]
        found: dict[str, list[float]] = {loss: [] for loss in missing}
        begin = time.process_time()
        for seed in range(asked.seeds if missing else 0):
            parts = load(asked.folder, name, seed)
            targets = np.concatenate([part.target for part in parts])
            known["sizes"][name] = [len(targets), float(targets.mean())]
            parts = inner(parts, seed) if asked.choose else parts
            for loss in missing:
                found[loss].append(value(metric, losses[loss](parts, metric, seed), parts[2]))
        known["values"][name] = {**before, **found}
        write_safely(out, json.dumps(known, indent=1) + "\n")
        for loss, values in found.items():
            print(f"{name:16s} {loss:44s} {np.mean(values):.4f}", flush=True)
        print(f"{name:16s} {time.process_time() - begin:.0f} s", flush=True)
    return known


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.tabular", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("model", choices=["boosted", "neural"])
    parser.add_argument("metric", choices=list(METRICS))
    parser.add_argument("--sets", nargs="+", choices=SETS)
    parser.add_argument("--losses", nargs="+")
    parser.add_argument("--again", nargs="+", default=[])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--choose", action="store_true")
    parser.add_argument("--print", action="store_true", dest="only")
    asked = parser.parse_args()
    if not (asked.folder / "tabular").is_dir():
        parser.error(f"{asked.folder} must hold the folder tabular")
    torch.set_num_threads(1)
    losses = LOSSES[asked.model, asked.metric]
    ending = "_choice.json" if asked.choose else ".json"
    out = Path(__file__).parent / f"{asked.model}_{asked.metric}{ending}"
    known = json.loads(out.read_text()) if asked.only else measure(asked, losses, out)
    values = known["values"]
    ordered = {s: {k: values[s][k] for k in losses if k in values[s]} for s in SETS if s in values}
    print(table(ordered, known["sizes"], METRICS[asked.metric]))


if __name__ == "__main__":
    main()
