"""Options of ``rankwise evaluate`` that exclude or need each other."""

from __future__ import annotations

from collections.abc import Mapping
from glob import glob
from pathlib import Path

from rankwise.commands.console import refuse
from rankwise.commands.options import CORRECTIONS
from rankwise.tasks import compare as task  # its modules are imported where they are used


def require_no_table_options(
    run: Path, own: Mapping[str, object], by: list[str] | None, memory: str, correction: str | None
) -> None:
    """Refuse options of a table where the folder of a run is evaluated."""
    given = [f"--{name}" for name, value in own.items() if value is not None]
    if given:
        refuse(f"{', '.join(given)}: only for a table; the run in {run} has its own")
    if by:
        refuse(
            "--by: only for a table; write the test rows of the run with rankwise predict "
            f"{run} --part test --keep all --out test.csv and evaluate that file"
        )
    for option, is_given in (("--memory", memory != "auto"), ("--correction", correction)):
        if is_given:
            refuse(f"{option}: only for a table")


def require_daily_rule(rules: list[str], options: Mapping[str, object]) -> None:
    """Refuse options that only a rule of alerts per day reads."""
    given = [name for name, value in options.items() if value is not None]
    if not given:
        return
    from rankwise.tasks.compare.operating import is_daily  # noqa: PLC0415  (it imports torch)

    if not any(map(is_daily, rules)):
        refuse(
            f"{', '.join(given)}: only for rules of alerts per day, such as --threshold "
            "'alerts<=200/day'; add one, or leave it out"
        )


def require_correction(correction: str | None, systems: int, group: str | None) -> None:
    """Refuse a correction that is unknown, or that would not be used."""
    if correction is None:
        return
    if correction not in CORRECTIONS:
        refuse(f"--correction must be one of {', '.join(CORRECTIONS)}, got {correction!r}")
    if systems < 2:
        refuse("--correction is for several --score, got one; leave it out")
    if group is None and correction != "holm":
        refuse(
            f"--correction {correction} is for lists: name them with --group, or leave it out for "
            "Holm's method"
        )


def bounded_because(
    files: list[Path], counted: list[Path], memory: str, save: Path | None
) -> str | None:
    """Return what asks for counts in bounded memory, None where nothing does."""
    if memory not in ("auto", "all", "bounded"):
        refuse(f"--memory must be auto, all or bounded, got {memory!r}")
    if save is not None and save.suffix != task.HISTOGRAM:
        refuse(f"--save-histogram must be a file *{task.HISTOGRAM}, got {save}")
    asked = {
        "several files": len(files) > 1,
        "a file of counts": bool(counted),
        "--save-histogram": save is not None,
        "--memory bounded": memory == "bounded",
    }
    needs = next((name for name, true in asked.items() if true), None)
    if needs and memory == "all":
        verb = "are" if needs == "several files" else "is"
        refuse(f"{needs} {verb} evaluated in bounded memory; leave out --memory all")
    return needs


def files_of(scores: list[Path]) -> list[Path]:
    """Return the files of names and patterns, such as days/*.parquet."""
    found: list[Path] = []
    for path in scores:
        if path.is_dir():
            refuse(f"{path}: is a folder; name its files, such as '{path}/*.parquet'")
        # Patterns in quotes: a shell gives up where there are too many files.
        named = [path] if path.exists() else sorted(map(Path, glob(str(path), recursive=True)))
        if not named:
            refuse(f"{path}: there is no such file")
        found += named
    if twice := [path for path in found if found.count(path) > 1]:
        refuse(f"{twice[0]}: is named twice; its rows would count twice")
    return found
