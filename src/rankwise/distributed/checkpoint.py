"""Sharded memories on disk: one safetensors file for each process, and a JSON index."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from rankwise.distributed.sharded_memory import sharded_memories
from rankwise.errors import UsageError, foreign_errors
from rankwise.extras import require
from rankwise.files import sha256_of, write_whole
from rankwise.metrics.gather import gather_rows, is_distributed
from rankwise.seals import METADATA, SealError, read_sealed_json, sealed, sealed_json

INDEX = "memory.index.json"
_FORMAT = 1


def save_sharded(module: nn.Module, folder: str | Path) -> Path:
    """Write the state of an objective, each process the rows of the memory that it keeps.

    The folder gets one safetensors file for each process and ``memory.index.json``, which is
    written last: a save that is interrupted leaves the one before. What is not split is written by
    the first process. Every process has to call, with a folder that all of them see. Nothing is
    pickled. It needs the extra ``train``.

    Args:
        module: Objective, or a module around it such as :class:`AcrossProcesses`; split by
            :func:`shard_memories` or whole.
        folder: Folder of the files; it is made if it does not exist.

    Returns:
        Path of the index.

    Example:
        >>> import tempfile, torch
        >>> from rankwise.distributed import load_sharded, save_sharded
        >>> from rankwise.objectives import SOPRC
        >>> loss = SOPRC(prior=0.1)
        >>> _ = loss(torch.tensor([2.0, 0.5, 1.0]), torch.tensor([1, 0, 0]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     name = save_sharded(loss, folder).name
        ...     load_sharded(fresh := SOPRC(prior=0.1), folder)
        >>> name, torch.equal(fresh.vector.value, loss.vector.value)
        ('memory.index.json', True)
    """
    require("rankwise.distributed", "safetensors")
    from safetensors.torch import save  # noqa: PLC0415

    folder, (rank, world) = Path(folder), _rank_and_world()
    split = _split_buffers(module)
    state = {name: t for name, t in module.state_dict().items() if name in split or rank == 0}
    device = next(iter(module.state_dict().values())).device
    before = _read_index(folder) if (folder / INDEX).exists() and rank == 0 else None
    # The files of a save have its number, so that they never replace those of the one before.
    number = int(_of_all(0 if before is None else before["number"] + 1, device)[0])
    files = [f"memory-{number}-{r:05d}-of-{world:05d}.safetensors" for r in range(world)]
    content = {name: t.detach().cpu().contiguous() for name, t in state.items()}
    write_whole(folder / files[rank], sealed(save(content, METADATA)))
    _of_all(0, device)  # all files are there before the index names them
    if rank == 0:
        hashes = {name: sha256_of(folder / name) for name in files}
        index = {"format": _FORMAT, "number": number, "files": hashes, "split": split}
        write_whole(folder / INDEX, sealed_json(index))
        for name in before["files"] if before is not None else ():
            (folder / name).unlink(missing_ok=True)
    _of_all(0, device)
    return folder / INDEX


def load_sharded(module: nn.Module, folder: str | Path) -> None:
    """Read what :func:`save_sharded` wrote, with any number of processes.

    Each process keeps the rows of its own ids, or all of them where the memory is not split.

    Args:
        module: Module as it was saved, with the same options; split or not.
        folder: Folder of the files.

    Raises:
        ValueError: If a file is missing or damaged, or is of another module; nothing is changed.

    Example:
        >>> import tempfile, torch
        >>> from rankwise.distributed import load_sharded, save_sharded
        >>> from rankwise.objectives import PairwiseAUC, SOPRC
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = save_sharded(SOPRC(prior=0.1), folder)
        ...     load_sharded(SOPRC(prior=0.1), folder)
    """
    require("rankwise.distributed", "safetensors")
    from safetensors.torch import load  # noqa: PLC0415

    folder, (rank, world) = Path(folder), _rank_and_world()
    index, split = _read_index(folder), _split_buffers(module)
    state: dict[str, Tensor] = {}
    for old_rank, (name, digest) in enumerate(index["files"].items()):
        path = folder / name
        with foreign_errors(f"{path} is missing or damaged"):
            if not path.exists() or sha256_of(path) != digest:
                raise UsageError(f"{path} is missing or damaged; load another folder")
            held = load(path.read_bytes())
        for key, rows in held.items():
            was_split = key in index["split"]
            if not was_split and key not in split:
                state[key] = rows
                continue
            first, step = (old_rank, len(index["files"])) if was_split else (0, 1)
            ids = first + step * torch.arange(len(rows))
            r, w = (rank, world) if key in split else (0, 1)
            size = len(range(r, index["split"].get(key, len(rows)), w))
            kept = state.setdefault(key, rows.new_zeros(size, *rows.shape[1:]))
            own = ids % w == r
            kept[ids[own] // w] = rows[own]
    expected = module.state_dict()
    wrong = [
        key
        for key in sorted(state.keys() | expected.keys())
        if key not in state or key not in expected or state[key].shape != expected[key].shape
    ]
    if wrong:
        raise ValueError(
            f"{folder / INDEX} must be of a module with the same options, "
            f"got another {', '.join(wrong)}"
        )
    module.load_state_dict(state)


def _rank_and_world() -> tuple[int, int]:
    return (dist.get_rank(), dist.get_world_size()) if is_distributed() else (0, 1)


def _split_buffers(module: nn.Module) -> dict[str, int]:
    """Return the names of the buffers that are split, and the number of ids of each."""
    return {
        f"{path}.{name}" if path else name: memory.num_items
        for path, memory in sharded_memories(module).items()
        if memory.shard is not None
        for name in memory.shard.names
    }


def _of_all(number: int, device: torch.device) -> Tensor:
    """Return a number of every process; all of them have come this far."""
    own = torch.tensor([number], device=device)
    return gather_rows(own) if is_distributed() else own


def _read_index(folder: Path) -> dict[str, Any]:
    path = folder / INDEX
    try:
        index: dict[str, Any] = read_sealed_json(path.read_bytes())
        known = index["format"] == _FORMAT
        index["split"].items(), int(index["number"])
        if any(Path(name).name != name for name in index["files"].keys()):  # noqa: SIM118
            raise ValueError("a file is not in the folder")
    except SealError as error:
        raise ValueError(f"{path}: {error}; load another folder") from None
    except Exception as error:
        raise ValueError(
            f"{path} must be an index that save_sharded wrote, got {type(error).__name__}"
        ) from None
    if not known:
        raise ValueError(f"{path} must have format {_FORMAT}, got {index['format']!r}")
    return index
