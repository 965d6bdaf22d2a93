"""``rankwise`` and ``python -m rankwise``."""

from __future__ import annotations

import sys

from rankwise.extras import missing, sentence


def main() -> None:
    """Run the command line, or print what it needs where only the core is installed."""
    absent = missing(("typer", "rich", "pydantic"))
    if absent:
        print(sentence("rankwise", absent), file=sys.stderr)
        raise SystemExit(2)
    from rankwise.cli import main as run  # noqa: PLC0415  (needs them)

    run()


if __name__ == "__main__":
    main()
