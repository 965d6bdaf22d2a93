from __future__ import annotations

from typing import Any, Literal

import pytest
from torch import nn

from rankwise._grammar import parse
from rankwise.naming.signatures import bind, made, signature_of
from rankwise.pairs import Hinge, Linear, Logistic, SquaredHinge, Surrogate
from rankwise.pairs.surrogates._names import SURROGATES


def build(
    number: float = 1.0,
    pair: tuple[float, float] = (0.0, 0.0),
    word: Literal["direct", "kl"] = "direct",
    scale: float | Literal["auto"] = "auto",
    surrogate: Surrogate | None = None,
    mixed: Surrogate | Literal["avg", "hinge"] = "avg",
    loose: Surrogate | str = "",
    free: Any = None,
    inner: nn.Module | None = None,
):
    """One option of every kind."""


def value(text):
    signature = signature_of("objective", "build", build)
    given = bind(signature, parse(f"build({text})"))
    (found,) = made(given, signature, lambda spec: nn.Identity(str(spec))).values()
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("number=2", 2),
        ("pair=(1, 5)", (1, 5)),
        ("word=kl", "kl"),
        ("scale=auto", "auto"),
        ("scale=.5", 0.5),
        ("surrogate=logistic", Logistic(1.0)),
        ("surrogate='Logistic'", Logistic(1.0)),
        ("surrogate=squared_hinge(2.0)", SquaredHinge(2.0)),
        ("surrogate=SquaredHinge(margin=2.0)", SquaredHinge(2.0)),
        ("surrogate=Linear(margin=0.0)", Linear()),
        ("surrogate=None", None),
        ("mixed=avg", "avg"),
        ("mixed=hinge", "hinge"),  # the argument's own word comes first
        ("mixed=hinge(2)", Hinge(2)),
        ("mixed=squared_hinge", SquaredHinge()),
        ("loose=squared_hinge", SquaredHinge()),
        ("loose=anything", "anything"),
        ("free=anything", "anything"),
    ],
)
def test_values_become_what_the_argument_takes(text, expected):
    assert value(text) == expected
    assert type(value(text)) is type(expected)


def test_objectives_inside():
    assert isinstance(value("inner=soprc"), nn.Identity)
    assert isinstance(value("inner=soprc(prior=.1)"), nn.Identity)
    assert value("inner=None") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("number=abc", r'number of objective "build" must be a number, .*got abc'),
        ("number=hinge(1)", r"must be a number, .*got hinge\(1\)"),
        ("pair=(1, hinge(1))", r"pair of objective .* must be a number, .*got hinge\(1\)"),
        ("word=kll", r'word of objective "build" must be one of direct, kl; got kll'),
        ("mixed=avgg", r"mixed of objective .* must be one of avg, hinge; got avgg"),
        (
            "surrogate=logistik",
            r'must be the name of a surrogate, got "logistik": did you mean Logistic\?',
        ),
        ("surrogate=xyzzy", r'must be the name of a surrogate, got "xyzzy": there are ZeroOne, '),
        ("surrogate=3", r'surrogate of objective "build" must be a name, got 3'),
        ("surrogate=hinge(scale=1)", r'surrogate "Hinge" has no option "scale"; it has margin'),
        ("surrogate=hinge(margin=wide)", r'margin of surrogate "Hinge" must be a number'),
        ("surrogate=hinge(margin=-1)", r"margin must be a finite number > 0, got -1"),
    ],
)
def test_values_that_are_not(text, message):
    with pytest.raises(ValueError, match=message):
        value(text)


@pytest.mark.parametrize("surrogate", SURROGATES.values())
def test_every_surrogate_reads_its_own_repr(surrogate):
    assert value(f"surrogate={surrogate()!r}") == surrogate()
