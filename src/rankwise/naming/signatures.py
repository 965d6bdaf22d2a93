"""The options of constructors and functions, and the values of a name matched with them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from torch import nn

from rankwise._grammar import Spec, Value, canonical, write
from rankwise.pairs.surrogates import Surrogate
from rankwise.pairs.surrogates._names import SURROGATES, surrogate_of

EMPTY = inspect.Parameter.empty
"""The default of an option that must be given."""

_NAMELESS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True)
class Signature:
    """The options of one thing that has a name."""

    kind: str
    name: str
    defaults: dict[str, Any]
    hints: dict[str, object]
    order: tuple[str, ...]  # which options the values without a name are for
    at: str | None  # which option @k is for

    @property
    def title(self) -> str:
        """The title in messages: objective "auc"."""
        return f'{self.kind} "{self.name}"'


def signature_of(
    kind: str,
    name: str,
    function: Callable[..., object],
    *,
    order: tuple[str, ...] | None = None,
    at: str | None = None,
    without: Collection[str] = (),
) -> Signature:
    """Return the options of a function or an ``__init__``, ``without`` other parameters."""
    parameters = {
        option: parameter
        for option, parameter in inspect.signature(function).parameters.items()
        if parameter.kind not in _NAMELESS and option not in ("self", *without)
    }
    if order is None:
        named = inspect.Parameter.KEYWORD_ONLY
        order = tuple(option for option, p in parameters.items() if p.kind is not named)
    defaults = {option: p.default for option, p in parameters.items()}
    return Signature(kind, name, defaults, _hints(function), order, at)


def _hints(function: Callable[..., object]) -> dict[str, object]:
    try:
        return get_type_hints(function)
    except (NameError, TypeError):  # a type for type checkers only; a callable object
        return {}


def bind(signature: Signature, spec: Spec) -> dict[str, Value]:
    """Return the options that a name gives, by their names."""
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
            like = {o: SequenceMatcher(None, option.lower(), o).ratio() for o in signature.defaults}
            choices = _choices(sorted(like, key=lambda o: -like[o]))
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

    ``facts`` are those that are passed separately from the name, with descriptions.
    """
    ways = []
    for option in signature.defaults if among is None else among:
        if option in given or not (signature.defaults[option] is EMPTY or option in needs):
            continue
        if facts is not None and option in facts:
            ways.append(f"{option}: {facts[option]} (pass {option}=… next to the name)")
        elif option == signature.at:
            ways.append(f'{option}: write "{signature.name}@10"')
        else:
            ways.append(f'{option}: write "{signature.name}({option}=…)"')
    if ways:
        raise ValueError(f"{signature.title} needs {' and '.join(ways)}")


def _choices(options: Collection[str]) -> str:
    return f"it has {', '.join(options)}" if options else "it has no options"


Maker = Callable[[Spec], nn.Module]
"""A function from the name of an objective inside a name to that objective."""

_NAMED = (Surrogate, nn.Module, type(None))


def made(
    given: dict[str, Value], signature: Signature, maker: Maker | None = None
) -> dict[str, Any]:
    """Return the arguments of a constructor, by the types that it declares.

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
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    words = [word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)]
    if isinstance(value, (tuple, list)):
        return type(value)(_made(each, Any, where, maker) for each in value)
    if not isinstance(value, (str, Spec)) or value in words:
        if value is not None and all(_takes([kind], _NAMED) for kind in kinds):
            raise ValueError(f"{where} must be a name, got {write(value)}")
        return value
    spec = Spec(value) if isinstance(value, str) else value
    word = isinstance(value, str) and (str in kinds or Any in kinds)
    if _takes(kinds, Surrogate) and (canonical(spec.name) in SURROGATES or not (word or words)):
        return surrogate_of(spec, where)
    if maker is not None and _takes(kinds, nn.Module):
        return maker(spec)
    if word:
        return value
    right = f"one of {', '.join(words)}" if words else "a number, or numbers in brackets"
    raise ValueError(f"{where} must be {right}; got {write(value)}")


def _takes(kinds: Collection[object], wanted: type | tuple[type, ...]) -> bool:
    return any(inspect.isclass(kind) and issubclass(kind, wanted) for kind in kinds)
