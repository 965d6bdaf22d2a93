"""Each objective beside its twin of LibAUC 2.0.1: time and memory of a step, as ratios."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

from benchmarks.objectives import PEERS
from benchmarks.timing import Result, measure_in_fresh_process

SOURCE = Path(__file__).parent.parent / "src"
SIZES = (512, 4096, 16384)
FASTER, NEVER_SLOWER = ">= 10", ">= 1"

# Our objective and its twin; of those that couple pairs ten times the speed is asked at 4 096.
TWINS = {
    "PairwiseAUC": ("PairwiseAUCLoss", FASTER),
    "SOAP": ("APLoss", FASTER),
    "SOPRC": ("APLoss", FASTER),
    "PartialAUC, cvar": ("pAUC_CVaR_Loss", FASTER),
    "PartialAUC, kl": ("pAUC_DRO_Loss", FASTER),
    "PartialAUC, kl, squared hinge": ("pAUC_DRO_Loss", ""),
    "TwoWayPartialAUC, kl": ("tpAUC_KL_Loss", FASTER),
    "OneVsRest(SOAP), 10 classes": ("mAPLoss", FASTER),
    "NDCG": ("NDCGLoss", FASTER),
    "ListNet": ("ListwiseCELoss", NEVER_SLOWER),
    "MinMaxAUC": ("AUCMLoss", NEVER_SLOWER),
    "CompositionalAUC": ("CompositionalAUCLoss", NEVER_SLOWER),
    "OneVsRest(MinMaxAUC), 10 classes": ("MultiLabelAUCMLoss", NEVER_SLOWER),
    "GlobalContrastive, two views": ("GCLoss, unimodal", NEVER_SLOWER),
    "GlobalContrastive, two modalities": ("GCLoss, bimodal", NEVER_SLOWER),
    "CrossEntropy": ("CrossEntropyLoss", ""),
    "Focal": ("FocalLoss", ""),
}
LARGEST = {"GlobalContrastive, two views": 4096, "GlobalContrastive, two modalities": 4096}


def libauc() -> Iterator[Result]:
    """Needs ``make bench-peers``, which builds the peers' own environment."""
    if not PEERS.exists():
        print("   no .venv-peers: run `make bench-peers`")
        return
    os.environ["PYTHONPATH"] = str(SOURCE)
    for name, (peer, wanted) in TWINS.items():
        for size in SIZES:
            if size > LARGEST.get(name, size):
                continue
            yield from _of(name, peer, size, wanted)


def _of(name: str, peer: str, size: int, wanted: str) -> Iterator[Result]:
    what = f"{name}, {size} items, against LibAUC's {peer}"
    try:
        time = _measure(name, size)
        memory = {side: _measure(name, size, side)["peak"] for side in ("ours", "theirs")}
    except CalledProcessError as error:
        print(f"   {what}: does not run: {error.stderr.strip().splitlines()[-1:]}")
        return
    limit = wanted if wanted == NEVER_SLOWER or size == 4096 else ""
    detail = {"seconds": time, "peak": memory}
    yield Result(f"{what}: time", time["theirs"] / time["ours"], "× faster", limit, detail)
    less = memory["theirs"] / max(1, memory["ours"])
    yield Result(f"{what}: memory", less, "× less", "", detail)


def _measure(*arguments: Any) -> dict[str, Any]:
    return measure_in_fresh_process("benchmarks.twin_step", *map(str, arguments), python=str(PEERS))


ALL = [libauc]
