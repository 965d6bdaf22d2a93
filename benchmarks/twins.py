"""Each objective against its twin of LibAUC 2.0.1: time and memory of a step, as ratios."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.objectives import PEERS
from benchmarks.timing import Result, measure_in_fresh_process

SOURCE = Path(__file__).parent.parent / "src"
SIZES, BATCH = (512, 4096, 16384), 4096
FASTER, NEVER_SLOWER = ">= 10", ">= 1"

# Our objective and its twin; of those that couple pairs ten times the speed is asked at 4 096.
TWINS = {
    "PairwiseAUC": ("PairwiseAUCLoss", FASTER),
    "SOAP": ("APLoss", FASTER),
    "SOPRC": ("APLoss", FASTER),
    "PartialAUC, cvar": ("pAUC_CVaR_Loss", FASTER),
    "PartialAUC, kl": ("pAUC_DRO_Loss", FASTER),
    "PartialAUC, kl, squared hinge": ("pAUC_DRO_Loss", FASTER),
    "PartialAUC, kl, square": ("pAUC_DRO_Loss, squared", FASTER),
    "PartialAUC, kl, logistic": ("pAUC_DRO_Loss, logistic", FASTER),
    "TwoWayPartialAUC, kl": ("tpAUC_KL_Loss", FASTER),
    "TwoWayPartialAUC, kl, squared hinge": ("tpAUC_KL_Loss", FASTER),
    "TwoWayPartialAUC, kl, square": ("tpAUC_KL_Loss, squared", FASTER),
    "TwoWayPartialAUC, kl, logistic": ("tpAUC_KL_Loss, logistic", FASTER),
    "OneVsRest(SOAP), 10 classes": ("mAPLoss", FASTER),
    "NDCG": ("NDCGLoss", FASTER),
    "ListNet": ("ListwiseCELoss", NEVER_SLOWER),
    "MinMaxAUC": ("AUCMLoss", NEVER_SLOWER),
    "CompositionalAUC": ("CompositionalAUCLoss", NEVER_SLOWER),
    "OneVsRest(MinMaxAUC), 10 classes": ("MultiLabelAUCMLoss", NEVER_SLOWER),
    "GlobalContrastive, two views": ("GCLoss, unimodal", NEVER_SLOWER),
    "GlobalContrastive, two modalities": ("GCLoss, bimodal", NEVER_SLOWER),
    "LearnedTemperature, two modalities": ("GCLoss, bimodal", ""),
    "EntropicRisk, 64 sampled classes": ("EntLossClassification", ""),
    "MinMaxAUC of SmoothMaxPooling": ("MIDAMLoss, softmax", ""),
    "MinMaxAUC of AttentionPooling": ("MIDAMLoss, attention", ""),
    "OneVsRest(AveragePrecision@10), 10 classes": ("mAPLoss, top_k", FASTER),
    "CrossEntropy": ("CrossEntropyLoss", NEVER_SLOWER),
    "CrossEntropy, labels in floating point": ("CrossEntropyLoss", ""),
    "CrossEntropy, columns as LibAUC takes them": ("CrossEntropyLoss", ""),
    "CrossEntropy, columns as LibAUC takes them, unchecked": ("CrossEntropyLoss", NEVER_SLOWER),
    "Focal": ("FocalLoss", ""),
}
LARGEST = {
    "GlobalContrastive, two views": 4096,
    "GlobalContrastive, two modalities": 4096,
    "LearnedTemperature, two modalities": 4096,
    "OneVsRest(SOAP), 10 classes": 4096,
    "OneVsRest(AveragePrecision@10), 10 classes": 4096,
}


def sizes(name: str) -> list[int]:
    """The batches at which a pair is measured: where theirs still runs in seconds."""
    return [size for size in SIZES if size <= LARGEST.get(name, size)]


def libauc() -> Iterator[Result]:
    """Needs ``make bench-peers``, which builds the peers' own environment."""
    if not PEERS.exists():
        print("   no .venv-peers: run `make bench-peers`")
        return
    os.environ["PYTHONPATH"] = str(SOURCE)
    times = _measure("times")
    for name in TWINS:
        yield from rows(name, times[name])


def rows(name: str, times: dict[str, list[float]]) -> Iterator[Result]:
    """The results of one pair, from the processor times of both by size."""
    peer, wanted = TWINS[name]
    for size in sizes(name):
        ours, theirs = times[str(size)]
        limit = wanted if size == BATCH else ""
        what = f"{name}, {size} items, against LibAUC's {peer}: time"
        detail = {"ours": ours, "theirs": theirs}
        yield Result(what, theirs / ours, "× faster", limit, detail)
    peaks = [_measure(name, BATCH, side)["peak"] for side in ("ours", "theirs")]
    what = f"{name}, {BATCH} items, against LibAUC's {peer}: memory"
    detail = dict(zip(("ours", "theirs"), peaks, strict=True))
    yield Result(what, peaks[1] / max(1, peaks[0]), "× less", "", detail)


def _measure(*arguments: Any) -> dict[str, Any]:
    return measure_in_fresh_process("benchmarks.twin_step", *map(str, arguments), python=str(PEERS))


ALL = [libauc]
