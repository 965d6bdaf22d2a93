from __future__ import annotations

import pytest
from tests.report.comparison.sample import arrays, results, write_run

from rankwise.report.comparison.report import write_report


@pytest.fixture(scope="session")
def held():
    """The predictions of the sample, which no test may change."""
    found = arrays()
    for each in found.values():
        each.flags.writeable = False
    return found


@pytest.fixture(scope="session")
def found(held):
    """What was found of them."""
    return results(held)


@pytest.fixture(scope="session")
def page(held, found, tmp_path_factory):
    """The page of the sample."""
    return write_report(write_run(tmp_path_factory.mktemp("run"), held, found))
