"""What the tests of rows share: does a loss want the order that its metric wants?"""

from __future__ import annotations

import torch

from rankwise.naming import metric, metric_of, objective
from rankwise.naming.entry import ObjectiveEntry

OPTIONS = {
    "opauc": "(max_fpr=.5)",
    "sopa": "(max_fpr=.5)",
    "sopa_s": "(max_fpr=.5)",
    "tpauc": "(min_tpr=.5, max_fpr=.5)",
    "sota_s": "(min_tpr=.5, max_fpr=.5)",
    "class_balanced": "(counts=[16, 8])",
}


def text_of(entry: ObjectiveEntry) -> str:
    at = "@4" if entry.at is not None else ""
    return f"{entry.names[0]}{at}{OPTIONS.get(entry.names[0], '')}"


def wants_what_its_metric_wants(entry: ObjectiveEntry) -> bool:
    """The loss falls and the metric rises from the worst order of a list to the best."""
    target = torch.arange(24) < 8
    best = torch.linspace(1, -1, 24)  # also cosines, for losses of embeddings
    losses, values = [], []
    for scores in (best, -best):
        made = objective(text_of(entry), prior=1 / 3, num_items=24, num_lists=1)
        losses.append(
            made(scores, target, list_ids=torch.tensor(0), item_ids=torch.arange(24)).item()
        )
        values.append(float(metric(metric_of(text_of(entry))).value(scores, target)))
    return losses[0] < losses[1] and values[0] > values[1]
