"""The Typer that ``rankwise`` and its groups are made of, and the options of their commands."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from functools import wraps
from operator import or_
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from rankwise._grammar import split_names
from rankwise.commands.console import one_line, refuse, say
from rankwise.commands.panels import group_options
from rankwise.errors import UsageError
from rankwise.extras import COMMANDS, missing, missing_module, sentence
from rankwise.naming.registry import REGISTRY
from rankwise.settings import MAX_SEED, Section, TaskSettings, without_bounds

_Function = TypeVar("_Function", bound=Callable[..., None])

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
        "--trust", help="Import objectives of the form module:object in a file or a saved run."
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


class _Flags:
    """Typer shows ``<bool>`` after a flag, as if it took a value, unless its metavar is empty.

    The options of a command that has many are shown in panels.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]  # of the other base
        for param in params:
            if getattr(param, "is_flag", False) and param.metavar is None:
                param.metavar = ""
        group_options(params)
        return params


class Command(_Flags, TyperCommand):
    """A command that names the packages it misses, and shows its flags as flags."""

    def invoke(self, ctx: Any) -> object:
        # The word after rankwise: the group of a command, or the command itself.
        name = next((word for word in ctx.command_path.split() if word in COMMANDS), ctx.info_name)
        absent = missing(COMMANDS[name][1] if name in COMMANDS else ())
        if absent:
            refuse(sentence(f"rankwise {name}", absent))
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:  # of an option that needs more
            module = missing_module(error)
            if module is None:
                raise
            refuse(sentence(f"rankwise {name}", [module]))


class _Group(_Flags, TyperGroup):
    """A group of commands that shows its flags as flags."""


class App(typer.Typer):
    """A ``typer.Typer`` whose commands and groups are the two above."""

    def __init__(self, **options: Any) -> None:
        settings = {"add_completion": False, "pretty_exceptions_enable": False} | options
        super().__init__(cls=_Group, no_args_is_help=True, **settings)

    def command(
        self,
        name: str | None = None,
        *,
        stopped: str = "stopped",
        trains: bool = False,
        **options: Any,
    ) -> Callable[[_Function], _Function]:
        """Add a command with the options of its settings (:func:`with_options`)."""
        add = super().command(name, **{"cls": Command, **options})

        def decorate(function: _Function) -> _Function:
            add(with_options(function, stopped, trains=trains))
            return function

        return decorate


def add_config(app: typer.Typer, load: Callable[[], type[TaskSettings]]) -> None:
    """Add ``config`` to a group of commands; ``load`` imports the settings."""

    @app.command()
    def config(source: Source = None, schema: Schema = False) -> None:
        """Print all settings with their descriptions as YAML, to edit and pass to train."""
        kind = load()
        if schema:
            typer.echo(json.dumps(kind.json_schema(), indent=2, ensure_ascii=False))
        else:
            found = kind.defaults() if source is None else kind.read(source)
            typer.echo(found.documented(), nl=False)


def with_options(
    command: Callable[..., None], stopped: str, *, trains: bool = False
) -> Callable[..., None]:
    """Return a command with ``--debug``, and an option for every setting of its settings.

    Parameters that are settings are replaced; the other parameters of the command replace the
    option of their name, and have their help in the docstring if they are not ``Annotated``.
    :class:`TaskSettings` can also be read from ``--config``. Errors end the command in one line,
    and Ctrl-C in the line ``stopped``. A command that ``trains`` into ``--out``, with ``--resume``,
    also has ``--threads``, ``--deterministic``, ``--ray`` and ``--track``.
    """
    own = inspect.signature(command, eval_str=True).parameters
    about, described = _docstring(command)
    kinds = {name: param.annotation for name, param in own.items() if _is_section(param)}
    params: list[inspect.Parameter] = []
    for name, param in own.items():
        if name not in kinds:
            shown = _described(param, described[name]) if name in described else param
            params.append(shown.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        params += [
            _option(kinds[name], field)
            for field, info in kinds[name].model_fields.items()
            if field not in own and get_origin(info.annotation) is not dict
        ]
    if any(issubclass(kind, TaskSettings) for kind in kinds.values()):
        params.append(_parameter("config", Config, None))
    if trains:
        params.append(_parameter("threads", Threads, None))
        params.append(_parameter("deterministic", Deterministic, False))
        params.append(_parameter("ray", Ray, None))
        params.append(_parameter("track", Track, None))
    names_in_files = "config" in (param.name for param in params) or {"resume", "run"} & own.keys()
    if names_in_files:
        params.append(_parameter("trust", Trust, False))
    context = _parameter("context", typer.Context, inspect.Parameter.empty)
    params += [_parameter("debug", Debug, False), context]

    @wraps(command)
    def run(*, context: typer.Context, debug: bool, **given: object) -> None:
        with one_line(debug=debug, stopped=stopped):
            REGISTRY.trusts_files = bool(given.get("trust"))
            REGISTRY.trust(_typed(context, given))
            made: dict[str, object] = {}
            for parameter, kind in kinds.items():
                file = given.get("config") if issubclass(kind, TaskSettings) else None
                values = {}
                for name in kind.model_fields.keys() & given.keys():
                    source = context.get_parameter_source(name)
                    if file is None or getattr(source, "name", "") != "DEFAULT":
                        values[name] = _value(kind, name, given[name])
                made[parameter] = kind(**values) if file is None else kind.read(file, values=values)
            asked = made | {name: value for name, value in given.items() if name in own}
            if not trains:
                command(**asked)
                return
            call = _Call(command, asked, given["threads"], given["deterministic"], given["track"])
            if given["ray"] is not None:
                _train_on_ray(call, str(given["ray"]))
            else:
                call.train()

    run.__doc__ = about
    run.__signature__ = inspect.Signature(params)  # type: ignore[attr-defined]
    run.__annotations__ = {param.name: param.annotation for param in params}
    return run


def _typed(context: typer.Context, given: dict[str, object]) -> list[object]:
    """Return the values that were typed, those of options that may be repeated one by one."""
    typed = [
        value
        for name, value in given.items()
        if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    ]
    return [each for value in typed for each in (value if isinstance(value, list) else [value])]


def _train_on_ray(call: _Call, text: str) -> None:
    """Call a command in every worker of a Ray cluster."""
    from rankwise.training.cluster import Cluster, train_on  # noqa: PLC0415  (torch)

    asked = call.asked
    out = asked["out"] = asked["out"].absolute()
    train_on(Cluster.parse(text), call, out, resume=asked["resume"])
    say([str(out)])


class _Call:
    """A call of a command that trains, which may be sent to other processes."""

    def __init__(
        self,
        command: Callable[..., None],
        asked: dict[str, Any],
        threads: object = None,
        deterministic: object = False,
        track: Any = None,
    ) -> None:
        self.track: list[str] = track or []
        self.command, self.asked = command, asked
        self.typed, self.trusts_files = REGISTRY.typed, REGISTRY.trusts_files
        self.options: dict[str, Any] = {"threads": threads, "deterministic": deterministic}

    def train(self, **changed: object) -> None:
        """Train with the threads that were asked for, or those of the run that is resumed."""
        from rankwise.training import reproducible, tracking  # noqa: PLC0415  (torch)

        asked = self.asked | changed
        with reproducible(asked["out"], resume=bool(asked["resume"]), **self.options) as said:
            say([] if said is None else [said], error=True)
            with tracking(self.track, asked["out"]):
                self.command(**asked)

    def __call__(self, resume: bool) -> None:
        REGISTRY.trust(self.typed)
        REGISTRY.trusts_files = self.trusts_files
        try:
            self.train(resume=resume)
        except typer.Exit as ended:  # after a line that says why
            if ended.exit_code:
                raise UsageError("a worker has ended with the line above") from None


def names_of(option: str, text: str) -> list[str]:
    """Split names at the commas outside of parentheses."""
    found = [name for name in split_names(text) if name]
    if not found:
        raise UsageError(f"--{option} must name at least one, separated by commas, got {text!r}")
    return found


def _is_section(param: inspect.Parameter) -> bool:
    return isinstance(param.annotation, type) and issubclass(param.annotation, Section)


def _docstring(command: Callable[..., None]) -> tuple[str, dict[str, str]]:
    """Return the docstring of a command without its arguments, and what it says of each."""
    about, _, listed = inspect.cleandoc(command.__doc__ or "").partition("\n\nArgs:")
    entries = (" ".join(entry.split()) for entry in re.split(r"\n    (?=\w)", listed)[1:])
    return about, {name: text for name, _, text in (each.partition(": ") for each in entries)}


def _described(param: inspect.Parameter, text: str) -> inspect.Parameter:
    """Return a parameter with its help: an argument, or an option where it has a default."""
    shown = typer.Argument(help=text)
    if param.default is not inspect.Parameter.empty:
        # A flag has one name: without it there would be a --no- as well.
        flag = [f"--{param.name.replace('_', '-')}"] if param.annotation is bool else []
        shown = typer.Option(*flag, help=text)
    return param.replace(annotation=Annotated[param.annotation, shown])


def _parameter(name: str, annotation: object, default: object) -> inspect.Parameter:
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, default=default, annotation=annotation)


def _option(kind: type[Section], name: str) -> inspect.Parameter:
    """Return the option of a setting: its type, default and description."""
    field = kind.model_fields[name]
    bare, default = without_bounds(field.annotation), field.default
    if get_origin(bare) is Literal:
        bare = str
    elif get_origin(bare) is tuple and get_args(bare)[0] is str:
        bare, default = list[str], None
    elif get_origin(bare) is tuple:
        bare, default = str, ",".join(map(str, default))
    annotation = bare if default is not None else or_(bare, None)
    return _parameter(name, Annotated[annotation, typer.Option(help=field.description)], default)


def _value(kind: type[Section], name: str, value: object) -> object:
    """Return what was given for a setting: lists of numbers are separated by commas."""
    bare = without_bounds(kind.model_fields[name].annotation)
    if get_origin(bare) is tuple and value is None:
        return ()
    if get_origin(bare) is tuple and isinstance(value, str):
        try:
            if "_" in value:  # a number of Python alone
                raise ValueError(value)
            return tuple(int(part) for part in value.split(",") if part.strip())
        except ValueError:
            raise UsageError(
                f"--{name} must be whole numbers separated by commas, got {value!r}"
            ) from None
    return value
