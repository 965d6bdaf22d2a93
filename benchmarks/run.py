"""``make bench``: every measurement of this folder, as JSON and as the table in README.md.

``python -m benchmarks.run pairs.growth metrics`` runs a part and keeps the other lines.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from datetime import date
from pathlib import Path
from typing import Any

import numpy
import torch
from benchmarks import (
    clicks,
    compiled,
    detection,
    embedding_losses,
    hard_labels,
    imports,
    killed_worker,
    larger,
    many_lists,
    metrics,
    metrics_at_size,
    objectives,
    own_objective,
    pairs,
    papk,
    processes,
    ranking_cost,
    recommendation,
    recommendation_scale,
    retrieval,
    scale,
    serving,
    small_batches,
    text_step,
    thresholds,
    top,
    trackers,
    twins,
)
from benchmarks.page import write_between, write_safely

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results.json"
GROUPS = {
    f"{module.__name__.split('.')[-1]}.{measurement.__name__}": measurement
    for module in (
        pairs,
        compiled,
        many_lists,
        metrics,
        metrics_at_size,
        scale,
        objectives,
        small_batches,
        twins,
        retrieval,
        top,
        papk,
        ranking_cost,
        recommendation,
        recommendation_scale,
        detection,
        processes,
        killed_worker,
        larger,
        imports,
        thresholds,
        own_objective,
        clicks,
        text_step,
        embedding_losses,
        hard_labels,
        serving,
        trackers,
    )
    for measurement in module.ALL
}


def main(wanted: list[str]) -> int:
    chosen = [
        g for g in GROUPS if not wanted or any(g == w or g.startswith(w + ".") for w in wanted)
    ]
    if not chosen:
        print(f"no such benchmark: {' '.join(wanted)}; there are {', '.join(GROUPS)}")
        return 2
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"machines": {}, "groups": {}}
    machines, kept = known["machines"], known["groups"]
    for group in chosen:
        print(f"{group} ...", flush=True)
        machines[group], kept[group] = _machine(), []
        for result in GROUPS[group]():
            print("  ", _line(result.as_dict()), flush=True)
            kept[group].append(result.as_dict())
    groups = {group: kept[group] for group in GROUPS if group in kept}
    # A group keeps the day and the versions it was measured with when others are run again.
    machines = {group: machines[group] for group in groups}
    write_safely(RESULTS, json.dumps({"machines": machines, "groups": groups}, indent=1) + "\n")
    write_between("results", _tables(machines, groups))
    broken = [row["name"] for rows in groups.values() for row in rows if row["holds"] is False]
    for name in broken:
        print(f"over its limit: {name}")
    return 1 if broken else 0


def _machine() -> dict[str, Any]:
    return {
        "date": date.today().isoformat(),
        "cores": os.cpu_count(),
        "processor": f"{platform.machine()}, {_vectors()}",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": numpy.__version__,
    }


def _vectors() -> str:
    """Return the widest vector instructions numpy uses: the time of ``np.sort`` hangs on them."""
    found: list[str] = numpy.show_config(mode="dicts")["SIMD Extensions"]["found"]
    return found[-1] if found else "no vector instructions"


def _line(row: dict[str, Any]) -> str:
    limit = (
        f"  (limit {row['limit']}{'' if row['holds'] else ': NOT KEPT'})" if row["limit"] else ""
    )
    return f"{row['name']}: {row['value']:.3g} {row['unit']}{limit}"


def _tables(machines: dict[str, dict[str, Any]], groups: dict[str, list[dict[str, Any]]]) -> str:
    lines: list[str] = []
    for group, rows in groups.items():
        machine = machines[group]
        lines += ["", f"`python -m benchmarks.run {group}`", ""]
        lines += [
            f"{machine['date']}, {machine['cores']} cores ({machine['processor']}), Python "
            f"{machine['python']}, torch {machine['torch']}, numpy {machine['numpy']}.",
            "",
        ]
        lines += ["| what | measured | limit |", "|---|---|---|"]
        for row in rows:
            kept = "" if row["holds"] is not False else " **not kept**"
            measured = f"{row['value']:.3g} {row['unit']}"
            lines.append(f"| {row['name']} | {measured} | {row['limit']}{kept} |")
    return "\n".join(lines[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
