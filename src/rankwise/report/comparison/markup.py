"""Elements of HTML and SVG whose every text is escaped, because nothing else can be built."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

__all__ = ["Child", "Markup", "element", "join"]


class Markup(str):
    """Text that is markup already; any other string is escaped where it enters an element."""

    __slots__ = ()


Child = str | int | Iterable["Child"] | None

# Elements without content, and so without an end.
_VOID = frozenset({"br", "hr", "input", "meta"})


def element(name: str, /, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """An element; ``class_`` stands for ``class``, other underscores for hyphens.

    An attribute that is None or False is left out, True stands without a value. Children are
    strings (escaped, unless they are :class:`Markup`), numbers, or any nesting of these.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(children)}</{name}>")


def join(children: Child) -> Markup:
    """Children as one piece of markup."""
    if children is None:
        return Markup()
    if isinstance(children, Markup):
        return children
    if isinstance(children, (str, int)):
        return Markup(escape(str(children)))
    return Markup("".join(map(join, children)))


def _attribute(key: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    shown = f"{value:g}" if isinstance(value, float) else str(value)
    return f' {name}="{escape(shown)}"'
