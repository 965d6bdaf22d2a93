"""``python -m benchmarks.tabular DIR linear|boosted|folds|neural ap|opauc [--sets A …]``.

DIR is the folder of the shared data sets (it is not part of this repository). Every loss gets the
same splits, 60:20:20 within each class, the same model and the same number of trees or epochs, and
stops by the metric of the validation part. Results go to ``MODEL_METRIC.json`` fit by fit; what is
there is not measured again unless it is named after ``--again``. ``--print`` only shows the table.
``--choose`` evaluates on rows other than the test rows: the other 80 % are split 60:20:20 again.
``--losses B …`` measures some losses only.

How the form of BoostedRanker was chosen: on such rows, AP less that of log-loss on thyroid,
waveform and pendigits (5 seeds), mammography and aloi (3), campaign (1), where there are as many
numbers. AP from the first tree −.005, +.054, −.002, +.025, +.006, −.010; 30 % of −log precision in
the gradient of log-loss and then AP +.003, +.034, −.003, −.002, −.005; AP after the best log-loss
+.001, +.029, .000; half AP, half log-loss in every tree −.006, +.048, −.005; steps of .05 −.004,
+.062, −.002; leaves of 5 rows −.001, +.001, −.017; the mean of the trees of log-loss and of AP
.000, +.040, .000, +.017, +.028, +.002. The last is the default: below log-loss on none of the six.
(Test values of the first two forms on thyroid, mammography and pendigits had been seen by then.)
The mean of two log-losses, one of them with 80 % of the rows for each tree, was as good: +.007,
+.063, −.002, +.004, +.026, +.002. Of partial AUC, waveform (3) and mammography (2 seeds):
squared hinge from the first tree −.160, −.007, as 30 % of log-loss −.086, +.029; logistic −.009,
−.012; the mean of that and log-loss +.011, +.011.
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
from benchmarks.tabular import boosted, folds, linear, neural
from benchmarks.tabular.fits import Fit
from benchmarks.tabular.sets import SETS, inner, load
from benchmarks.tabular.table import table

from rankwise.estimators.names import metric_value

METRICS = {"ap": "ap", "opauc": "opauc(max_fpr=.05)"}
LOSSES: dict[tuple[str, str], dict[str, Fit]] = {
    ("linear", "ap"): linear.AP,
    ("linear", "opauc"): linear.PARTIAL,
    ("boosted", "ap"): boosted.AP,
    ("boosted", "opauc"): boosted.PARTIAL,
    ("folds", "ap"): folds.AP,
    ("neural", "ap"): neural.AP,
    ("neural", "opauc"): neural.PARTIAL,
}


def measure(asked: argparse.Namespace, losses: dict[str, Fit], out: Path) -> Any:
    known = json.loads(out.read_text()) if out.exists() else {"sizes": {}, "values": {}}
    metric = METRICS[asked.metric]
    for name in asked.sets or SETS:
        values: dict[str, list[float]] = known["values"].setdefault(name, {})
        wanted = asked.losses or list(losses)
        for loss in wanted:
            values[loss] = [] if loss in asked.again else values.get(loss, [])
        begin = time.process_time()
        for seed in range(asked.seeds):
            missing = [loss for loss in wanted if len(values[loss]) == seed]
            if not missing:
                continue
            parts = load(asked.folder, name, seed)
            targets = np.concatenate([part.target for part in parts])
            known["sizes"][name] = [len(targets), float(targets.mean())]
            parts = inner(parts, seed) if asked.choose else parts
            for loss in missing:
                scores = losses[loss](parts, metric, seed)
                values[loss].append(metric_value(metric, scores, parts[2]))
                write_safely(out, json.dumps(known, indent=1) + "\n")
        for loss in wanted:
            print(f"{name:16s} {loss:44s} {np.mean(values[loss]):.4f}", flush=True)
        print(f"{name:16s} {time.process_time() - begin:.0f} s", flush=True)
    return known


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.tabular", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("model", choices=["linear", "boosted", "folds", "neural"])
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
    if (asked.model, asked.metric) not in LOSSES:
        parser.error(f"{asked.model} is measured by ap only, got {asked.metric}")
    losses = LOSSES[asked.model, asked.metric]
    if asked.choose and asked.model == "folds":
        losses = folds.TRIALS
    ending = "_choice.json" if asked.choose else ".json"
    out = Path(__file__).parent / f"{asked.model}_{asked.metric}{ending}"
    known = json.loads(out.read_text()) if asked.only else measure(asked, losses, out)
    values = known["values"]
    whole = {
        name: {loss: many for loss, many in found.items() if len(many) >= asked.seeds}
        for name, found in values.items()
    }
    every = {name: whole[name] for name in SETS if losses.keys() <= whole.get(name, {}).keys()}
    ordered = {name: {loss: found[loss] for loss in losses} for name, found in every.items()}
    missing = [name for name in SETS if name not in ordered]
    print(f"not measured whole: {', '.join(missing) or 'none'}\n")
    if ordered:
        print(table(ordered, known["sizes"], METRICS[asked.metric]))


if __name__ == "__main__":
    main()
