"""Names that other libraries have for the same metrics: one table of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from rankwise.naming.spec import Spec, Value, canonical

__all__ = ["ALIASES", "Alias", "alias_of", "split_cut"]

_CUT = re.compile(r"[@_]k$")


@dataclass(frozen=True, eq=False)
class Alias:
    """Another spelling of a name of the tables."""

    spelling: str  # as it is shown; "@k" or "_k" at its end stands for a cut
    name: str  # what it is called here
    source: str  # who spells it so
    options: Mapping[str, Value] = field(default_factory=dict)  # what comes with the spelling
    unless: str | None = None  # with this option the spelling is a name of its own

    @property
    def base(self) -> str:
        """The spelling without its cut."""
        return _CUT.sub("", self.spelling)

    @property
    def shown(self) -> str:
        """What it is called here, as a reader is shown it."""
        cut = "@k" if _CUT.search(self.spelling) else ""
        return str(Spec(f"{self.name}{cut}", options=dict(self.options)))

    @property
    def example(self) -> str:
        """The spelling with a number for its cut."""
        return re.sub(r"(?<=[@_])k$", "10", self.spelling)

    def fits(self, spec: Spec) -> bool:
        """Whether a name is meant as this alias."""
        own = self.unless is not None and (bool(spec.args) or self.unless in spec.options)
        cut_missing = self.base.endswith("_cut") and spec.k is None
        return not own and not cut_missing

    def applied(self, spec: Spec) -> Spec:
        """The same under the name it has here."""
        return replace(spec, name=self.name, options={**self.options, **spec.options})


ALIASES = (
    Alias("roc_auc", "auc", "scikit-learn"),
    Alias("average_precision", "ap", "scikit-learn, LightGBM"),
    Alias("pr_auc", "ap", "in common use"),
    Alias("aucpr", "ap", "XGBoost"),
    Alias("auprc", "ap", "in common use; auprc(prior=.1) is a metric of its own", unless="prior"),
    Alias("map", "ap", "trec_eval, LightGBM, XGBoost"),
    Alias("rr", "mrr", "ir-measures"),
    Alias("recip_rank", "mrr", "trec_eval"),
    Alias("P@k", "precision", "ir-measures"),
    Alias("P_k", "precision", "trec_eval"),
    Alias("R@k", "recall", "ir-measures"),
    Alias("recall_k", "recall", "trec_eval"),
    Alias("Success@k", "hit", "ir-measures"),
    Alias("success_k", "hit", "trec_eval"),
    Alias("Rprec", "r_precision", "trec_eval, ir-measures"),
    Alias("ndcg_cut_k", "ndcg", "trec_eval, whose gain is linear", {"gain": "linear"}),
    Alias("map_cut_k", "ap", "trec_eval; only metrics of a run file have this cut"),
)
"""Every alias. Letter case, ``_`` and ``-`` do not matter, and ``name_10`` is ``name@10``."""


def _by_form() -> Mapping[str, Alias]:
    found: dict[str, Alias] = {}
    for alias in ALIASES:
        if canonical(alias.base) != canonical(alias.name):  # recall_k is recall itself
            found.setdefault(canonical(alias.base), alias)
    return MappingProxyType(found)


_BY_FORM = _by_form()


def alias_of(spec: Spec) -> Alias | None:
    """The alias that a name is, if it is one."""
    found = _BY_FORM.get(canonical(spec.name))
    return found if found is not None and found.fits(spec) else None


def split_cut(spec: Spec) -> Spec | None:
    """``name_10`` as ``name@10``; None for a name that does not end so, or has a cut already."""
    found = re.fullmatch(r"(.*[^\W\d_])[_-](\d+)", spec.name)
    if found is None or spec.k is not None:
        return None
    return replace(spec, name=found[1], k=int(found[2]))
