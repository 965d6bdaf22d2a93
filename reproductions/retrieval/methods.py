"""The methods of the papers' tables, by their names in rankwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Method:
    """What is minimized, and what goes around it.

    ``tries`` are two for every method that has a number to choose: the first has the published
    one, and validation chooses among them and the learning rates.
    """

    name: str
    tries: tuple[str, ...]
    ours: bool = False
    previous: bool = False  # the second forward pass of StableAP's (6)
    memory: bool = False  # of all training images
    mixup: bool = False
    optimizer: Literal["sgd", "adam", "adamw"] = "adamw"
    s: float = 1.0  # of sgd: 0 heavy ball, 1 Nesterov
    repeats: str = ""  # the method of the comparison that a line of an ablation is: one training


_SOPRC = "soprc(score_scale=1, tau_fpr={tau}, tau_tpr=.001{more})"
_STABLE = "stable_ap(score_scale=1, width=2, tau={tau}{more})"


def _soprc(tau: str, more: str = "") -> str:
    return _SOPRC.format(tau=tau, more=more and f", {more}")


def _stable(tau: str, more: str = "") -> str:
    return _STABLE.format(tau=tau, more=more and f", {more}")


_OWN = ".1", ".3"  # τ of StableAP, of which its paper says nothing
_VARIANCE = "semi_variance=[1, 5]"

METHODS = (
    Method("contrastive", ("contrastive(margin=.5)", "contrastive(margin=.2)")),
    Method("triplet", ("triplet(margin=.1)", "triplet(margin=.3)")),
    Method(
        "multi-similarity",
        (
            "multi_similarity(alpha=2, beta=50, base=.5, epsilon=.1)",
            "multi_similarity(alpha=2, beta=20, base=.2, epsilon=.1)",
        ),
    ),
    Method("SupCon", ("sup_con(temperature=.1)", "sup_con(temperature=.2)")),
    Method("XBM", ("contrastive(margin=.5)", "contrastive(margin=.2)"), memory=True),
    Method("SmoothAP", ("smooth_ap(tau=.01)", "smooth_ap(tau=.1)")),
    Method("DIR", ("histogram_ap(bins=20)", "histogram_ap(bins=10)")),
    Method("FastAP", ("fast_ap(bins=10)", "fast_ap(bins=20)")),
    Method("AUROC", ("auc_huber(tau=.1)", "auc_huber(tau=.3)")),
    Method("BlackBox", ("blackbox_ap(lam=4, margin=.02)", "blackbox_ap(lam=4, margin=.1)")),
    Method("SoDeep", ("sodeep_ap",)),  # nothing in it to choose
    Method(
        "SOPRC",
        (_soprc(".1", _VARIANCE), _soprc(".1", f"ema_rate=.5, {_VARIANCE}")),
        ours=True,
    ),
    Method("SOPRC, no L_var", (_soprc(".1"), _soprc(".1", "ema_rate=.5")), ours=True),
    Method("StableAP", tuple(_stable(tau) for tau in _OWN), ours=True, previous=True),
    Method(
        "StableAP + DFM",
        tuple(_stable(tau) for tau in _OWN),
        ours=True,
        previous=True,
        mixup=True,
    ),
)

_BATCH = "points=None"  # no v

ABLATIONS = (
    Method("SOPRC 1: share of the batch, no v", (_soprc(".1", f"prior=None, {_BATCH}"),)),
    Method("SOPRC 2: true share, no v", (_soprc(".1", _BATCH),)),
    Method("SOPRC 3: with v", (_soprc(".1"),), repeats="SOPRC, no L_var"),
    Method("SOPRC 4: with v and L_var", (_soprc(".1", _VARIANCE),), repeats="SOPRC"),
    Method("SOPRC 3, by SGD", (_soprc(".1"),), optimizer="sgd"),
    Method("SOPRC 3, gain not annealed", (_soprc(".1", 'gain="fixed"'),)),
    Method("StableAP 1: μ̂ fixed", (_stable(".1", "ema_rate=0"),)),
    Method("StableAP 2: μ̂ fixed, DFM", (_stable(".1", "ema_rate=0"),), mixup=True),
    Method("StableAP 1, mean of the batch", (_stable(".1", "dynamic=False"),)),
    Method("StableAP 2, mean of the batch", (_stable(".1", "dynamic=False"),), mixup=True),
    Method("StableAP 3: μ̂ followed", (_stable(".1"),), previous=True, repeats="StableAP"),
    Method("StableAP 3, μ̂ by a plain average", (_stable(".1"),)),
    Method("StableAP 4: t = 1, DFM", (_stable(".1", "t=1"),), previous=True, mixup=True),
    Method(
        "StableAP 5: t = 2, DFM",
        (_stable(".1"),),
        previous=True,
        mixup=True,
        repeats="StableAP + DFM",
    ),
    Method("StableAP 3, t = 0: no weights", (_stable(".1", "t=0"),), previous=True),
    Method("StableAP 3, gain not annealed", (_stable(".1", 'gain="fixed"'),), previous=True),
    Method("StableAP 3, SGD s = 0", (_stable(".1"),), previous=True, optimizer="sgd", s=0.0),
    Method("StableAP 3, SGD s = 1", (_stable(".1"),), previous=True, optimizer="sgd"),
)
"""The lines of SOPRC's Table 2 and StableAP's Table 4 by their numbers, and some more."""

TAUS = (".01", ".03", ".1", ".3")
"""StableAP, Figure 3(c)."""


def with_tau(tau: str) -> tuple[Method, ...]:
    """Our two losses with another width of their surrogate."""
    return (
        Method("SOPRC", (_soprc(tau, _VARIANCE),), ours=True),
        Method("StableAP", (_stable(tau),), ours=True, previous=True),
    )
