from __future__ import annotations

from importlib import import_module

import pytest
from tests.public_api import LIST, PACKAGES, current

HOW = (
    "The public API changed. If that is intended, run `python -m tests.public_api`, review the "
    "difference in tests/public_api.txt, and say it in CHANGELOG.md."
)


def test_the_public_api_is_the_checked_in_list():
    kept, found = LIST.read_text().splitlines(), current()
    gone = [f"- {line}" for line in kept if line not in found]
    new = [f"+ {line}" for line in found if line not in kept]
    assert kept == found, "\n".join([HOW, *gone, *new])


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_unique_and_not_private(package):
    names = import_module(package).__all__
    assert len(set(names)) == len(names)
    assert not [name for name in names if name.startswith("_")]
