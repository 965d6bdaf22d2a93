"""Options and arguments that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from rankwise._grammar import split_names
from rankwise.errors import UsageError
from rankwise.settings import MAX_SEED

Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Seed = Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Random seed.")]
Out = Annotated[Path, typer.Option(help="Output folder of the run.")]
Resume = Annotated[bool, typer.Option("--resume", help="Resume the run in the output folder.")]
Run = Annotated[Path, typer.Argument(help="Folder of a finished run.")]
Config = Annotated[
    Path | None,
    typer.Option("--config", help="YAML file of settings; options override it (see `config`)."),
]
Source = Annotated[
    str | None, typer.Argument(help="YAML file or name of a configuration. Default: the defaults.")
]
Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        help="Train on a Ray cluster: workers=N, address=auto or HOST:PORT (default: a cluster on "
        "this machine), storage=PATH or URL for a copy of the run; separated by commas.",
    ),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Allow settings and saved runs to import objectives of the form module:object.",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        min=1,
        help="Number of CPU threads of torch. Default: that of the resumed run, else "
        "OMP_NUM_THREADS, else 4 or the number of cores if smaller.",
    ),
]
Deterministic = Annotated[
    bool,
    typer.Option("--deterministic", help="Use only deterministic algorithms of torch, or fail."),
]
Track = Annotated[
    list[str] | None,
    typer.Option(
        "--track",
        help="Experiment tracker: mlflow, wandb or tensorboard, with a target after a colon "
        "(tracking URI, project, folder) if it is not the default one; may be repeated.",
    ),
]
Schema = Annotated[bool, typer.Option("--schema", help="Print the JSON schema, for editors.")]

# How the p-values of several systems are adjusted: the words of rankwise.metrics.compare_many.
CORRECTIONS: dict[str, Literal["randomized-tukey", "tukey-hsd", "holm"]] = {
    "randomized-tukey": "randomized-tukey",
    "tukey-hsd": "tukey-hsd",
    "holm": "holm",
}


def names_of(option: str, text: str) -> list[str]:
    """Split names at the commas outside of parentheses."""
    found = [name for name in split_names(text) if name]
    if not found:
        raise UsageError(f"--{option} must name at least one, separated by commas, got {text!r}")
    return found
