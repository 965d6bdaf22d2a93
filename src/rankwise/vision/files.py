"""Files of a run of an image task: settings, split of the images, weights."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

from annotated_types import MinLen
from pydantic import TypeAdapter, ValidationError
from torch import Tensor, nn

from rankwise._record import require_part
from rankwise.data.images import Recorded
from rankwise.errors import UsageError, foreign_errors
from rankwise.extras import require
from rankwise.files import csv_text
from rankwise.report import write_whole
from rankwise.seals import METADATA, require_seal, sealed
from rankwise.settings import TaskSettings
from rankwise.training import RunFolder, require_unchanged
from rankwise.vision.settings import Backbone

CONFIG, MODEL, SPLIT = "config.yaml", "model.safetensors", "split.csv"
_OLD_SPLIT = "division.csv"
_BACKBONE = "backbone"
_ROWS = TypeAdapter(Annotated[tuple[Recorded, ...], MinLen(1)])

Network = TypeVar("Network", bound=nn.Module)
Chosen = TypeVar("Chosen", bound=Backbone)
State = dict[str, Tensor]


def write_config(out: RunFolder | Path, settings: TaskSettings) -> None:
    """Write ``config.yaml``: all settings of the run."""
    _write(out, CONFIG, settings.as_yaml())


def write_split(out: RunFolder | Path, record: Sequence[Recorded]) -> None:
    """Write ``split.csv``: the part of every image, for data that can change under a run."""
    if record:
        _write(out, SPLIT, csv_text([one._asdict() for one in record]))


def _write(out: RunFolder | Path, name: str, text: str) -> None:
    """Write a file; that of an open run has its SHA-256 in ``run.json`` from then on."""
    if isinstance(out, RunFolder):
        out.write(name, text.encode())
    else:
        write_whole(out / name, text)


def read_split(out: Path | None) -> tuple[Recorded, ...] | None:
    """Read the split of the images that a run was trained on; None where it kept none."""
    if out is None:
        return None
    if not (out / SPLIT).is_file():
        if (out / _OLD_SPLIT).is_file():  # a split drawn again may test on images of the training
            raise UsageError(
                f"{out}: keeps its split in {_OLD_SPLIT}, as runs of an earlier rankwise did; "
                "train it again into another folder with --out"
            )
        return None
    require_part(out, SPLIT)
    said = f"{out / SPLIT}: is not the split of a run"
    with foreign_errors(said), (out / SPLIT).open(encoding="utf-8", newline="") as text:
        try:
            return _ROWS.validate_python(list(csv.DictReader(text, strict=True)))
        except ValidationError:
            raise UsageError(
                f"{said}: it must have rows of path, label and part, which is train, validation or "
                "test"
            ) from None


def write_model(out: Path, network: nn.Module, backbone: nn.Module | None = None) -> None:
    """Write ``model.safetensors``: the weights, and mean and deviation of the pixels.

    The architecture of a backbone of transformers is written to ``backbone/config.json``.
    """
    if backbone is not None and getattr(backbone, "has_config", False):
        config = backbone.get_submodule("model").config
        assert not isinstance(config, (Tensor, nn.Module))
        write_whole(out / _BACKBONE / "config.json", config.to_json_string())
    state = {name: value.contiguous().cpu() for name, value in network.state_dict().items()}
    require("rankwise.vision", "safetensors")
    from safetensors.torch import save  # noqa: PLC0415  (an extra)

    write_whole(out / MODEL, sealed(save(state, METADATA)))


def require_finished(out: Path, *names: str) -> None:
    """Raise unless a folder has the settings, the model and other files of a finished run."""
    for name in (CONFIG, *names, MODEL):
        if not (out / name).is_file():
            raise UsageError(f"{out} is not the folder of a finished run: there is no {name}")
    require_unchanged(out, CONFIG, *names, MODEL)


def load_model(out: Path, chosen: Chosen, make: Callable[[Chosen, State], Network]) -> Network:
    """Make the network of a finished run and load its weights; in evaluation mode.

    ``make`` gets the settings of the network, without the weights it started from: all weights are
    in the folder, and those may be gone.
    """
    folder = out / _BACKBONE
    given = chosen.weights is not None and folder.is_dir()
    settings = chosen.replace(weights=str(folder) if given else None)
    return load_state(out, lambda state: make(settings, state))


def load_state(out: Path, make: Callable[[State], Network]) -> Network:
    """Load the weights of a finished run into the network that ``make`` returns for them."""
    require("rankwise.vision", "safetensors")
    from safetensors.torch import load  # noqa: PLC0415  (an extra)

    with foreign_errors(f"{out / MODEL}: does not go with {CONFIG}"):
        content = (out / MODEL).read_bytes()
        require_seal(content)
        state: State = load(content)
        network = make(state)
        network.load_state_dict(state)
    return network.eval()
