"""The losses that are compared, each with three settings to choose from."""

from __future__ import annotations

from dataclasses import replace

from reproductions.retrieval.methods import METHODS as TABLE
from reproductions.retrieval.methods import Method

_SOPRC = "soprc(score_scale=1, tau_tpr=.001, tau_fpr="
_STABLE = "stable_ap(score_scale=1, width=2, tau="
_OF_TABLE = {method.name: method for method in TABLE}


def _widths(start: str) -> tuple[str, str, str]:
    """The published width and outer function x/(1+x), the outer function log(1+x), a narrow one."""
    return f"{start}.1)", f"{start}.1, outer=log)", f"{start}.02)"


def _with(name: str, third: str) -> Method:
    """A method of the retrieval tables with a third setting."""
    method = _OF_TABLE[name]
    return replace(method, tries=(*method.tries, third))


def _rates(name: str) -> Method:
    """A loss with proxies: they learn as fast as the network, 10 or 100 times as fast."""
    return Method(name.replace("_", " "), tuple(f"{name}(rate_factor={r})" for r in (1, 10, 100)))


METHODS = (
    Method("SOPRC", _widths(_SOPRC), ours=True),
    Method("SOPRC + memory", _widths(_SOPRC), ours=True, memory=True),
    Method("StableAP", _widths(_STABLE), ours=True, previous=True),
    _with("SmoothAP", "smooth_ap(tau=.03)"),
    _with("FastAP", "fast_ap(bins=40)"),
    _with("multi-similarity", "multi_similarity(alpha=2, beta=20, base=.5, epsilon=.1)"),
    _with("SupCon", "sup_con(temperature=.05)"),
    _with("XBM", "contrastive(margin=.35)"),
    replace(_rates("proxy_anchor"), name="Proxy-Anchor"),
    _rates("normalized_softmax"),
)
"""Each loss has three settings to choose from; the first is the published one."""
