"""Names of public objects come first in the search, even common words such as ``Mean``.

A tag outweighs all text. The search also matches beginnings of words, so a name that begins with
another name, as ``mean_of`` does with ``Mean``, has no tag; its title is enough. A name that only
one object has is as strong as the strongest page; others keep the order of their pages
(docs/hooks/reference.py).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Container
from pathlib import Path

from docs.hooks.public_names import public_names

_STRONGEST = 4


def tag_names(site: Path) -> None:
    """Rewrite the index of a built site."""
    path = site / "search" / "search_index.json"
    index = json.loads(path.read_text())
    names = {each.shown_as: each.shown_as.rpartition(".")[2] for each in public_names()}
    count = Counter(name.lower() for name in names.values())
    for entry in index["docs"]:
        name = names.get(entry["location"].partition("#")[2])
        if name is not None and not _begins_with_another(name.lower(), count):
            entry["tags"] = [name]
            if count[name.lower()] == 1:
                entry["boost"] = _STRONGEST
    path.write_text(json.dumps(index, sort_keys=True, separators=(",", ":")))


def _begins_with_another(name: str, names: Container[str]) -> bool:
    return any(name[:end] in names for end in range(1, len(name)))
