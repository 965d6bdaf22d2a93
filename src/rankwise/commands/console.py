"""Output of the commands: lines, tables and files, progress, and errors in one line."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table as Shown
from rich.text import Text

from rankwise import report
from rankwise.errors import UsageError
from rankwise.extras import missing_module
from rankwise.seals import TABLE_METADATA, sealed

if TYPE_CHECKING:
    import polars as pl

    from rankwise.training import Step

_WIDTH = 100  # columns of a file or a pipe, which have no width of their own


def paper() -> Console:
    """Return the console of standard output."""
    console = Console(emoji=False)
    if console.is_terminal or "COLUMNS" in os.environ:
        return console
    return Console(width=_WIDTH, emoji=False)


def complaints() -> Console:
    """Return the console of standard error."""
    return Console(stderr=True, emoji=False)


def say(lines: Iterable[str], *, error: bool = False, style: str | None = None) -> None:
    """Print lines as they are; of several processes the first one prints."""
    if is_first():
        _print(complaints() if error else paper(), lines, style)


def is_first() -> bool:
    """Whether this is the first, or the only one, of the processes of torchrun or Ray."""
    return os.environ.get("RANK", "0") == "0"


def _print(console: Console, lines: Iterable[str], style: str | None) -> None:
    for line in lines:
        console.print(line, style=style, highlight=False, markup=False, soft_wrap=True)


def refuse(message: str) -> NoReturn:
    """Print one line to standard error and exit with the code of wrong usage."""
    fail(message, code=2)


def fail(message: str, code: int = 1) -> NoReturn:
    """Print one red line to standard error and exit."""
    _print(complaints(), [message], "red")
    raise typer.Exit(code) from None


@contextmanager
def one_line(*, debug: bool, stopped: str = "stopped") -> Iterator[None]:
    """End an error in one line on standard error: 2 for bad input, 1 for a failure or Ctrl-C.

    SIGTERM, by which a cluster ends a job, is treated like Ctrl-C. With ``debug`` the traceback
    stands before the line.
    """
    try:
        with _sigterm_as_ctrl_c():
            yield
    except (typer.Exit, typer.Abort):
        raise
    except KeyboardInterrupt:
        fail(stopped)
    except (SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a panic of polars is not an Exception
        if debug:
            say([traceback.format_exc()], error=True)
        if isinstance(error, ModuleNotFoundError) and missing_module(error) is not None:
            raise  # the command names it, and the extra that has it
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            file = error.filename or "a file"
            fail(f"the disk is full: {file} could not be written; free space and run it again")
        if isinstance(error, RuntimeError) and str(error).startswith("DataLoader worker"):
            fail(
                "a process that loads images was killed, often because the memory was full; run "
                "the command again with fewer --workers (a training with --resume, too)"
            )
        bad_input = isinstance(error, UsageError)
        words = str(error) if bad_input else f"{type(error).__name__}: {error}"
        hint = "" if bad_input or debug else "; --debug shows where"
        fail(" ".join(words.split()) + hint, code=2 if bad_input else 1)


@contextmanager
def _sigterm_as_ctrl_c() -> Iterator[None]:
    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # only it can be signaled
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def progress_bar(before: str, after: str, time: ProgressColumn) -> Progress:
    """Return a bar between two texts on the terminal of standard error; a pipe gets no line."""
    columns = (TextColumn(before), BarColumn(), TextColumn(after), time)
    console = complaints()
    shown = console.is_terminal and is_first()
    return Progress(*columns, console=console, transient=True, disable=not shown)


@contextmanager
def steps_shown(
    before: str, after: str, steps: int | None = None
) -> Iterator[Callable[[Step], None]]:
    """Show a bar over the steps of a training, or of each epoch; yield the function that moves it.

    The texts may have the fields ``epoch``, ``loss`` and ``value``, that of the last validation.
    """
    time = TimeElapsedColumn() if steps is None else TimeRemainingColumn()
    with progress_bar(before, after, time) as progress:
        bar = progress.add_task("", total=steps, epoch=1, loss="–", value="–")

        def advance(step: Step) -> None:
            epoch = step.step_of_epoch, step.steps_of_epoch
            done, total = epoch if steps is None else (step.step, steps)
            loss, value = f"{step.loss:.4f}", f"{step.value:.4f}".replace("nan", "–")
            progress.update(
                bar, completed=done, total=total, epoch=step.epoch, loss=loss, value=value
            )

        yield advance


def show(
    table: report.Table,
    *,
    title: str | None = None,
    words: Iterable[str] = (),
    styles: Mapping[int, str] | None = None,
) -> None:
    """Print a table; its first column and those of ``words`` are to the left, and may fold.

    ``styles`` has the styles of some rows, by number. Columns are two spaces apart, or one where
    the console is too narrow for that.
    """
    console = paper()
    shown = Shown(title=title, box=SIMPLE_HEAD, padding=0, pad_edge=False)
    for number, name in enumerate(table.header):
        if number == 0 or name in words:
            shown.add_column(name, overflow="fold")
        else:  # a value cut short would be another value
            widest = max((len(str(row[number])) for row in table.rows), default=0)
            shown.add_column(name, justify="right", no_wrap=True, min_width=widest)
    for number, row in enumerate(table.rows):
        shown.add_row(*(Text(str(cell)) for cell in row), style=(styles or {}).get(number))
    unlimited = console.options.update(max_width=10_000)
    width = Measurement.get(console, unlimited, shown).maximum + len(table.header) - 1
    if width <= console.width:
        shown.padding = (0, 1, 0, 0)
    console.print(shown)
    say([table.caption] if table.caption else [])


def write_frame(frame: pl.DataFrame, out: Path | None) -> None:
    """Write rows to a file, .parquet or else csv; print them as csv without one."""
    buffer = io.BytesIO()
    if out is not None and out.suffix.lower() in (".parquet", ".pq"):
        frame.write_parquet(buffer, metadata=TABLE_METADATA)
    else:
        for name, kind in frame.schema.items():
            if kind.is_nested() or str(kind) == "Binary":
                raise UsageError(
                    f"cannot write the column {name!r} of {kind} as csv; write parquet "
                    "(--out scores.parquet), or leave the column out"
                )
        frame.write_csv(buffer)
    if out is None:
        sys.stdout.write(buffer.getvalue().decode())
    else:
        from rankwise.files import write_table  # noqa: PLC0415  (numpy, which help does without)

        content = buffer.getvalue()
        write_table(out, sealed(content) if content.startswith(b"PAR1") else content)


def require_folder(out: Path, option: str = "--out") -> None:
    """Refuse what cannot become a folder with files in it; nothing is left behind."""
    try:
        above = (out, *out.absolute().parents)
        there = next(path for path in above if path.exists() or path.is_symlink())
        if not there.is_dir():
            refuse(f"{option} must be a folder, got {out}: {there} is none")
        # What the permissions say is not all: a file system may be read-only, or not of files.
        with tempfile.TemporaryDirectory(dir=there, prefix=".rankwise."):
            pass
    except OSError as error:
        refuse(f"{option} must be a folder that can be written into, got {out}: {error.strerror}")


def require_other(option: str, out: Path | None, *inputs: Path | None) -> None:
    """Refuse a file to write that is, by whatever name, one that is read."""
    for path in inputs:
        with suppress(OSError):  # one is not there
            if out is not None and path is not None and out.samefile(path):
                refuse(f"{option} must be another file than {path}, which is read, got {out}")
