"""What the docstring of a public name has: Google sections that match its signature."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Protocol

SECTIONS = ("Args", "Attributes", "Shape", "Returns", "Yields", "Raises", "Example", "Reference")
HEADING = re.compile(rf"^({'|'.join(SECTIONS)}):$", re.MULTILINE)
ENTRY = re.compile(r"^ {4}(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: \(.*?\))?:", re.MULTILINE)


def sections(docstring: str) -> dict[str, str]:
    """The text of every section of a docstring, by its heading."""
    _, *parts = HEADING.split(docstring)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def entries(text: str) -> set[str]:
    """The names that a section describes: ``name: ...`` or ``one, other: ...``."""
    return {name.lstrip("*") for found in ENTRY.findall(text) for name in found.split(", ")}


def problems(value: object) -> Iterator[str]:
    """What the docstring of a function or class lacks."""
    docstring = inspect.cleandoc(getattr(value, "__doc__", None) or "")
    if not docstring or docstring.startswith(f"{getattr(value, '__name__', '')}("):
        yield "it has no docstring of its own"
        return
    summary, _, rest = docstring.partition("\n")
    if not summary.endswith("."):
        yield f"its first line is not one sentence: {summary!r}"
    if rest and not rest.startswith("\n"):
        yield "a blank line follows the summary"
    found = sections(docstring)
    if _is_declaration(value):
        return
    yield from _unnamed(value, found)
    if inspect.isroutine(value):
        returned = inspect.signature(value).return_annotation
        if returned not in (None, "None") and "Returns" not in found and "Yields" not in found:
            yield "it has no Returns section"
    if ">>> " not in found.get("Example", ""):
        yield "it has no Example section with >>> lines"


def _is_declaration(value: object) -> bool:
    """Protocols and errors are not called by a user: their summary is enough."""
    if not inspect.isclass(value):
        return False
    return Protocol in value.__bases__ or issubclass(value, Exception)


def _unnamed(value: object, found: dict[str, str]) -> Iterator[str]:
    described = entries(found.get("Args", "") + found.get("Attributes", ""))
    parameters = inspect.signature(value).parameters.values()  # type: ignore[arg-type]
    variadic = {
        parameter.name for parameter in parameters if parameter.kind is parameter.VAR_POSITIONAL
    }
    if variadic - described:
        yield f"its signature hides its parameters: {inspect.signature(value)}"  # type: ignore[arg-type]
        return
    names = [parameter.name for parameter in parameters]
    missing = [name for name in names if name not in described]
    if missing:
        yield f"its Args do not name {', '.join(missing)}"
    unknown = sorted(entries(found.get("Args", "")) - set(names))
    if unknown:
        yield f"its Args name {', '.join(unknown)}, which it does not take"
