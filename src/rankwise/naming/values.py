"""From the values of a name to what a constructor wants: surrogates and objectives by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from torch import nn

from rankwise.naming.options import Signature, bind, signature_of
from rankwise.naming.spec import Spec, Value, canonical, write
from rankwise.naming.table import nearest
from rankwise.pairs import surrogates
from rankwise.pairs.surrogates import Surrogate

__all__ = ["SURROGATES", "Maker", "made"]

Maker = Callable[[Spec], nn.Module]
"""What turns the name of an objective inside a name into that objective."""

SURROGATES: tuple[type[Surrogate], ...] = tuple(
    found
    for found in (getattr(surrogates, name) for name in surrogates.__all__)
    if inspect.isclass(found) and issubclass(found, Surrogate) and not inspect.isabstract(found)
)
"""The surrogates; the names of their classes are theirs."""

_NAMED = (Surrogate, nn.Module, type(None))
_BY_FORM = {canonical(found.__name__): found for found in SURROGATES}


def made(
    given: dict[str, Value], signature: Signature, maker: Maker | None = None
) -> dict[str, Any]:
    """What to hand to a constructor, by the types its arguments are declared with.

    A word becomes a surrogate or an objective where the argument takes one, and is checked where
    the argument takes only some words, or none.
    """
    return {
        option: _made(
            value, signature.hints.get(option, Any), f"{option} of {signature.title}", maker
        )
        for option, value in given.items()
    }


def _made(value: Value, hint: object, where: str, maker: Maker | None) -> Any:
    kinds = _alternatives(hint)
    words = [word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)]
    if isinstance(value, (tuple, list)):
        return type(value)(_made(each, Any, where, maker) for each in value)
    if not isinstance(value, (str, Spec)) or value in words:
        if value is not None and all(_takes([kind], _NAMED) for kind in kinds):
            raise ValueError(f"{where} must be a name, got {write(value)}")
        return value
    spec = Spec(value) if isinstance(value, str) else value
    word = isinstance(value, str) and (str in kinds or Any in kinds)
    if _takes(kinds, Surrogate) and (canonical(spec.name) in _BY_FORM or not (word or words)):
        return _surrogate(spec, where)
    if maker is not None and _takes(kinds, nn.Module):
        return maker(spec)
    if word:
        return value
    right = f"one of {', '.join(words)}" if words else "a number, or numbers in brackets"
    raise ValueError(f"{where} must be {right}; got {write(value)}")


def _alternatives(hint: object) -> list[object]:
    """The types of a union, or the one type."""
    if get_origin(hint) in (Union, UnionType):
        return [kind for part in get_args(hint) for kind in _alternatives(part)]
    return [hint]


def _takes(kinds: list[object], wanted: type | tuple[type, ...]) -> bool:
    return any(inspect.isclass(kind) and issubclass(kind, wanted) for kind in kinds)


def _surrogate(spec: Spec, where: str) -> Surrogate:
    found = _BY_FORM.get(canonical(spec.name))
    if found is None:
        names = tuple(each.__name__ for each in SURROGATES)
        near = nearest(spec.name, names)
        hint = f"did you mean {near}? " if near else ""
        raise ValueError(
            f'{where} must be a surrogate, got "{spec.name}": {hint}there are {", ".join(names)}'
        )
    signature = signature_of("surrogate", found.__name__, found.__init__)
    return found(**made(bind(signature, spec), signature))
