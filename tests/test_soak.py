"""The soak test itself, and a short form of it; ``make soak`` is the long one."""

from __future__ import annotations

import math

import pytest
import torch
from tests.soak import Draw, Report, Subject, outcome, soak, subjects


def test_no_batch_of_the_short_form_is_wrong():
    report = soak(800, seed=7)
    assert report.batches == 800
    assert report.wrong == 0, "\n".join(report.lines(0))


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda value: value * 1.1, "disagrees"),
        (lambda value: value * math.nan, "not finite"),
        (lambda value: value[7], "raw exception"),
    ],
)
def test_a_wrong_objective_is_found(change, kind):
    right = next(subject for subject in subjects() if subject.name.startswith("PairwiseAUC"))

    class Wrong(torch.nn.Module):
        def forward(self, scores, target, **more):
            return change(right.make()(scores, target, **more))

    wrong, report = Subject("wrong", Wrong, right.dense), Report()
    for number in range(30):
        batch = Draw(number).batch(wrong)
        report.add(number, wrong, batch, outcome(wrong, batch))
    assert report.counts["float64", kind] > 0
    *_, closing = report.lines(1.0)
    assert f"30 batches in 1 s: {report.wrong} faults, in 1 objectives" == closing
