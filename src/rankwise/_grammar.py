"""The grammar of names: ``name``, ``name@k`` and ``name(option=value, …)``.

``module:object`` is a name, too.

Nothing is ever executed: a name is read token by token, and only numbers, words, quoted strings,
``True``, ``False``, ``None``, tuples, lists and names inside names can come out of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import NoReturn, Union

Value = Union[None, bool, int, float, str, tuple["Value", ...], list["Value"], "Spec"]
"""The value of an option; a bare word is a string."""

WORD = r"[^\W\d][\w-]*"
IMPORTED = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*"
"""A name that is imported: ``module:object``."""

CONSTANTS: dict[str, Value] = {
    "None": None,
    "True": True,
    "true": True,
    "False": False,
    "false": False,
    "inf": float("inf"),
}
"""Words that are not strings. ``none`` is one, since ``average=none`` means the word."""


@dataclass(frozen=True)
class Spec:
    """A name with its options; printed, it is a string that reads the same."""

    name: str
    k: int | None = None
    args: tuple[Value, ...] = ()
    options: dict[str, Value] = field(default_factory=dict)

    def __str__(self) -> str:
        given = [write(value) for value in self.args]
        given += [f"{name}={write(value)}" for name, value in self.options.items()]
        at = "" if self.k is None else f"@{self.k}"
        return f"{self.name}{at}" + (f"({', '.join(given)})" if given else "")


def canonical(name: str) -> str:
    """Return the form that names are compared by: without letter case, ``_`` and ``-``."""
    return name.lower().replace("_", "").replace("-", "")


def nearest(word: str, known: tuple[str, ...]) -> str | None:
    """Return the known word that begins with this one, or else is most like it, if any."""
    # Of two spellings of one name the first, which is the table's own.
    form, by_form = canonical(word), {canonical(name): name for name in reversed(known)}
    begins = [other for other in by_form if len(form) > 1 and other.startswith(form)]
    found = sorted(begins, key=len) or get_close_matches(form, by_form, n=1, cutoff=0.5)
    return by_form[found[0]] if found else None


def write(value: Value) -> str:
    """Return a value as the grammar writes it."""
    if isinstance(value, Spec):
        # Without the parentheses a name inside a name would be a word.
        return f"{value}()" if value == Spec(value.name) else str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(write, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(write, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, str) and re.fullmatch(WORD, value) and value not in CONSTANTS:
        return value
    return repr(value)


_FORM = 'write "name", "name@10" or "name(option=value, …)"'
_DEEPEST = 20  # brackets inside brackets: more is a mistake, and would exhaust the stack

# Only the escapes that Python itself prints.
_ESCAPE = r"""\\(?:[\\'"nrt]|x[\da-f]{2}|u[\da-f]{4}|U00(?:0[\da-f]|10)[\da-f]{4})"""
_TOKENS = re.compile(
    rf"""(?P<space>\s+)
      | (?P<number>[+-]?(?:inf|(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.-]))
      | (?P<word>{WORD})
      | (?P<quoted>'(?:[^'\\\r\n\0]|{_ESCAPE})*'|"(?:[^"\\\r\n\0]|{_ESCAPE})*")
      | (?P<mark>[@()\[\],=])
      | (?P<end>\Z)
      | (?P<unknown>.)""",
    re.VERBOSE,
)


def parse(text: str) -> Spec:
    """Parse a name with its options; a ValueError says where it failed, and the right form."""
    if not isinstance(text, str):
        raise ValueError(f"name must be a string, got {text!r}; {_FORM}")
    imported = re.match(rf"\s*({IMPORTED})", text)
    reader = _Reader(text, 0 if imported is None else imported.end())
    name = reader.take("word", "a name") if imported is None else imported[1]
    spec = reader.spec(name)
    reader.take("end", "its end")
    return spec


class _Reader:
    """The tokens of a text, taken one after the other."""

    def __init__(self, text: str, start: int = 0) -> None:
        found = _TOKENS.finditer(text, start)
        self.tokens = [token for token in found if token.lastgroup != "space"]
        self.text, self.place, self.depth = text, 0, 0

    def fail(self, expected: str) -> NoReturn:
        rest = self.text[self.tokens[self.place].start() :]
        where = f'at "{rest}"' if rest else "at its end"
        raise ValueError(f'"{self.text}" cannot be read {where}: expected {expected}; {_FORM}')

    def take(self, kind: str, expected: str) -> str:
        """Return the next token, which must be of this kind."""
        if not self.sees(kind):
            self.fail(expected)
        self.place += 1
        return self.tokens[self.place - 1].group()

    def sees(self, kind: str, *, after: int = 0) -> bool:
        """Return whether a token of this kind, or this mark, is next (or ``after`` others)."""
        token = self.tokens[min(self.place + after, len(self.tokens) - 1)]
        return kind in (token.lastgroup, token.group() if token.lastgroup == "mark" else None)

    def passes(self, mark: str) -> bool:
        """Return whether this mark is next, and consume it."""
        here = self.sees(mark)
        self.place += here
        return here

    def spec(self, name: str) -> Spec:
        """Read what follows a name: perhaps @k, perhaps options."""
        k = None
        if self.passes("@"):
            if self.sees("word"):  # map@r
                name = f"{name}@{self.take('word', 'a word')}"
            elif self.tokens[self.place].group().isdecimal():
                k = int(self.take("number", "a whole number"))
            else:
                self.fail("a whole number after @")
        args: list[Value] = []
        options: dict[str, Value] = {}
        for _ in self.places(")") if self.passes("(") else ():
            if not (self.sees("word") and self.sees("=", after=1)):
                if options:
                    self.fail("option=value, as before it")
                args.append(self.value())
                continue
            option = self.take("word", "an option")
            if option in options:
                raise ValueError(f'"{self.text}" gives {option} twice')
            self.passes("=")
            options[option] = self.value()
        return Spec(name, k, tuple(args), options)

    def places(self, closing: str) -> Iterator[None]:
        """Yield for every value, and consume the commas and the closing bracket."""
        self.depth += 1
        if self.depth > _DEEPEST:
            self.fail(f"at most {_DEEPEST} brackets inside each other")
        while not self.passes(closing):
            yield
            if not self.passes(",") and not self.sees(closing):
                self.fail(f'"," or "{closing}"')
        self.depth -= 1

    def value(self) -> Value:
        """Read a number, a word, a string, a name with options, or several in brackets."""
        if self.sees("number"):
            text = self.take("number", "a number")
            return int(text) if re.fullmatch(r"[+-]?[\d_]+", text) else float(text)
        if self.sees("quoted"):
            return str(ast.literal_eval(self.take("quoted", "a string")))
        if self.sees("word"):
            word = self.take("word", "a word")
            named = self.sees("@") or self.sees("(")
            return self.spec(word) if named else CONSTANTS.get(word, word)
        if self.passes("["):
            return [self.value() for _ in self.places("]")]
        if not self.passes("("):
            self.fail("a value")
        values = tuple([self.value() for _ in self.places(")")])
        # As in Python: brackets around one value alone are only brackets.
        lone = len(values) == 1 and self.tokens[self.place - 2].group() != ","
        return values[0] if lone else values


def split_names(text: str) -> list[str]:
    """Split names at the commas outside of parentheses; a name may be empty."""
    names, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            names.append("")
        else:
            names[-1] += letter
    return [name.strip() for name in names]
