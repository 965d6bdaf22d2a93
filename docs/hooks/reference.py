"""Pages of the API reference: the docstring of a package, a table of its names, each name."""

from __future__ import annotations

from collections.abc import Iterator

from docs.hooks.docstrings import with_links
from docs.hooks.public_names import PAGES, Name, module_path, public_names

# The search shows an objective before the theorems that have its name.
_BOOST = {"objectives": 4, "metrics": 4, "pairs": 2, "baselines": 2, "theory": 0.2}


def reference_pages() -> Iterator[tuple[str, str]]:
    """Yield the path of every page and its text, for mkdocstrings to fill in."""
    home = {name.shown_as: name for name in public_names() if name.page == _page_of(name)}
    for page, packages in PAGES.items():
        sections = [_section(package, package == packages[0], home) for package in packages]
        yield f"reference/{page}.md", "\n\n".join([_matter(page, packages[0]), *sections]) + "\n"
    yield "reference/index.md", _index()


def _matter(page: str, package: str) -> str:
    return f"---\ntitle: {module_path(package)}\nsearch: {{boost: {_BOOST.get(page, 1)}}}\n---"


def _page_of(name: Name) -> str:
    return next(other.page for other in public_names() if other.path == name.shown_as)


def _section(package: str, first: bool, home: dict[str, Name]) -> str:
    path, level = module_path(package), 1 if first else 2
    names = [name for name in public_names() if name.path.rpartition(".")[0] == path]
    own = [name for name in names if home[name.shown_as] == name and not name.is_module]
    return "\n\n".join(
        [
            _entry(path, level, members=False),
            _table(names),
            *(_entry(name.shown_as, level + 1) for name in own),
        ]
    )


def _entry(path: str, level: int, *, members: bool = True) -> str:
    options = [f"heading_level: {level}"]
    if not members:
        options += ["members: false", "show_root_full_path: true"]
    return f"::: {path}\n    options:\n" + "".join(f"      {option}\n" for option in options)


def _table(names: list[Name]) -> str:
    return "\n".join(["| name | description |", "|---|---|", *map(_row, names)])


def _row(name: Name) -> str:
    # A second path of an object has its anchor here, next to the link to the description.
    anchor = "" if name.shown_as == name.path else f'<span id="{name.path}"></span>'
    described = with_links(name.summary).replace("|", "\\|")
    return f"| {anchor}{_link(name)} | {described} |"


def _link(name: Name) -> str:
    return f"[`{name.path.rpartition('.')[2]}`][{name.shown_as}]"


def _index() -> str:
    lines = [
        "# API reference",
        "",
        "Every public name, by package. The search finds names, too. The program has a page of its "
        "own: [Command line](commands.md).",
        "",
    ]
    for page, packages in PAGES.items():
        for package in packages:
            path = module_path(package)
            names = [name for name in public_names() if name.path.rpartition(".")[0] == path]
            if package == packages[0]:
                lines += [f"## [{path}]({page}.md)", ""]
            else:
                lines += [f"### [{path}][]", ""]
            lines += [", ".join(map(_link, names)), ""]
    return "\n".join(lines)
