"""Surrogates by their names, such as ``"logistic"`` or ``"squared_hinge(margin=2)"``."""

from __future__ import annotations

import inspect

from rankwise._grammar import Spec, canonical, nearest, parse, write
from rankwise.pairs import surrogates
from rankwise.pairs.surrogates.base import Surrogate

_NAMES: list[str] = surrogates.__all__  # type: ignore[has-type]  # this module's own is one of them
_PUBLIC = (getattr(surrogates, name) for name in _NAMES if name != "as_surrogate")
SURROGATES = {
    canonical(found.__name__): found
    for found in _PUBLIC
    if isinstance(found, type) and issubclass(found, Surrogate) and not inspect.isabstract(found)
}
"""The surrogates by the canonical names of their classes."""


def as_surrogate(surrogate: Surrogate | str, name: str = "surrogate") -> Surrogate:
    """Return a surrogate, given itself or its name.

    Every objective takes a surrogate in both ways.

    Args:
        surrogate: A surrogate, or its name with its options if any: ``"logistic"``,
            ``"squared_hinge(margin=2)"``, or the ``repr`` of a surrogate. Letter case, ``_`` and
            ``-`` do not matter.
        name: Name of the argument, for error messages.

    Returns:
        The surrogate.

    Raises:
        ValueError: For an unknown name or option, with the nearest one.

    Example:
        >>> from rankwise.pairs import Hinge, as_surrogate
        >>> as_surrogate("squared_hinge(margin=2)")
        SquaredHinge(margin=2)
        >>> as_surrogate(Hinge(0.5))
        Hinge(margin=0.5)
    """
    if isinstance(surrogate, str):
        return surrogate_of(parse(surrogate), name)
    if not isinstance(surrogate, Surrogate):
        raise ValueError(
            f"{name} must be one of rankwise.pairs or its name, got {surrogate!r}; "
            'pass SquaredHinge(1.0) or "squared_hinge(margin=1)"'
        )
    return surrogate


def surrogate_of(spec: Spec, where: str) -> Surrogate:
    """Return the surrogate of a parsed name; ``where`` it stands is for the error messages."""
    found = SURROGATES.get(canonical(spec.name))
    if found is None:
        names = tuple(each.__name__ for each in SURROGATES.values())
        near = nearest(spec.name, names)
        hint = f"did you mean {near}? " if near else ""
        raise ValueError(
            f'{where} must be the name of a surrogate, got "{spec.name}": {hint}'
            f"there are {', '.join(names)}"
        )
    title, signature = f'surrogate "{found.__name__}"', inspect.signature(found)
    options = list(signature.parameters)
    choices = f"it has {', '.join(options)}" if options else "it has no options"
    for option in spec.options:
        if option not in options:
            raise ValueError(f'{title} has no option "{option}"; {choices}')
    try:
        if spec.k is not None:
            raise TypeError(f"@{spec.k} is for metrics at a cut")
        given = signature.bind(*spec.args, **spec.options).arguments
    except TypeError as error:
        raise ValueError(f"{title} does not accept {spec}: {error}; {choices}") from error
    for option, value in given.items():
        if not isinstance(value, (int, float)):
            raise ValueError(f"{option} of {title} must be a number, got {write(value)}")
    return found(**given)
