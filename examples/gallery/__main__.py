"""``make gallery``: execute the notebooks, run the examples, write their figures for the docs.

``python -m examples.gallery 01_first_loss plain_loop`` does some of them.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import nbformat
from examples.gallery import notebooks, scripts

FIGURES = Path(__file__).parents[2] / "docs" / "images" / "gallery"


def main(names: list[str]) -> int:
    """Do those named, or all of them."""
    known = [path.stem for path in (*notebooks.SCRIPTS, *scripts.SCRIPTS)]
    if unknown := [name for name in names if name not in known]:
        print(f"no such example: {' '.join(unknown)}; there are {', '.join(known)}")
        return 2
    FIGURES.mkdir(parents=True, exist_ok=True)
    for path in (*notebooks.SCRIPTS, *scripts.SCRIPTS):
        if names and path.stem not in names:
            continue
        start = time.perf_counter()
        if path in notebooks.SCRIPTS:
            notebook = notebooks.execute(path)
            figure = notebooks.figures(notebook)[-1]
            nbformat.write(notebook, path.with_suffix(".ipynb"))
        else:
            figure = scripts.draw(*scripts.load(path).main())
        (FIGURES / f"{path.stem}.png").write_bytes(figure)
        print(f"{path.stem}: {time.perf_counter() - start:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
