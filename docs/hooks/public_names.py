"""The public names of rankwise, read from its source and stubs without importing them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import griffe

ROOT = Path(__file__).parents[2]
FAMILIES = ("ap", "auc", "partial_auc", "operating_point", "ndcg", "listwise", "top", "contrastive")

# Page of the reference → its packages. A name that several packages have is described on the page
# that comes first here, under the last of its packages there; the other pages link to it.
PAGES: dict[str, tuple[str, ...]] = {
    "pairs": ("pairs",),
    "lists": ("lists",),
    "metrics": ("metrics",),
    "objectives": ("objectives", *(f"objectives.{family}" for family in FAMILIES)),
    "baselines": ("baselines",),
    "memory": ("memory",),
    "naming": ("naming",),
    "samplers": ("samplers",),
    "distributed": ("distributed",),
    "retrieval": ("retrieval",),
    "estimators": ("estimators",),
    "boosting": ("boosting",),
    "data": ("data", "data.images", "data.detection", "data.interactions", "data.letor"),
    "training": ("training",),
    "serving": ("serving",),
    "vision": ("vision",),
    "text": ("text",),
    "theory": ("theory",),
    "functional": ("functional",),
    "rankwise": ("",),
}


@dataclass(frozen=True)
class Name:
    """A public name and the object behind it.

    Attributes:
        path: Path that a user imports, such as ``rankwise.objectives.ap.SOPRC``.
        page: Page of the reference with its package.
        shown_as: Path under which the object is described, the first of its public paths.
        is_module: Whether it is a package or a module.
        summary: First sentence of its docstring.
    """

    path: str
    page: str
    shown_as: str
    is_module: bool
    summary: str


@cache
def source() -> griffe.Module:
    """The package with its stubs, parsed."""
    loaded = griffe.load(
        "rankwise", search_paths=[ROOT / "src"], resolve_aliases=True, resolve_external=False
    )
    assert isinstance(loaded, griffe.Module)
    return loaded


@cache
def public_names() -> tuple[Name, ...]:
    """Every name of every public package, in the order of the pages and of ``__all__``."""
    found = [
        (page, path, value)
        for page, packages in PAGES.items()
        for package in packages
        for path, value in _exports(package)
    ]
    first: dict[str, str] = {}
    for _, path, value in found:
        first.setdefault(value.canonical_path, path)
    return tuple(
        Name(path, page, first[value.canonical_path], value.is_module, summary(value))
        for page, path, value in found
    )


@cache
def public_paths() -> dict[str, str]:
    """Where the object of each public path, or of its unambiguous last part, is described."""
    paths = {
        module_path(package): module_path(package) for each in PAGES.values() for package in each
    }
    short: dict[str, set[str]] = {}
    for name in public_names():
        paths[name.path] = name.shown_as
        short.setdefault(name.path.rpartition(".")[2], set()).add(name.shown_as)
    return {last: ways.pop() for last, ways in short.items() if len(ways) == 1} | paths


def module_path(package: str) -> str:
    """``"pairs"`` → ``"rankwise.pairs"``; the empty name is rankwise itself."""
    return f"rankwise.{package}" if package else "rankwise"


def summary(value: griffe.Object | griffe.Alias) -> str:
    """The first paragraph of a docstring in one line."""
    text = value.docstring.value if value.docstring else ""
    return " ".join(text.split("\n\n")[0].split())


def _exports(package: str) -> Iterator[tuple[str, griffe.Object | griffe.Alias]]:
    module = source()[package] if package else source()
    for name in module.exports or ():
        yield f"{module.path}.{name}", module.members[str(name)]
