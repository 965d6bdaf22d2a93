"""The studies by name, each loaded when it is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from reproductions.base import Outcome, Result, Setting, write_outcome

__all__ = ["STUDIES", "Study", "UnknownStudyError", "run_study"]


@dataclass(frozen=True)
class Study:
    """What a study asks, and what it needs on two cores: time and data."""

    question: str
    time: str
    data: str = "–"


_IMAGES = "--data DIR with images/"

STUDIES = MappingProxyType(
    {
        "detection": Study(
            "Does ranking its anchors make a better detector?", "70 min", "--data DIR (BCCD)"
        ),
        "estimator-bias": Study(
            "Is a batch's AP loss biased by its sampling rate, and SOPRC's not?", "1 min"
        ),
        "fidelity": Study(
            "Does training on an objective raise the metric it stands for?", "15 min"
        ),
        "longtail": Study(
            "Are StableAP and SOPRC first in AP on long-tailed images?", "3 h", _IMAGES
        ),
        "papk-figure1": Study(
            "Which surrogates of pAp@k vanish under which margin condition?", "30 s"
        ),
        "papk-table1": Study("Does pAp@k prefer the ranking with the better top?", "5 s"),
        "papk-table2": Study(
            "Does pAp@k rank as pAUC with few positives and as precision with many?", "30 s"
        ),
        "papk-table3": Study(
            "Does training on pAp@k raise it over the baselines?",
            "30 min",
            "--data u.data (MovieLens 100K)",
        ),
        "retrieval": Study("Which loss ranks images of unseen classes best?", "70 min", _IMAGES),
        "saturation": Study(
            "Do the losses as printed stall, and does the annealed gain prevent it?", "1 min"
        ),
        "stability": Study(
            "How far does one example move the loss, and the trained model?", "3 min"
        ),
    }
)
"""Every study with the question it answers, its time on two cores and its data."""


class UnknownStudyError(ValueError):
    """Raised for a name that is not a study; the message suggests the nearest one."""

    def __init__(self, name: str) -> None:
        near = get_close_matches(name.lower().replace("_", "-"), STUDIES, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(STUDIES)}"
        super().__init__(f"name must be a study, got {name!r}; {hint}")


def run_study(name: str, out: Path | str = "out", setting: Setting | None = None) -> Result:
    """Run a study and write its data, figures and report into ``out``/``name``."""
    if name not in STUDIES:
        raise UnknownStudyError(name)
    setting = Setting() if setting is None else setting
    module = import_module(f"reproductions.{name.replace('-', '_')}")
    study: Callable[[Setting], Outcome] = module.study
    folder = Path(out) / name
    return write_outcome(study(replace(setting, folder=folder)), folder)
