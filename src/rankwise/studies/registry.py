"""The studies by name, each loaded when it is run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from rankwise.extras import require
from rankwise.studies.base import Outcome, Result, Setting, write_outcome

__all__ = ["STUDIES", "UnknownStudyError", "run_study"]

STUDIES = MappingProxyType(
    {
        "detection": "With --data: does ranking its anchors make a better detector?",
        "estimator-bias": "Is a batch's AP loss biased by its sampling rate, and SOPRC's not?",
        "fidelity": "Does training on an objective raise the metric it stands for?",
        "longtail": "With --data: are StableAP and SOPRC first in AP on long-tailed images?",
        "papk-figure1": "Which surrogates of pAp@k vanish under which margin condition?",
        "papk-table1": "Does pAp@k prefer the ranking with the better top?",
        "papk-table2": "Does pAp@k rank as pAUC with few positives and as precision with many?",
        "papk-table3": "With --data: does training on pAp@k raise it over the baselines?",
        "retrieval": "With --data: which loss ranks images of unseen classes best?",
        "saturation": "Do the losses as printed stall, and does the annealed gain mend it?",
        "stability": "How far does one example move the loss, and the trained model?",
    }
)
"""Every study with the question it answers."""


class UnknownStudyError(ValueError):
    """There is no study of that name; the message suggests the nearest there is."""

    def __init__(self, name: str) -> None:
        near = get_close_matches(name.lower().replace("_", "-"), STUDIES, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(STUDIES)}"
        super().__init__(f"name must be a study, got {name!r}; {hint}")


def run_study(name: str, out: Path | str = "out", setting: Setting | None = None) -> Result:
    """Run a study and write its data, figures and page into ``out``/``name``."""
    if name not in STUDIES:
        raise UnknownStudyError(name)
    setting = Setting() if setting is None else setting
    require("rankwise.studies", "matplotlib", "scipy")
    module = import_module(f"rankwise.studies.{name.replace('-', '_')}")
    study: Callable[[Setting], Outcome] = module.study
    folder = Path(out) / name
    return write_outcome(study(replace(setting, folder=folder)), folder)
