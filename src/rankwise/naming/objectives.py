"""An objective by its name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch import Tensor, nn

from rankwise.naming.entry import FACTS, ObjectiveEntry, load
from rankwise.naming.grammar import parse
from rankwise.naming.options import Signature, bind, require_given, signature_of
from rankwise.naming.spec import Spec
from rankwise.naming.table import find_objective, read, resolve
from rankwise.naming.values import made

__all__ = ["canonical_objective", "canonical_text", "objective", "signature_of_objective"]


def objective(
    name: str,
    *,
    prior: float | Tensor | None = None,
    num_items: int | None = None,
    num_lists: int | None = None,
) -> nn.Module:
    """The objective of a name such as ``"auc"``, ``"opauc(max_fpr=.1)"`` or ``"ndcg@10"``.

    The grammar and all names are in docs/naming.md; the command ``rankwise objectives`` lists
    them. The ``repr`` of an objective is a name, too. ``prior``, ``num_items`` and ``num_lists``
    are what is known of the data: an objective takes those it needs and leaves the others, so that
    a caller may pass them for any name. What the name itself says comes first.

    prior
        The share of positives in the data set, a number or one per list.
    num_items, num_lists
        How many items and lists (queries, users or classes) the data set has.
    """
    facts = {"prior": prior, "num_items": num_items, "num_lists": num_lists}
    return _made(read(name), {fact: value for fact, value in facts.items() if value is not None})


def signature_of_objective(entry: ObjectiveEntry) -> Signature:
    """The options of the class of an entry."""
    # Of __init__, not of the class: what its __new__ takes would hide them.
    init = load(entry).__init__
    return signature_of("objective", entry.names[0], init, at=entry.at, without=entry.fixed)


def canonical_objective(name: str) -> str:
    """The name that rankwise has for an objective: what results are shown under."""
    spec = read(name)
    return canonical_text(name, spec, find_objective(spec).names[0])


def canonical_text(name: str, spec: Spec, first: str) -> str:
    """A name as it was typed if it is the first one of its entry, else written anew."""
    typed = parse(name)
    return name.strip() if typed == spec and spec.name == first else str(replace(spec, name=first))


def _made(spec: Spec, facts: dict[str, Any]) -> nn.Module:
    spec = resolve(spec)
    entry = find_objective(spec)
    signature = signature_of_objective(entry)
    named = bind(signature, spec)
    wanted = [fact for fact in entry.facts_for(named) if fact not in named]
    known = {fact: facts[fact] for fact in wanted if fact in facts}
    beside = {fact: FACTS[fact] for fact in entry.facts}
    require_given(signature, {*named, *known}, needs=entry.needs, facts=beside)
    try:
        options = made({**entry.fixed, **named}, signature, lambda inner: _made(inner, facts))
        module: nn.Module = load(entry)(**options, **known)
    except TypeError as error:  # a number where a pair was wanted, or None where a number was
        raise ValueError(f"{signature.title} cannot be made of {spec}: {error}") from error
    return module
