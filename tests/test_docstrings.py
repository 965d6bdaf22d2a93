"""Docstrings of public names: Google sections that match the signature, examples that run.

Every public package is checked. Arguments that many functions share are described once, in the
package or the base class, and named in one line of ``Args`` that links to it
(``scores, target, mask: See :mod:`rankwise.metrics`.``).
"""

from __future__ import annotations

import doctest
import inspect
from importlib import import_module
from types import ModuleType

import pytest
import torch
from tests.docstring_rules import problems
from tests.public_api import PACKAGES

NAMES = [(package, name) for package in PACKAGES for name in import_module(package).__all__]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def of(package, name):
    """The function or class of a public name; None for constants, types and modules."""
    value = getattr(import_module(package), name)
    if isinstance(value, ModuleType) or not (inspect.isclass(value) or inspect.isroutine(value)):
        return None
    return value


@pytest.mark.parametrize(("package", "name"), NAMES)
def test_the_docstring_describes_the_signature(package, name):
    value = of(package, name)
    found = [] if value is None else list(problems(value))
    assert not found, f"{package}.{name}: " + "; ".join(found)


@pytest.mark.parametrize(("package", "name"), NAMES)
def test_the_example_runs_as_it_is_written(package, name):
    """In an empty namespace: a reader can copy it."""
    value = of(package, name)
    runner, lines = doctest.DocTestRunner(optionflags=FLAGS), []
    for example in doctest.DocTestFinder().find(value, name, globs={}) if value else ():
        torch.manual_seed(0)
        runner.run(example, out=lines.append)
    assert not runner.failures, "".join(lines)


def test_a_docstring_that_lacks_something_is_reported():
    def mean(values, *, weight=None) -> float:
        """Compute the mean

        Args:
            values: Numbers.
            wait: Their weights.
        """

    assert list(problems(mean)) == [
        "its first line is not one sentence: 'Compute the mean'",
        "its Args do not name weight",
        "its Args name wait, which it does not take",
        "it has no Returns section",
        "it has no Example section with >>> lines",
    ]


def test_a_signature_that_hides_its_parameters_is_reported():
    class Loss:
        """Loss that takes anything.

        Example:
            >>> 1 + 1
            2
        """

        def __init__(self, *args, **options):
            pass

    assert list(problems(Loss)) == ["its signature hides its parameters: (*args, **options)"]
