"""Options that several commands have, and those that a command has from its settings."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from functools import wraps
from operator import or_
from pathlib import Path
from typing import Annotated, Literal, TypeVar, get_args, get_origin

import typer

from rankwise.commands.shared import one_line
from rankwise.errors import UsageError
from rankwise.settings import TaskSettings, without_bounds

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
Schema = Annotated[bool, typer.Option("--schema", help="Print the JSON schema, for editors.")]

Chosen = TypeVar("Chosen", bound=TaskSettings)


def add_config(app: typer.Typer, load: Callable[[], type[TaskSettings]]) -> None:
    """Add ``config`` to a group of commands; ``load`` imports the settings."""

    @app.command()
    def config(source: Source = None, schema: Schema = False) -> None:
        """Print all settings with their descriptions as YAML, to edit and pass to train."""
        with one_line(debug=False):
            kind = load()
            if schema:
                typer.echo(json.dumps(kind.json_schema(), indent=2, ensure_ascii=False))
            else:
                found = kind.defaults() if source is None else kind.read(source)
                typer.echo(found.documented(), nl=False)


def takes_settings(
    kind: type[Chosen], *, stopped: str = "stopped"
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command an option for every setting; the command gets them as ``settings``.

    Parameters that the command has itself under the name of a setting replace the option. Errors
    end the command in one line, and Ctrl-C in the line ``stopped``.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True).parameters
        params: list[inspect.Parameter] = []
        for name, param in own.items():
            if name != "settings":
                params.append(param.replace(kind=inspect.Parameter.KEYWORD_ONLY))
                continue
            params += [
                _option(kind, field)
                for field in kind.model_fields
                if field not in own and not _is_mapping(kind, field)
            ]
        params.append(_parameter("config", Config, None))
        params.append(_parameter("context", typer.Context, inspect.Parameter.empty))

        @wraps(command)
        def run(
            *, context: typer.Context, config: Path | None, debug: bool, **given: object
        ) -> None:
            with one_line(debug=debug, stopped=stopped):
                values = {}
                for name in kind.model_fields.keys() & given.keys():
                    source = context.get_parameter_source(name)
                    if config is None or getattr(source, "name", "") != "DEFAULT":
                        values[name] = _value(kind, name, given[name])
                rest = {name: value for name, value in given.items() if name in own}
                rest |= {"debug": debug} if "debug" in own else {}
                command(settings=_settings(kind, config, values), **rest)

        run.__signature__ = inspect.Signature(params)  # type: ignore[attr-defined]
        run.__annotations__ = {param.name: param.annotation for param in params}
        return run

    return decorate


def _settings(kind: type[Chosen], config: Path | None, values: Mapping[str, object]) -> Chosen:
    return kind(**values) if config is None else kind.read(config, values=values)


def _parameter(name: str, annotation: object, default: object) -> inspect.Parameter:
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, default=default, annotation=annotation)


def _is_mapping(kind: type[TaskSettings], name: str) -> bool:
    return get_origin(kind.model_fields[name].annotation) is dict


def _option(kind: type[TaskSettings], name: str) -> inspect.Parameter:
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


def _value(kind: type[TaskSettings], name: str, value: object) -> object:
    """Return what was given for a setting: lists of numbers are separated by commas."""
    bare = without_bounds(kind.model_fields[name].annotation)
    if get_origin(bare) is tuple and value is None:
        return ()
    if get_origin(bare) is tuple and isinstance(value, str):
        try:
            return tuple(int(part) for part in value.split(",") if part.strip())
        except ValueError:
            raise UsageError(
                f"--{name} must be whole numbers separated by commas, got {value!r}"
            ) from None
    return value
