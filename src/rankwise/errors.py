"""Errors that a person can settle, without the imports of what raises them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LONGEST = 4000  # letters of a message: a value of a file may have millions
_SHOWN = 80  # letters of a value in a message
_REASON = 300  # letters of what another library said
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # what a terminal would obey, or refuse
_OURS = (KeyboardInterrupt, SystemExit, GeneratorExit)


class UsageError(ValueError):
    """Something was asked for that cannot be done; the message becomes one line."""

    def __init__(self, message: str) -> None:
        cut = message if len(message) <= _LONGEST else message[:_LONGEST] + "…"
        super().__init__(_CONTROL.sub("\ufffd", " ".join(cut.split())))


def short_repr(value: object, most: int = _SHOWN) -> str:
    """Return the repr of a value for a message, cut to ``most`` letters and a few.

    >>> short_repr("a" * 1000, 5)
    "'aaaa…"
    """
    if isinstance(value, (str, bytes)):  # without making the repr of a value that is huge
        value = value[: most + 1]
    try:
        text = repr(value)
    except Exception:  # a value that refers to itself, or an integer of too many digits
        text = f"<{type(value).__name__}>"
    return text if len(text) <= most + 2 else text[:most] + "…"


def reason_of(error: BaseException) -> str:
    """Return what an error of another library says, in one short line."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, MemoryError):
        return "it does not fit into memory"
    if isinstance(error, UnicodeEncodeError):  # of the name of a file
        name = short_repr(error.object)
        return f"{name} is not text in this system's encoding, {error.encoding}; set PYTHONUTF8=1"
    if isinstance(error, OSError) and error.strerror:
        return _reason_of_file(error)
    if isinstance(error, KeyError):
        return f"it holds no {short_repr(error.args[0])}" if error.args else "a name is missing"
    text = " ".join(str(error)[: 10 * _REASON].split()) or type(error).__name__
    return text if len(text) <= _REASON else text[:_REASON] + "…"


def _reason_of_file(error: OSError) -> str:
    if isinstance(error, FileNotFoundError) and isinstance(error.filename, (str, os.PathLike)):
        return f"{Path(error.filename).name} is missing"
    return str(error.strerror)


@contextmanager
def foreign_errors(
    said: str, raises: type[UsageError] = UsageError, *, ours_too: bool = False
) -> Iterator[None]:
    """Raise whatever goes wrong inside as one line: ``said``, then what the error says.

    The one door between files and the program: the parsers of many formats raise errors of
    any type, some outside of ``Exception`` (a panic of Rust). Missing packages and the
    end of the process pass, and so do errors of our own, unless ``ours_too``: those of the parts of
    a whole.

    >>> with foreign_errors("a.json: is not JSON"):
    ...     raise KeyError("name")
    Traceback (most recent call last):
        ...
    rankwise.errors.UsageError: a.json: is not JSON: it holds no 'name'
    """
    try:
        yield
    except UsageError as error:
        if ours_too:
            raise raises(f"{said}: {error}") from error
        if isinstance(error, raises):
            raise
        raise raises(str(error)) from error
    except (ImportError, *_OURS):
        raise
    except BaseException as error:
        raise raises(f"{said}: {reason_of(error)}") from error
