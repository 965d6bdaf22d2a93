"""Choose the losses of ``rankwise demo`` on its training alphabets, or train them with some seeds.

    python -m tools.demo_losses choose        # never reads the test part
    python -m tools.demo_losses seeds 0 1 2

Both print a line of JSON for each training. ``choose`` trains at the size of the demo without two
of the four training alphabets and evaluates these, for two pairs of alphabets.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence

import torch

from rankwise.data.images import RetrievalSplits
from rankwise.demo import race
from rankwise.demo.characters import read_characters
from rankwise.demo.race import Loss, Size

_SOPRC = "soprc(score_scale=1, tau_fpr={}, tau_tpr=.001{}, outer=log)"
_VARIANCE = ", gain=fixed, semi_variance=[1, 5]"
_PRECISION = (
    "ap(false_positives=exponential, true_positives=zero_one, gain=fixed, outer=log, "
    "score_scale={})"
)
TRIED = (
    *(Loss("triplet", f"triplet(margin={margin})") for margin in (".1", ".2", ".3")),
    *(Loss("SupCon", f"sup_con(temperature={tau})") for tau in (".03", ".05", ".1", ".2")),
    Loss("SOPRC", _SOPRC.format(".1", "")),
    *(Loss("SOPRC", _SOPRC.format(tau, _VARIANCE)) for tau in (".05", ".1")),
    *(Loss("SOPRC", _PRECISION.format(tau)) for tau in (".05", ".1")),
)
"""Forms of each loss; those of ours all have the outer function log(1 + x)."""

HELD_OUT = (("Early_Aramaic", "Greek"), ("Balinese", "Early_Aramaic"))


def choose() -> Iterator[dict[str, object]]:
    """Yield the validation mAP of every form on both pairs of alphabets; the seed is the pair's."""
    whole = read_characters().train
    for loss in TRIED:
        for seed, alphabets in enumerate(HELD_OUT):
            held_out = torch.tensor([n.split("/")[0] in alphabets for n in whole.classes])
            rows = held_out[whole.labels]
            parts = [whole.subset(own.nonzero().flatten(), renumber=True) for own in (~rows, rows)]
            splits = RetrievalSplits(parts[0], whole.subset([], renumber=True), parts[1])
            found = race.run(splits, Size(looks=(300,)), seed, [loss])
            yield {
                "loss": loss.objective,
                "held out": alphabets,
                "map": round(found.last(loss.name).map, 4),
            }


def seeds(numbers: Sequence[int]) -> Iterator[dict[str, object]]:
    """Yield the test mAP of the losses of the demo, and the differences of ours to the others."""
    for seed in numbers:
        found = race.run(read_characters(), Size(looks=(300,)), seed)
        yield {
            "seed": seed,
            "map": {name: round(found.last(name).map, 4) for name in found.states},
            "seconds": round(found.seconds, 1),
        }


if __name__ == "__main__":
    rows = choose() if sys.argv[1] == "choose" else seeds([int(word) for word in sys.argv[2:]])
    for row in rows:
        print(json.dumps(row), flush=True)
