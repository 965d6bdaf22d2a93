"""``rankwise demo``: three losses on the same images, then ``rankwise compare`` on a real table.

README.md next to this file says where the data are from and how the settings were chosen. Whatever
a run finds is printed, also where another loss wins.
"""

from __future__ import annotations

import shlex
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import TimeElapsedColumn

from rankwise.commands.compare import compare
from rankwise.commands.console import complaints, progress_bar, require_folder, say
from rankwise.commands.options import Out, Seed
from rankwise.errors import UsageError

if TYPE_CHECKING:
    from rankwise.demo.race import Race

__all__ = ["demo"]


def demo(out: Out = Path("runs") / "demo", quick: bool = False, seed: Seed = 0) -> None:
    """Train three losses on images, compare models on a table, and write one report.

    The data come with the package. It takes less than three minutes on two cores.

    Args:
        quick: Train for a few steps only, to see what the demo does.
    """
    # Here, so that the other commands do not wait for them.
    from rankwise.demo import table  # noqa: PLC0415
    from rankwise.demo.report import lines, write_report  # noqa: PLC0415
    from rankwise.training import RunFolder  # noqa: PLC0415

    require_folder(out)
    make_room(out)
    with RunFolder(out, "demo").opened() as folder:
        race = _raced(quick, seed)
        began, asked = time.process_time(), table.options(quick, seed)
        command = shlex.join(table.command(asked, out / "table"))
        say(["", f"$ {command}"])
        compare(table.DATA, table.settings(asked), str(asked["budget"]), out / "table")
        found = table.read(out / "table")
        took = {"images": race.seconds, "table": time.process_time() - began}
        report = write_report(out, race, found, command, took)
        folder.finish()
    say(["", *lines(race, found, report)])


def make_room(out: Path) -> None:
    """Remove an earlier demo; raise where a folder holds something else."""
    from rankwise.training import command_of, is_empty  # noqa: PLC0415

    if command_of(out) == "demo":
        shutil.rmtree(out)
    elif out.exists() and not is_empty(out):
        raise UsageError(f"{out} exists and holds no demo; pass another folder with --out")


def _raced(quick: bool, seed: int) -> Race:
    """Train the three networks with a bar for each, or a line for each look without a terminal."""
    from rankwise.demo.characters import read_characters  # noqa: PLC0415
    from rankwise.demo.race import LOSSES, QUICK, Size, run  # noqa: PLC0415

    size, splits = QUICK if quick else Size(), read_characters()
    say([splits.train.describe(), splits.test.describe()])
    after = "{task.completed}/{task.total} steps, mAP {task.fields[value]}"
    width = max(len(loss.name) for loss in LOSSES)
    with progress_bar("{task.description}", after, TimeElapsedColumn()) as progress:
        bars = [
            progress.add_task(loss.name.ljust(width), total=size.steps, value="–")
            for loss in LOSSES
        ]

        def on_step(loss: int, step: int) -> None:
            progress.update(bars[loss], completed=step)

        def on_look(step: int, values: list[float]) -> None:
            for bar, value in zip(bars, values, strict=True):
                progress.update(bar, value=f"{value:.3f}")
            if not complaints().is_terminal:
                shown = ", ".join(
                    f"{loss.name} {value:.3f}" for loss, value in zip(LOSSES, values, strict=True)
                )
                say([f"step {step}/{size.steps}: mAP {shown}"], error=True)

        return run(splits, size, seed, on_step=on_step, on_look=on_look)
