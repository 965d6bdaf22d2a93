"""Whether a gain over one log-loss model is the metric's or that of averaging two models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankwise.tasks.compare.fit import Fitted
from rankwise.tasks.compare.metrics import Estimate
from rankwise.tasks.compare.selection import Choice, Evaluation


@dataclass(frozen=True)
class Controlled:
    """A candidate trained on the metric, and the control of its kind of model, by number.

    ``difference`` is the metric of the candidate minus that of the control, paired on the tested
    rows.
    """

    model: str
    candidate: int
    control: int
    difference: Estimate

    @property
    def outcome(self) -> str:
        """Which of the two is better: ``metric``, ``averaging``, or ``undecided``."""
        if self.difference.low > 0:
            return "metric"
        return "averaging" if self.difference.high < 0 else "undecided"


def controlled(
    fitted: Sequence[Fitted], choice: Choice, evaluation: Evaluation
) -> list[Controlled]:
    """Return the pairs of all kinds of models that have a control.

    The candidate is the recommended one if it is of this kind and trained on the metric, else
    that which averages log-loss and the metric.
    """
    found = []
    for control, each in enumerate(fitted):
        if not each.candidate.is_control:
            continue
        model = each.candidate.model
        metrical = [
            n
            for n, other in enumerate(fitted)
            if other.candidate.model == model
            and not (other.candidate.is_control or other.candidate.is_log_loss)
        ]
        both = [n for n in metrical if fitted[n].candidate.parts]
        chosen = [choice.recommended] if choice.recommended in metrical else both or metrical
        if chosen:
            gain = evaluation.difference(chosen[0], control)
            found.append(Controlled(model, chosen[0], control, gain))
    return found


def explain(pair: Controlled, fitted: Sequence[Fitted], choice: Choice, *, clear: bool) -> str:
    """Return what the control says of the recommended candidate.

    Args:
        pair: The pair of its kind of model.
        fitted: All candidates.
        choice: The recommended one among them.
        clear: Whether it is clearly better than the baseline, so that there is a gain to explain.
    """
    name, control = (fitted[n].candidate.words for n in (pair.candidate, pair.control))
    gain = pair.difference
    number = f"{gain.mean:+.4f} (95 % {gain.low:+.4f} to {gain.high:+.4f}, p {gain.p:.3f})"
    how = {"metric": "clearly better", "averaging": "worse", "undecided": "within chance"}
    said = f"{number}, {how[pair.outcome]}"
    if choice.recommended == pair.control:
        begin = "The gain comes from averaging: b" if clear else "B"
        begin = f"{begin}oth of its models are trained on log-loss. "
        return f"{begin}Against it, {name}: {said}."
    against = f"against {control}: {said}"
    if not clear:
        return f"A{against[1:]}."
    source = {
        "metric": "The gain comes from the metric",
        "averaging": "Averaging without the metric gains more",
        "undecided": "The gain may come from averaging",
    }
    return f"{source[pair.outcome]}; {against}."
