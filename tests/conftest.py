from __future__ import annotations

from collections.abc import Callable

import torch
from hypothesis import HealthCheck, settings


def pytest_configure() -> None:
    # Test processes share the cores; small tensors on several threads wait for each other.
    torch.set_num_threads(1)
    # How long an example takes depends on what else runs on the machine; it is no defect.
    settings.register_profile(
        "rankwise", deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("rankwise")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Functions by name: an address differs between the processes that share the tests."""
    if isinstance(val, Callable) and hasattr(val, "__name__"):
        return val.__name__
    return None
