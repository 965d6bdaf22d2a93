"""What is measured in benchmarks/results.json, drawn."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from docs.figures.frame import COLORS, INK, ORANGE, TEAL, figure, label, panels

_RESULTS = Path(__file__).parents[2] / "benchmarks" / "results.json"


def _group(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(_RESULTS.read_text())["groups"][name]
    return found


@figure("growth")
def growth() -> Figure:
    canvas, axes = panels(height=3.2)
    for row, color in zip(_group("pairs.growth"), COLORS, strict=False):
        detail = row["detail"]
        axes.loglog(detail["scores"], detail["ms"], "o-", color=color, label=_short(row["name"]))
    for row, marker in zip(_group("pairs.dense"), "sD", strict=False):
        share = re.search(r"\d+%", row["name"])
        axes.loglog(
            row["detail"]["scores"],
            row["detail"]["matrix_ms"],
            marker,
            color=INK,
            label=f"n⁺ × n⁻ matrix, {share[0] if share else ''} positive",
        )
    n = np.array([1e4, 1e7])
    first = _group("pairs.growth")[0]["detail"]["ms"][0]
    axes.loglog(n, first * n / 1e4 * np.log(n) / np.log(1e4), ":", color=INK, label="n log n")
    axes.minorticks_off()
    axes.legend(loc="lower right")
    label(axes, "scores in the list", "milliseconds, forward and backward")
    return canvas


@figure("scale")
def scale() -> Figure:
    """Time in sorts of the same scores, and in nanoseconds a score, as the list grows."""
    canvas, (ratio, each) = panels(2, height=3.4)
    rows = _group("scale.growth")
    n = np.array(rows[0]["detail"]["scores"])
    sort = np.array(rows[0]["detail"]["np_sort_ms"])
    for row, color in zip(rows, COLORS, strict=False):
        ms = np.array(row["detail"]["ms"])
        ratio.loglog(n, ms / sort, "o-", color=color)
        each.loglog(n, 1e6 * ms / n, "o-", color=color, label=row["name"].partition(",")[0])
    each.loglog(n, 1e6 * sort / n, "--", color=INK, label="np.sort")
    ratio.axhline(1, color=INK, linewidth=0.8, linestyle="--")
    for axes in (ratio, each):
        axes.minorticks_off()
    ratio.set_yticks([0.5, 1, 2, 5, 10, 20, 50], ["0.5", "1", "2", "5", "10", "20", "50"])
    each.set_yticks([10, 30, 100, 300, 1000], ["10", "30", "100", "300", "1 000"])
    each.legend(loc="best", fontsize=7.5)
    label(ratio, "scores in the list", "time / time of np.sort")
    label(each, "scores in the list", "nanoseconds a score")
    return canvas


def _short(name: str) -> str:
    return name.partition("(")[0]


@figure("against-libauc")
def against_libauc() -> Figure:
    """Time of LibAUC's loss divided by that of its counterpart, as the list grows."""
    found: dict[str, dict[int, float]] = {}
    for row in _group("twins.libauc"):
        parts = re.match(r"(.*), (\d+) items, against LibAUC's (\w+).*: time$", row["name"])
        if parts:
            found.setdefault(f"{parts[1]} / {parts[3]}", {})[int(parts[2])] = row["value"]
    shown = (
        "PairwiseAUC / PairwiseAUCLoss",
        "SOAP / APLoss",
        "NDCG / NDCGLoss",
        "PartialAUC, kl / pAUC_DRO_Loss",
        "CompositionalAUC / CompositionalAUCLoss",
    )
    canvas, axes = panels(height=3.2)
    for name, color in zip(shown, COLORS, strict=True):
        axes.loglog(list(found[name]), list(found[name].values()), "o-", color=color, label=name)
    axes.axhline(1, color=INK, linewidth=0.8, linestyle="--")
    axes.set_xticks([512, 4096, 16384], ["512", "4 096", "16 384"])
    axes.minorticks_off()
    axes.legend(loc="upper left")
    label(axes, "items in the batch", "LibAUC's time / rankwise's time")
    return canvas


@figure("memory-of-a-step")
def memory_of_a_step() -> Figure:
    """Peak memory of a step in megabytes: both sides of every comparison of memory."""
    bars: dict[str, float] = {}
    for row in _group("objectives.peers"):
        ours, size, theirs = re.findall(r"^(\w+), (.*), against (?:.*'s) (\w+):", row["name"])[0]
        size = size.replace("one list of 20 000 scores", "20 000 scores")
        bars[f"{theirs}, {size}"] = row["detail"]["theirs"]["peak"] / 1e6
        bars[f"{ours}, {size}"] = row["detail"]["ours"]["peak"] / 1e6
    names = list(bars)[::-1]
    canvas, axes = panels(height=3.2)
    colors = [ORANGE if "Loss" in name else TEAL for name in names]
    axes.barh(names, [bars[name] for name in names], color=colors)
    axes.set_xscale("log")
    axes.minorticks_off()
    label(axes, "peak memory of a step in MB (logarithmic)")
    return canvas


@figure("boosting-round")
def boosting_round() -> Figure:
    rows = [
        row for group in ("ranking_cost.lightgbm", "ranking_cost.xgboost") for row in _group(group)
    ]
    canvas, axes = panels(height=3.6)
    names = []
    for i, row in enumerate(reversed(rows)):
        parts = re.match(r"a round of (\S+), lists of (\S+) documents, against (.*)", row["name"])
        assert parts is not None
        names.append(f"{parts[1]}, {parts[2]}: {parts[3].replace(' (default)', '')}")
        axes.barh(i, row["value"], left=0, color=TEAL if row["value"] > 1 else ORANGE)
    axes.set_xscale("log")
    axes.axvline(1, color=INK, linewidth=1)
    axes.set_yticks(range(len(names)), names, fontsize=6.5)
    axes.minorticks_off()
    label(axes, "their time of a round / rankwise's time")
    return canvas
