"""Docstrings as Markdown: links instead of roles, section titles that mkdocstrings knows."""

from __future__ import annotations

import re
from typing import Any

import griffe

from docs.hooks.public_names import public_paths

_ROLE = re.compile(r":(?:mod|class|func|meth|data):`(~?)\.?([^`]+)`")
_TERM = re.compile(r"^(\w+)\n((?: {4}\S.*\n)+)", re.MULTILINE)
_EXAMPLE = re.compile(r"^( *)Example:$", re.MULTILINE)
_SUBSCRIPT = re.compile(r"_\[(\w+)\]\(")  # f_[k](i) is not a link
_ACCENT = re.compile(r"(?<=[⁺⁻])_(?=\()")  # s⁺_(i) … s⁻_(j) is not emphasis
_LITERAL = re.compile(r"::$", re.MULTILINE)


def with_links(text: str) -> str:
    """Replace roles such as ``:class:`SOPRC``` by links to the reference, or by code."""
    return _ROLE.sub(_link, text)


def _link(match: re.Match[str]) -> str:
    shortened, path = match.groups()
    shown = path.rpartition(".")[2] if shortened else path
    paths = public_paths()
    # A method is described at its class: `Objective.forward` leads to `Objective`.
    for candidate in (path, path.rpartition(".")[2], path.partition(".")[0]):
        if candidate in paths and candidate != "rankwise":
            return f"[`{shown}`][{paths[candidate]}]"
    return f"`{shown}`"


def as_markdown(text: str) -> str:
    """Rewrite a docstring: roles, "Example:", definition lists and literal blocks."""
    text = _ACCENT.sub(r"\\_", _SUBSCRIPT.sub(r"_\[\1\](", with_links(text)))
    text = _EXAMPLE.sub(r"\1Examples:", _LITERAL.sub(":", text))
    return _TERM.sub(lambda term: f"{term[1]}\n:   {term[2].lstrip()}\n", text + "\n").rstrip()


class MarkdownDocstrings(griffe.Extension):
    """Extension of griffe that rewrites every docstring it loads."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)
