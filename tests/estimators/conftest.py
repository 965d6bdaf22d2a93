from __future__ import annotations

import pytest
from tests.estimators.generated import Rows, misspecified


@pytest.fixture(scope="session")
def rows() -> Rows:
    return misspecified(600)


@pytest.fixture(scope="session")
def many_rows() -> Rows:
    return misspecified(3000)
