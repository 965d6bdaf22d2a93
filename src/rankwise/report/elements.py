"""HTML whose every text is escaped, and the small pieces that all reports are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape


class Markup(str):
    """Text that is markup already; any other string is escaped where it enters an element."""

    __slots__ = ()


Child = str | int | Iterable["Child"] | None

_VOID = frozenset({"br", "hr", "img", "input", "meta"})  # elements without content and end tag
_FIGURE = """<figure><div class="plot">{image}<div class="tip" hidden></div></div>\
<figcaption>{caption}</figcaption></figure>"""


def element(name: str, /, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """Build an element; ``class_`` stands for ``class``, other underscores for hyphens.

    An attribute that is None or False is left out, True stands without a value. Children are
    strings (escaped, unless they are :class:`Markup`), numbers, or any nesting of these.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(children)}</{name}>")


def fill(template: str, /, **children: Child) -> Markup:
    """Fill the ``{places}`` of an HTML template with children, which are escaped."""
    return Markup(template.format(**{name: join(each) for name, each in children.items()}))


def join(children: Child) -> Markup:
    """Join children into one piece of markup."""
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


def note(*children: Child) -> Markup:
    """Return a paragraph that explains."""
    return element("p", children, class_="note")


def pair(*children: Child) -> Markup:
    """Return children side by side, below each other where the screen is narrow."""
    return element("div", children, class_="pair")


def figure(image: Markup, caption: Child) -> Markup:
    """Return an image with a caption; values read by mouse or keys are shown inside it."""
    return fill(_FIGURE, image=image, caption=caption)


def chips(names: Mapping[str, str]) -> Markup:
    """Return a caption that names the colors of a chart, by their CSS classes."""
    shown = [element("span", name, class_=f"chip {class_}") for class_, name in names.items()]
    return element("span", shown, class_="chips")


def details(summary: Child, *content: Child) -> Markup:
    """Return content that is folded under a summary."""
    return element("details", element("summary", summary), content)


def scroll(content: Markup, label: str) -> Markup:
    """Return a box that scrolls sideways where the report is narrow, with the keyboard too."""
    return element("div", content, class_="scroll", role="group", aria_label=label, tabindex=0)
