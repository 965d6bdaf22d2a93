"""What a run leaves in its folder, and the network that comes back from there."""

from __future__ import annotations

from pathlib import Path

from rankwise.errors import UsageError
from rankwise.report import write_json, write_whole
from rankwise.tasks.classification.evaluate import Judged, as_json
from rankwise.tasks.classification.network import Classifier, make_classifier
from rankwise.tasks.classification.settings import Settings
from rankwise.tasks.retrieval import files as retrieval
from rankwise.tasks.retrieval.files import CONFIG, MODEL, write_model
from rankwise.training import require_unchanged

__all__ = ["CONFIG", "MODEL", "load_run", "write_config", "write_model", "write_results"]

Results = dict[str, Judged]


def write_config(out: Path, settings: Settings) -> None:
    """``config.yaml``: the settings of the run, all of them."""
    write_whole(out / CONFIG, settings.as_yaml())


def write_results(out: Path, results: Results) -> None:
    """``results.json``: by network."""
    write_json(out / "results.json", {name: as_json(found) for name, found in results.items()})


def load_run(out: Path) -> tuple[Settings, Classifier]:
    """The settings and the network of a finished run, in the mode of evaluation."""
    for name in (CONFIG, MODEL):
        if not (out / name).is_file():
            raise UsageError(f"{out} is not the folder of a finished run: there is no {name}")
    require_unchanged(out, MODEL)
    settings = Settings.read(out / CONFIG)
    library = retrieval.safetensors_library()
    try:
        state = library.load_file(out / MODEL)
        logits = len(state["projection.bias"])
        # All weights are in the folder: those it started from may be gone.
        kept = out / "backbone"
        given = settings.network.weights is not None and kept.is_dir()
        chosen = settings.network.replace(weights=str(kept) if given else None)
        network = make_classifier(settings.replace(network=chosen), logits)
        network.load_state_dict(state)
    except (RuntimeError, KeyError, retrieval.safetensors_error()) as error:
        first = str(error).strip().splitlines()[0]
        raise UsageError(f"{out / MODEL}: does not go with {CONFIG}: {first}") from None
    return settings, network.eval()
