"""The table of names, with the aliases of other libraries, and the search in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from rankwise._grammar import Spec, Value, canonical, nearest, parse
from rankwise.naming.entry import MetricEntry, ObjectiveEntry, all_names
from rankwise.naming.registry import OBJECT, REGISTRY
from rankwise.naming.rows import BASELINES, METRICS, OBJECTIVES

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
        """The name of rankwise, as a reader sees it."""
        cut = "@k" if _CUT.search(self.spelling) else ""
        return str(Spec(f"{self.name}{cut}", options=dict(self.options)))

    @property
    def example(self) -> str:
        """The spelling with a number for its cut."""
        return re.sub(r"(?<=[@_])k$", "10", self.spelling)

    def fits(self, spec: Spec) -> bool:
        """Return whether a name is meant as this alias."""
        own = self.unless is not None and (bool(spec.args) or self.unless in spec.options)
        cut_missing = self.base.endswith("_cut") and spec.k is None
        return not own and not cut_missing


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
    Alias("map_cut_k", "ap", "trec_eval"),
)
"""Every alias. Letter case, ``_`` and ``-`` do not matter, and ``name_10`` is ``name@10``."""


_ALIASES = {
    canonical(alias.base): alias
    for alias in reversed(ALIASES)  # the first of a form counts
    if canonical(alias.base) != canonical(alias.name)  # recall_k is recall itself
}

_Entry = TypeVar("_Entry", ObjectiveEntry, MetricEntry)

ENTRIES = (*OBJECTIVES, *BASELINES)
"""Every objective, then the baselines."""


def _by_name(entries: tuple[_Entry, ...]) -> Mapping[str, _Entry]:
    """Return entries by canonical name; the class's own name belongs to the first."""
    names: dict[str, _Entry] = {}
    for entry in entries:
        for name in all_names(entry):
            names.setdefault(canonical(name), entry)
    return names


_OBJECTIVES, _METRICS = _by_name(ENTRIES), _by_name(METRICS)


def read(text: str) -> Spec:
    """Read a name with its options, an alias under its name in rankwise."""
    return resolve(parse(text))


def resolve(spec: Spec) -> Spec:
    """Return the spec under the name of the tables if it is an alias or has a cut: ``P_5``."""
    alias = _ALIASES.get(canonical(spec.name))
    if alias is not None and alias.fits(spec):
        return replace(spec, name=alias.name, options={**alias.options, **spec.options})
    cut = re.fullmatch(r"(.*[^\W\d_])[_-](\d+)", spec.name)
    if cut is None or spec.k is not None or _is_known(spec):
        return spec
    found = resolve(replace(spec, name=cut[1], k=int(cut[2])))
    return found if _is_known(found) else spec


def _is_known(spec: Spec) -> bool:
    return canonical(spec.name) in _OBJECTIVES or canonical(spec.name) in _METRICS


def own_objective(spec: Spec) -> ObjectiveEntry | None:
    """Return the entry of an objective of rankwise; None for any other name."""
    return _OBJECTIVES.get(canonical(resolve(spec).name))


def find_objective(spec: Spec) -> ObjectiveEntry:
    """Return the entry of an objective; a ValueError suggests the nearest name."""
    entry = own_objective(spec) or REGISTRY.find(spec.name)
    if entry is not None:
        return entry
    if canonical(resolve(spec).name) in _METRICS:
        raise ValueError(
            f'"{spec.name}" is a metric without an objective of its own; '
            "`rankwise objectives` lists the objectives with their metrics"
        )
    if spec.name.endswith(OBJECT):
        raise ValueError(
            f"this model was saved with an objective of your own ({spec.name.removesuffix(OBJECT)})"
            "; pass it again with set_params(objective=…)"
        )
    raise ValueError(_unknown("objective", spec.name, _OBJECTIVES, "rankwise objectives"))


def find_metric(spec: Spec) -> MetricEntry:
    """Return the entry of a metric; a ValueError suggests the nearest name."""
    entry = _METRICS.get(canonical(resolve(spec).name))
    if entry is not None:
        return entry
    objective = _OBJECTIVES.get(canonical(spec.name)) or REGISTRY.find(spec.name)
    if objective is not None and objective.metric is not None:
        raise ValueError(f'"{spec.name}" is an objective; its metric is "{objective.metric}"')
    raise ValueError(_unknown("metric", spec.name, _METRICS, "rankwise objectives --metrics"))


def _unknown(kind: str, name: str, entries: Mapping[str, _Entry], command: str) -> str:
    base, at, _ = name.partition("@")
    entry = entries.get(canonical(resolve(Spec(base)).name))
    if at and entry is not None and entry.at is not None:  # "ndcg@k"
        return f'"{name}" needs a number after @: write "{base}@10"'
    own: list[str] = [known for entry in entries.values() for known in all_names(entry)]
    if kind == "objective":
        own += [entry.names[0] for entry in REGISTRY.all()]
    aliases: list[str] = [alias.example for alias in ALIASES if canonical(alias.name) in entries]
    near = nearest(base, (*own, *aliases))
    hint = f'did you mean "{near}"? ' if near else ""
    return f'no {kind} is called "{name}": {hint}`{command}` lists them all'
