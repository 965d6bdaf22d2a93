"""A name taken apart, and how it is written."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Union

__all__ = ["CONSTANTS", "WORD", "Spec", "Value", "canonical", "write"]

Value = Union[None, bool, int, float, str, tuple["Value", ...], list["Value"], "Spec"]
"""What can stand behind an option; a bare word is a string."""

WORD = r"[^\W\d][\w-]*"
CONSTANTS: dict[str, Value] = {
    "None": None,
    "True": True,
    "true": True,
    "False": False,
    "false": False,
    "inf": float("inf"),
}
"""Words that are no strings. ``none`` is one, since ``average=none`` means the word."""


@dataclass(frozen=True)
class Spec:
    """A name with its options; printed, it is a string that reads the same."""

    name: str
    k: int | None = None
    args: tuple[Value, ...] = ()
    options: dict[str, Value] = field(default_factory=dict)

    def __str__(self) -> str:
        given = [write(value) for value in self.args]
        given += [f"{name}={write(value)}" for name, value in self.options.items()]
        at = "" if self.k is None else f"@{self.k}"
        return f"{self.name}{at}" + (f"({', '.join(given)})" if given else "")


def canonical(name: str) -> str:
    """What names are compared by: letter case, ``_`` and ``-`` do not matter."""
    return name.lower().replace("_", "").replace("-", "")


def write(value: Value) -> str:
    """A value as the grammar has it."""
    if isinstance(value, Spec):
        # Without the parentheses a name inside a name would be a word.
        return f"{value}()" if value == Spec(value.name) else str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(write, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(write, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, str) and re.fullmatch(WORD, value) and value not in CONSTANTS:
        return value
    return repr(value)
