"""The options of a command: those of its settings, and help from its docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from operator import or_
from typing import Annotated, Literal, get_args, get_origin

import typer

from rankwise.errors import UsageError
from rankwise.settings import Section, without_bounds


def is_section(param: inspect.Parameter) -> bool:
    """Return whether a parameter stands for the settings of a section."""
    return isinstance(param.annotation, type) and issubclass(param.annotation, Section)


def read_docstring(command: Callable[..., None]) -> tuple[str, dict[str, str]]:
    """Return the docstring of a command without its arguments, and what it says of each."""
    about, _, listed = inspect.cleandoc(command.__doc__ or "").partition("\n\nArgs:")
    entries = (" ".join(entry.split()) for entry in re.split(r"\n    (?=\w)", listed)[1:])
    return about, {name: text for name, _, text in (each.partition(": ") for each in entries)}


def with_help(param: inspect.Parameter, text: str) -> inspect.Parameter:
    """Return a parameter with its help: an argument, or an option where it has a default."""
    shown = typer.Argument(help=text)
    if param.default is not inspect.Parameter.empty:
        # A flag has one name: without it there would be a --no- as well.
        flag = [f"--{param.name.replace('_', '-')}"] if param.annotation is bool else []
        shown = typer.Option(*flag, help=text)
    return param.replace(annotation=Annotated[param.annotation, shown])


def keyword_parameter(name: str, annotation: object, default: object) -> inspect.Parameter:
    """Return a parameter that is given by its name."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, default=default, annotation=annotation)


def option_of(kind: type[Section], name: str) -> inspect.Parameter:
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
    return keyword_parameter(
        name, Annotated[annotation, typer.Option(help=field.description)], default
    )


def value_of(kind: type[Section], name: str, value: object) -> object:
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
