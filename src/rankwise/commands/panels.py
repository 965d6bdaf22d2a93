"""Panels of a long ``--help``: the options of a first run, then the others by topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

_LONG = 12  # options that fit on a screen without panels

# Options that no panel names are in the first one, which has no title of its own.
_PANELS = {
    "Data": """
        group time positive weight drop use text date_format rows_per_day out_of_core by
        split validation validation_share validation_users test format duplicates relevant
        user_column item_column rating_column time_column rating_range
        validation_file test_file user_features item_features cache clicks propensities""",
    "Model": """
        scores temperature offsets dimension hidden layers width start
        regularization unobserved_weight frequency_exponent iterations neighbors shrinkage""",
    "Training": """
        candidates trials repeats seeds lists weighting batch negatives sampling correction epochs
        warm_start refit patience optimizer learning_rate schedule weight_decay ema_rate""",
    "Run": """
        seed resume config skip_broken workers memory threads deterministic ray track trust
        debug""",
}
_PANEL_OF = {name: panel for panel, names in _PANELS.items() for name in names.split()}


def group_options(params: Sequence[Any]) -> None:
    """Set the panel of every option of a command that has many."""
    options = [param for param in params if param.param_type_name == "option"]
    if len(options) < _LONG:
        return
    panels = [_PANEL_OF.get(option.name) for option in options]
    sizes = Counter(panels)
    for option, panel in zip(options, panels, strict=True):
        # A panel of one option may have the wrong title: --correction of evaluate does not train.
        option.rich_help_panel = panel if sizes[panel] > 1 else None
