"""The readers that are fuzzed."""

from __future__ import annotations

from tests.fuzz.data_targets import DATA
from tests.fuzz.run_targets import RUNS

TARGETS = DATA | RUNS
