"""The losses of Table 6 with the settings that validation may choose from, four for each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Choice:
    """One setting of a method: objective, learning rate, head, and extra positives in batches."""

    objective: str
    rate: float
    head: str
    balanced: bool = True

    @property
    def words(self) -> str:
        """It in one line."""
        name = self.objective.replace("(defer={defer})", " with deferred weights")
        batches = "" if self.balanced else ", batches as they come"
        return f"{name}, rate {self.rate:g}, {self.head} head{batches}"


@dataclass(frozen=True)
class Method:
    """A loss, with either head of the network; a loss of cosines with either kind of batches.

    ``ranking``: a loss of order, which starts with some steps of cross-entropy.
    """

    name: str
    objective: str
    ranking: bool = True
    cosines: bool = False

    def choices(self, rates: tuple[float, ...]) -> list[Choice]:
        """As many for every method."""
        if self.cosines:
            kinds = [("cosine", True), ("cosine", False)]
        else:
            kinds = [("linear", True), ("cosine", True)]
        return [
            Choice(self.objective, rate, head, balanced)
            for head, balanced in kinds
            for rate in rates
        ]


METHODS = (
    Method("CE", "cross_entropy", ranking=False),
    Method("CB-CE", "class_balanced", ranking=False),
    Method("Focal", "focal", ranking=False),
    Method("LDAM", "ldam(defer={defer})", ranking=False, cosines=True),
    Method("MAUC", "mauc"),
    Method("SmoothAP", "smooth_ap(tau=1)"),
    Method("SOAP", "soap"),
    Method("SOPRC", "soprc(tau_fpr=1)"),
    Method("StableAP", "stable_ap(tau=.5)"),
)
OURS = ("SOPRC", "StableAP")
