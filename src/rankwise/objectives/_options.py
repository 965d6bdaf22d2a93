"""The options a module was made with, and the call that would make it again."""

from __future__ import annotations

import inspect
from typing import Self


class ReprFromOptions:
    """Keeps the arguments of its constructor; its repr is the call that makes it again."""

    options: dict[str, object]

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        cls.__signature__ = _signature(cls)  # type: ignore[attr-defined]  # __new__ would hide it

    def __new__(cls, *args: object, **options: object) -> Self:
        made = super().__new__(cls)
        # Straight into the dictionary: a module is not initialized yet, and copies come this way
        # without arguments and bring theirs along.
        made.__dict__["options"] = given_options(cls, args, options)
        return made

    def __repr__(self) -> str:
        """The call that makes it, defaults left out: :func:`rankwise.objective` reads it."""
        return written(type(self), self.options)


def given_options(
    cls: type, args: tuple[object, ...], options: dict[str, object]
) -> dict[str, object]:
    """Return arguments of the constructor by name; nothing where it will refuse them itself."""
    try:
        return dict(_signature(cls).bind(*args, **options).arguments)
    except TypeError:
        return {}


def written(cls: type, options: dict[str, object]) -> str:
    """Write ``Name(option=value, …)`` on one line, options with their default value left out."""
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
    # Tensors and numpy's numbers as plain ones, which can be read back.
    return repr(value.tolist() if hasattr(value, "tolist") else value)
