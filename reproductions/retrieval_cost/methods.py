"""The losses that are compared, each with two or three settings to choose from."""

from __future__ import annotations

from reproductions.retrieval.methods import METHODS as TABLE
from reproductions.retrieval.methods import Method

_SOPRC = "soprc(score_scale=1, tau_fpr=.1, tau_tpr=.001"
_STABLE = "stable_ap(score_scale=1, width=2, tau=.1"
_OF_TABLE = {method.name: method for method in TABLE}


def _outers(start: str) -> tuple[str, str]:
    """The published outer function x/(1+x), and log(1+x)."""
    return f"{start})", f"{start}, outer=log)"


# As SmoothAP has two widths of its sigmoid to choose from.
_NARROW = "soprc(score_scale=1, tau_fpr=.02, tau_tpr=.001)"


METHODS = (
    Method("SOPRC", (*_outers(_SOPRC), _NARROW), ours=True),
    Method("SOPRC + memory", _outers(_SOPRC), ours=True, memory=True),
    Method("StableAP", _outers(_STABLE), ours=True, previous=True),
    _OF_TABLE["SmoothAP"],
    _OF_TABLE["FastAP"],
    _OF_TABLE["multi-similarity"],
    _OF_TABLE["SupCon"],
    _OF_TABLE["XBM"],
    Method("Proxy-Anchor", ("proxy_anchor", "proxy_anchor(rate_factor=10)")),
    Method(
        "normalized softmax",
        ("normalized_softmax", "normalized_softmax(rate_factor=10)"),
    ),
)
"""The first setting of each is the published one."""
