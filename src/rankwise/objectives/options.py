"""The options an objective was made with, and the call that would make it again."""

from __future__ import annotations

import inspect
from typing import Any

from torch import Tensor

__all__ = ["given_options", "written"]


def given_options(cls: type, args: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
    """Arguments of the constructor by name; nothing where it will refuse them itself."""
    try:
        return dict(_signature(cls).bind(*args, **options).arguments)
    except TypeError:
        return {}


def written(cls: type, options: dict[str, Any]) -> str:
    """``Name(option=value, …)`` on one line, options with their default value left out."""
    defaults = {name: p.default for name, p in _signature(cls).parameters.items()}
    shown = [
        f"{name}={_value(value)}"
        for name, value in options.items()
        if _value(value) != _value(defaults.get(name, inspect.Parameter.empty))
    ]
    return f"{cls.__name__}({', '.join(shown)})"


def _signature(cls: type) -> inspect.Signature:
    whole = inspect.signature(cls.__init__)  # type: ignore[misc]
    return whole.replace(parameters=list(whole.parameters.values())[1:])


def _value(value: object) -> str:
    return repr(value.tolist() if isinstance(value, Tensor) else value)
