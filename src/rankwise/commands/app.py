"""The Typer that ``rankwise`` and its groups are made of."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from rankwise.commands.console import one_line, refuse, say
from rankwise.commands.options import (
    Config,
    Debug,
    Deterministic,
    Ray,
    Schema,
    Source,
    Threads,
    Track,
    Trust,
)
from rankwise.commands.panels import group_options
from rankwise.commands.signatures import (
    is_section,
    keyword_parameter,
    option_of,
    read_docstring,
    value_of,
    with_help,
)
from rankwise.errors import UsageError
from rankwise.extras import COMMANDS, missing, missing_module, sentence
from rankwise.naming.registry import REGISTRY
from rankwise.settings import TaskSettings

_Function = TypeVar("_Function", bound=Callable[..., None])


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
    about, described = read_docstring(command)
    kinds = {name: param.annotation for name, param in own.items() if is_section(param)}
    params: list[inspect.Parameter] = []
    for name, param in own.items():
        if name not in kinds:
            shown = with_help(param, described[name]) if name in described else param
            params.append(shown.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        params += [
            option_of(kinds[name], field)
            for field, info in kinds[name].model_fields.items()
            if field not in own and get_origin(info.annotation) is not dict
        ]
    if any(issubclass(kind, TaskSettings) for kind in kinds.values()):
        params.append(keyword_parameter("config", Config, None))
    if trains:
        params.append(keyword_parameter("threads", Threads, None))
        params.append(keyword_parameter("deterministic", Deterministic, False))
        params.append(keyword_parameter("ray", Ray, None))
        params.append(keyword_parameter("track", Track, None))
    names_in_files = "config" in (param.name for param in params) or {"resume", "run"} & own.keys()
    if names_in_files:
        params.append(keyword_parameter("trust", Trust, False))
    context = keyword_parameter("context", typer.Context, inspect.Parameter.empty)
    params += [keyword_parameter("debug", Debug, False), context]

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
                        values[name] = value_of(kind, name, given[name])
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
