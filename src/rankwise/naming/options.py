"""What a constructor takes, and the options of a name matched with it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, get_type_hints

from rankwise.naming.spec import Spec, Value, write

__all__ = ["EMPTY", "Signature", "bind", "require_given", "signature_of"]

EMPTY = inspect.Parameter.empty
"""The default of an option that must be given."""

_NAMELESS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True)
class Signature:
    """The options of one thing that has a name."""

    kind: str
    name: str
    defaults: dict[str, Any]
    hints: dict[str, Any]
    order: tuple[str, ...]  # which options the values without a name are for
    at: str | None  # which option @k is for

    @property
    def title(self) -> str:
        """As messages call it: objective "auc"."""
        return f'{self.kind} "{self.name}"'


def signature_of(
    kind: str,
    name: str,
    function: Callable[..., Any],
    *,
    order: tuple[str, ...] | None = None,
    at: str | None = None,
    without: Collection[str] = (),
) -> Signature:
    """The options of a function or an ``__init__``, ``without`` what is no option."""
    parameters = {
        option: parameter
        for option, parameter in inspect.signature(function).parameters.items()
        if parameter.kind not in _NAMELESS and option not in ("self", *without)
    }
    if order is None:
        named = inspect.Parameter.KEYWORD_ONLY
        order = tuple(option for option, p in parameters.items() if p.kind is not named)
    defaults = {option: p.default for option, p in parameters.items()}
    return Signature(kind, name, defaults, get_type_hints(function), order, at)


def bind(signature: Signature, spec: Spec) -> dict[str, Value]:
    """The options a name gives, by their own names."""
    given: dict[str, Value] = {}
    if spec.k is not None:
        if signature.at is None:
            raise ValueError(
                f"{signature.title} takes no @k, got @{spec.k}: it has no counterpart of a cut at "
                f'rank {spec.k}; write "{signature.name}"'
            )
        given[signature.at] = spec.k
    order = [option for option in signature.order if option not in given]
    if len(spec.args) > len(order):
        taken = f"only {', '.join(order)}" if order else "nothing"
        raise ValueError(
            f"{signature.title} takes {taken} without a name, got {len(spec.args)} values; "
            + _choices(signature.defaults)
        )
    given.update(zip(order, spec.args, strict=False))
    for option, value in spec.options.items():
        if option not in signature.defaults:
            choices = _choices(sorted(signature.defaults, key=lambda o: -_likeness(option, o)))
            raise ValueError(f'{signature.title} has no option "{option}"; {choices}')
        if option in given:
            both = f"{write(given[option])} and {write(value)}"
            raise ValueError(f"{signature.title} gets {option} twice: {both}")
        given[option] = value
    return given


def require_given(
    signature: Signature,
    given: Collection[str],
    *,
    among: Collection[str] | None = None,
    needs: Collection[str] = (),
    facts: Mapping[str, str] | None = None,
) -> None:
    """Raise where an option is missing that has no default, or that the name ``needs``.

    ``facts`` are those that are passed beside the name, with what they are.
    """
    ways = []
    for option in signature.defaults if among is None else among:
        if option in given or not (signature.defaults[option] is EMPTY or option in needs):
            continue
        if facts is not None and option in facts:
            ways.append(f"{option}: {facts[option]} (pass {option}=… beside the name)")
        elif option == signature.at:
            ways.append(f'{option}: write "{signature.name}@10"')
        else:
            ways.append(f'{option}: write "{signature.name}({option}=…)"')
    if ways:
        raise ValueError(f"{signature.title} needs {' and '.join(ways)}")


def _likeness(given: str, option: str) -> float:
    return SequenceMatcher(None, given.lower(), option).ratio()


def _choices(options: Collection[str]) -> str:
    return f"it has {', '.join(options)}" if options else "it has no options"
