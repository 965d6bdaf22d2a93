"""``make demo``: ``rankwise compare`` on a real table with a rare class.

Which collisions with wildlife damage an aircraft substantially? README.md next to this file says
where the table is from. Whatever the comparison finds is printed, also where log-loss wins.
"""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from rankwise.cli import app
from rankwise.commands.console import paper

__all__ = ["DATA", "arguments", "main"]

DATA = Path(__file__).with_name("bird_strikes.csv.gz")
OUT = Path("runs") / "demo"
BUDGET = "60s"


def arguments(out: Path = OUT, budget: str = BUDGET) -> list[str]:
    """What the demo hands to ``rankwise``."""
    here = Path.cwd()
    data = DATA.relative_to(here) if DATA.is_relative_to(here) else DATA
    asked = ["--target", "damage", "--positive", "Substantial", "--metric", "ap"]
    return ["compare", str(data), *asked, "--budget", budget, "--out", str(out)]


def main(out: Path = OUT, budget: str = BUDGET) -> None:
    """Show the command and run it; an earlier demo's run makes way."""
    if (out / "config.json").exists():
        shutil.rmtree(out)
    given = arguments(out, budget)
    line = shlex.join(["rankwise", *given])
    paper().print(f"$ {line}", highlight=False, markup=False, soft_wrap=True)
    app(given)
