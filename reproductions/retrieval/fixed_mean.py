"""What following μ̂ is worth: StableAP's Table 4, lines 1 and 2, against lines 3 and 5."""

from __future__ import annotations

from collections.abc import Sequence

from rankwise.report import Table
from rankwise.theory import Mean
from reproductions.retrieval.cell import Cell
from reproductions.retrieval.published import stable_ap_gain
from reproductions.retrieval.tables import of_method, paired, with_interval

_FOLLOWED = {"1": "StableAP 3: μ̂ followed", "2": "StableAP 5: t = 2, DFM"}
_FIXED = {"1": "StableAP 1: μ̂ fixed", "2": "StableAP 2: μ̂ fixed, DFM"}
_BATCH = {line: f"StableAP {line}, mean of the batch" for line in _FOLLOWED}


def followed_table(cells: Sequence[Cell]) -> Table:
    """Test mAP with μ̂ followed less that without, on the same seeds, and the paper's difference."""
    problems = list(dict.fromkeys(cell.problem for cell in cells))
    rows = []
    for words, lines in (("μ̂ fixed", _FIXED), ("mean of the batch", _BATCH)):
        for line, without in lines.items():
            gains = [_gain(cells, problem, line, without) for problem in problems]
            if not any(gains):
                continue
            printed = stable_ap_gain(line) if lines is _FIXED else ()
            shown = (f"{gain:+.4f}" for gain in printed) if printed else ("–", "–")
            number = _FOLLOWED[line].split()[1].rstrip(":")
            mixed = "with DFM" if line == "2" else "without DFM"
            found = ("–" if gain is None else with_interval(gain, sign=True) for gain in gains)
            rows.append((f"line {number} − line {line}: {words}, {mixed}", *found, *shown))
    header = ("μ̂ followed, less", *problems, "paper: SOP", "paper: iNaturalist")
    caption = (
        "Test mAP on the same seeds, mean ± half of the 95 % interval. The paper's lines 1 and 2 "
        "fix v̂ (our μ̂) at its first value; the mean of the batch is ours."
    )
    return Table(header, rows, caption)


def followed_words(cells: Sequence[Cell]) -> str:
    """In how many comparisons following μ̂ is ahead of each alternative."""
    problems = dict.fromkeys(cell.problem for cell in cells)
    said = []
    for words, lines in (("a fixed μ̂", _FIXED), ("the mean of the batch", _BATCH)):
        found = [_gain(cells, p, line, name) for p in problems for line, name in lines.items()]
        gains = [gain for gain in found if gain is not None]
        if not gains:
            continue
        ahead = sum(gain.value > 0 for gain in gains)
        beyond = [gain for gain in gains if abs(gain.value) > gain.half_width()]
        for_it = sum(gain.value > 0 for gain in beyond)
        said.append(
            f"Following μ̂ has a higher test mAP than {words} in {ahead} of {len(gains)} "
            f"comparisons; {for_it} of these differences and {len(beyond) - for_it} against it are "
            "larger than their interval."
        )
    return " ".join(said)


def _gain(cells: Sequence[Cell], problem: str, line: str, without: str) -> Mean | None:
    own = [cell for cell in cells if cell.problem == problem]
    if not of_method(own, without) or not of_method(own, _FOLLOWED[line]):
        return None
    return paired(own, _FOLLOWED[line], without)
