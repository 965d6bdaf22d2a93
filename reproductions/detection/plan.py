"""What is trained, on what, and how long: the same for every loss."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from rankwise.data import DataError
from rankwise.data.detection import DetectionSplits, open_detection
from rankwise.tasks.detection.settings import Settings
from rankwise.tasks.detection.task import fingerprint
from reproductions.frame import BasePlan, Setting

_WEIGHTS = "mobilenet_v2*.pth"


@dataclass(frozen=True)
class Head:
    """A loss by its name in a table, and what it needs of the settings; see :class:`Settings`."""

    name: str
    objective: str
    pooled: bool = True
    previous: bool = False
    printed: bool = False
    stages: Literal[1, 2] = 1
    regions: str | None = None

    @property
    def key(self) -> str:
        """The name on the command line, such as stableap-eq-6."""
        return re.sub("[^a-z0-9]+", "-", self.name.lower())


HEADS = (
    Head("focal", "focal"),
    Head("AP loss", "error_driven_ap"),
    Head("aLRP loss", "alrp"),
    Head("DR loss", "dr"),
    Head("SOPRC", "soprc"),
    Head("SOPRC, by class", "soprc", pooled=False),
    Head("StableAP", "stable_ap"),
    Head("StableAP, by class", "stable_ap", pooled=False),
    Head("StableAP, Eq. 6", "stable_ap", previous=True),
    Head("StableAP, as printed", "stable_ap", printed=True),
    Head("two-stage, focal", "focal", stages=2),
    Head("two-stage, StableAP", "stable_ap", stages=2),
    Head("two-stage, StableAP twice", "stable_ap", stages=2, regions="stable_ap"),
)
_QUICK = ("focal", "AP loss", "aLRP loss", "DR loss", "SOPRC", "StableAP")
OURS = tuple(head.name for head in HEADS if head.objective in ("soprc", "stable_ap"))


@dataclass(frozen=True)
class Choice:
    """What validation chooses: a rate, and how many first steps go by focal loss."""

    rate: float
    warm: int = 0

    @property
    def short(self) -> str:
        """For a narrow column."""
        return f"{self.rate:g}" + (" warm" if self.warm else "")

    def __str__(self) -> str:
        return f"{self.rate:g}" + (f", {self.warm} steps of focal first" if self.warm else "")


@dataclass(frozen=True, eq=False)
class Plan(BasePlan):
    """The images, the settings that all share, and what is tried with each loss."""

    QUICK: ClassVar = {"seeds": 1, "steps": 150, "rates": (0.02,)}
    DRAWS = "seeds"

    splits: DetectionSplits
    settings: Settings
    heads: tuple[Head, ...] = HEADS
    choices: tuple[Choice, ...] = (Choice(0.02),)
    only: tuple[str, ...] = ()  # the keys of the losses; empty for all
    steps: int = 600
    rates: tuple[float, ...] = (0.005, 0.01, 0.02, 0.04)
    warm: tuple[float, ...] = (0.0, 0.25)  # shares of the steps that go by focal loss first
    seeds: int = 3
    shown: int = 3  # test images in the report
    timed: int = 15  # repeats of a loss
    clock: Callable[[], float] = time.process_time

    @classmethod
    def of(cls, setting: Setting) -> Plan:
        """Return the plan for a setting; ``draws`` is the number of seeds."""
        root, weights = _located(setting.data)
        splits = open_detection("voc", root, train=["train"], validation=["val"], test=["test"])
        settings = Settings.read("bccd")
        made = cls(splits, settings).changed(setting)
        steps = made.steps
        settings = settings.replace(
            network=settings.network.replace(weights=str(weights)),
            # Comparing 1 000 boxes of an image takes longer than training in a quick run.
            selection=settings.selection.replace(candidates=300 if setting.quick else 1000),
            optimizer=settings.optimizer.replace(
                milestones=(round(0.75 * steps), round(0.92 * steps))
            ),
            training=settings.training.replace(steps=steps, validate_every=steps),
        )
        choices = tuple(Choice(r, int(w * steps)) for r in made.rates for w in made.warm)
        usual = [head.key for head in HEADS if not setting.quick or head.name in _QUICK]
        heads = tuple(head for head in HEADS if head.key in (made.only or usual))
        if unknown := set(made.only) - {head.key for head in heads}:
            raise DataError(
                f"only must be of {', '.join(head.key for head in HEADS)}, "
                f"got {', '.join(sorted(unknown))}"
            )
        return replace(made, settings=settings, heads=heads, choices=choices)

    def of_head(self, head: Head) -> tuple[Choice, ...]:
        """What a loss has to choose from; focal loss before itself is nothing new."""
        return tuple(c for c in self.choices if not (c.warm and head.objective == "focal"))

    def of_run(self, head: Head, choice: Choice, seed: int) -> Settings:
        """The settings of one training; as printed, the sum of scores has the paper's weight."""
        printed = {"bias_form": "sum", "bias_weight": 0.001} if head.printed else {}
        return self.settings.replace(
            network=self.settings.network.replace(stages=head.stages),
            objective=self.settings.objective.replace(
                name=head.objective,
                pooled=head.pooled,
                previous=head.previous,
                printed=head.printed,
                regions=head.regions,
                warm_start=choice.warm,
                **printed,
            ),
            optimizer=self.settings.optimizer.replace(learning_rate=choice.rate),
            training=self.settings.training.replace(seed=seed),
        )

    def asked(self, seed: int) -> dict[str, Any]:
        """Everything that a run depends on apart from its name, as plain data; no folders."""
        plain = self.settings.model_dump()
        plain["network"]["weights"] = Path(plain["network"]["weights"] or "").name
        parts = self.splits.train, self.splits.validation, self.splits.test
        plain["data"] = [fingerprint(part) for part in parts]
        return {"seed": seed, "shown": self.shown, "settings": plain}


def _located(data: Path | None) -> tuple[Path, Path]:
    wanted = (
        "--data with the folder of BCCD (Annotations, ImageSets, JPEGImages) and a file "
        f"{_WEIGHTS} of MobileNetV2 by torchvision's names, in it or in a folder weights next to it"
    )
    if data is None:
        raise DataError(f"this study needs {wanted}")
    if not data.is_dir():
        raise DataError(f"{data}: there is no such folder; the study needs {wanted}")
    roots = [data / "bccd", data / "detection" / "bccd", data]
    good = [root for root in roots if _holds(root)]
    if not good:
        raise DataError(f"{data}: there are no blood cells here; the study needs {wanted}")
    places = [data, data / "weights", data.parent / "weights", data.parent.parent / "weights"]
    weights = [file for place in places for file in sorted(place.glob(_WEIGHTS))]
    if not weights:
        raise DataError(f"{data}: there are no weights here; the study needs {wanted}")
    return good[0], weights[0]


def _holds(root: Path) -> bool:
    return (root / "Annotations").is_dir() or any(root.glob("*/Annotations"))
