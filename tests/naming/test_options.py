from __future__ import annotations

import pytest

from rankwise._grammar import parse
from rankwise.naming.signatures import EMPTY, bind, require_given, signature_of


def made(rate, k: int = 3, *rest, form: str = "direct", **more):
    return rate, k, rest, form, more


SIGNATURE = signature_of("objective", "made", made, at="k")


def bound(text):
    return bind(SIGNATURE, parse(text))


def test_a_signature_has_the_options_in_their_order():
    assert SIGNATURE.defaults == {"rate": EMPTY, "k": 3, "form": "direct"}
    assert SIGNATURE.order == ("rate", "k")  # form has to be named
    assert SIGNATURE.hints["k"] is int
    assert signature_of("x", "y", made, without=("k",)).defaults.keys() == {"rate", "form"}


def test_options_by_name_by_place_and_by_k():
    assert bound("made") == {}
    assert bound("made(.1, 5, form=kl)") == {"rate": 0.1, "k": 5, "form": "kl"}
    assert bound("made@5") == {"k": 5}
    # What @k has filled is no place any more.
    assert bind(signature_of("x", "y", made, at="rate"), parse("y@5(6)")) == {"rate": 5, "k": 6}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("made(1, 2, 3)", r"takes only rate, k without a name, got 3 values; it has rate, k, form"),
        ("made(from=1)", r'objective "made" has no option "from"; it has form, '),
        ("made(rat=1)", r'objective "made" has no option "rat"; it has rate, '),
        ("made@5(k=6)", r'objective "made" gets k twice: 5 and 6'),
        ("made(1, rate=2)", r'objective "made" gets rate twice: 1 and 2'),
    ],
)
def test_wrong_options_are_told_the_right_ones(text, message):
    with pytest.raises(ValueError, match=message):
        bound(text)


def test_what_takes_nothing_says_so():
    bare = signature_of("objective", "bare", lambda: None)
    with pytest.raises(ValueError, match="takes nothing without a name, got 1 values; it has no"):
        bind(bare, parse("bare(1)"))
    with pytest.raises(ValueError, match='has no option "a"; it has no options'):
        bind(bare, parse("bare(a=1)"))
    with pytest.raises(ValueError, match='objective "bare" takes no @k, got @5'):
        bind(bare, parse("bare@5"))


def test_what_must_be_given():
    require_given(SIGNATURE, ["rate"])
    with pytest.raises(ValueError, match=r'objective "made" needs rate: write "made\(rate=…\)"$'):
        require_given(SIGNATURE, [])
    with pytest.raises(ValueError, match=r"needs rate: the rate \(pass rate=… next to the name\)$"):
        require_given(SIGNATURE, [], facts={"rate": "the rate"})
    with pytest.raises(ValueError, match=r'needs rate: .* and k: write "made@10"$'):
        require_given(SIGNATURE, [], needs=["k"])
    require_given(SIGNATURE, [], among=["k", "form"])
