"""A Ray cluster of this machine, for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rankwise.training.cluster import Cluster, connected


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Two processors, without a dashboard; nothing stays behind."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "disabled")
        patch.setenv("PYTHONWARNINGS", "ignore")
        # By default workers yield to all other processes: on a busy machine they never start.
        patch.setenv("RAY_worker_niceness", "0")
        found = Cluster(2)
        with connected(found):
            yield found
