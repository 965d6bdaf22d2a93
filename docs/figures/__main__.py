"""Draw the figures of the site: ``python -m docs.figures [name …]`` writes docs/images/*.svg."""

from __future__ import annotations

import sys

from docs.figures import FOLDER, load_all, svg

if __name__ == "__main__":
    every = load_all()
    for name in sys.argv[1:] or every:
        text = svg(name)
        (FOLDER / f"{name}.svg").write_text(text)
        print(f"{name}: {len(text) / 1000:.0f} kB")
