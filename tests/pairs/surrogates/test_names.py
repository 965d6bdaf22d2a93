from __future__ import annotations

import pytest

from rankwise.pairs import BarrierHinge, Hinge, SquaredHinge, as_surrogate, surrogates
from rankwise.pairs.surrogates import Surrogate
from rankwise.pairs.surrogates._names import SURROGATES


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hinge", Hinge()),
        ("Hinge()", Hinge()),
        ("squared-hinge(2.5)", SquaredHinge(2.5)),
        ("squared_hinge(margin=1)", SquaredHinge(1)),
        ("barrier_hinge(2, margin=.5)", BarrierHinge(2, 0.5)),
    ],
)
def test_names_are_read(text, expected):
    assert as_surrogate(text) == expected


@pytest.mark.parametrize("surrogate", SURROGATES.values())
def test_every_surrogate_reads_its_own_repr_and_itself(surrogate):
    assert as_surrogate(repr(surrogate())) == surrogate()
    assert as_surrogate(surrogate()) == surrogate()


def test_every_public_surrogate_has_its_name():
    public = {getattr(surrogates, name) for name in surrogates.__all__} - {Surrogate}
    assert {c for c in public if isinstance(c, type) and issubclass(c, Surrogate)} == {
        *SURROGATES.values()
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "logistik",
            r'loss must be the name of a surrogate, got "logistik": did you mean Logistic\?',
        ),
        ("xyzzy", r'loss must be the name of a surrogate, got "xyzzy": there are ZeroOne, '),
        ("hinge(scale=1)", r'surrogate "Hinge" has no option "scale"; it has margin'),
        ("hinge(1, 2)", r'surrogate "Hinge" does not accept hinge\(1, 2\): too many positional'),
        ("hinge(1, margin=2)", r"multiple values for argument 'margin'; it has margin"),
        ("hinge@3", r'surrogate "Hinge" does not accept hinge@3: @3 is for metrics at a cut'),
        ("zero_one(1)", r"too many positional arguments; it has no options"),
        ("hinge(margin=wide)", r'margin of surrogate "Hinge" must be a number, got wide'),
        ("hinge(margin=-1)", r"margin must be a finite number > 0, got -1"),
        ("hinge(", r'"hinge\(" cannot be read at its end'),
        (3, r"loss must be one of rankwise\.pairs or its name, got 3; pass SquaredHinge"),
        (Hinge, r"loss must be one of rankwise\.pairs or its name, got <class"),
    ],
)
def test_what_is_not_a_surrogate_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        as_surrogate(text, "loss")
