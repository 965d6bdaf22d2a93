"""A run in a folder: what it was asked, the model, who had seen what."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save

from rankwise.errors import UsageError
from rankwise.report import write_json, write_whole
from rankwise.tasks.recommendation.network import Recommender
from rankwise.tasks.recommendation.problem import Problem
from rankwise.tasks.recommendation.settings import Settings
from rankwise.tasks.recommendation.training import new_network
from rankwise.training import require_unchanged

CONFIG, MODEL, PAIRS, IDS = "config.json", "model.safetensors", "pairs.safetensors", "ids.json"


def write_config(out: Path, settings: Settings, source: str) -> None:
    """``config.json``: the settings of the run, and what it was trained on."""
    write_json(out / CONFIG, {"data": source, "settings": settings.model_dump()})


def write_model(out: Path, problem: Problem, network: Recommender) -> None:
    """``model.safetensors``, ``ids.json`` and ``pairs.safetensors``: nothing to be executed."""
    state = {name: t.contiguous() for name, t in network.state_dict().items()}
    write_whole(out / MODEL, save(state))
    write_json(out / IDS, {"users": problem.users, "items": problem.items})
    columns = {
        "user": problem.user.astype(np.int32),
        "item": problem.item.astype(np.int32),
        "positive": problem.positive.astype(np.uint8),
        "part": problem.part,
    }
    write_whole(out / PAIRS, save({n: torch.from_numpy(c) for n, c in columns.items()}))


def load_run(folder: Path) -> tuple[Settings, Problem, Recommender]:
    """The settings, the interactions and the trained network of a finished run."""
    for name in (CONFIG, MODEL, IDS, PAIRS):
        if not (folder / name).is_file():
            unfinished = (folder / CONFIG).is_file()
            why = "is not finished: train it on with --resume" if unfinished else "is no such run"
            raise UsageError(f"{folder}: {why} ({name} is missing)")
    require_unchanged(folder, MODEL, IDS, PAIRS)
    try:
        settings = Settings(**json.loads((folder / CONFIG).read_text())["settings"])
        ids = json.loads((folder / IDS).read_text())
        columns, state = load_file(folder / PAIRS), load_file(folder / MODEL)
        problem = Problem(
            tuple(ids["users"]),
            tuple(ids["items"]),
            columns["user"].long().numpy(),
            columns["item"].long().numpy(),
            columns["positive"].bool().numpy(),
            columns["part"].numpy(),
            undivided=0,
            user_features=state.get("users.known"),
            item_features=state.get("items.known"),
        )
        _require_known(problem)
        with torch.random.fork_rng(devices=[]):
            network = new_network(problem, settings)
        network.load_state_dict(state)
    except (SafetensorError, KeyError, TypeError, RuntimeError, ValueError) as error:
        why = " ".join(str(error).split())
        raise UsageError(f"{folder}: is not a run that can be read: {why}") from None
    return settings, problem, network.eval()


def _require_known(problem: Problem) -> None:
    """Every interaction is of a user and an item that have a name."""
    for name, codes, known in (
        ("user", problem.user, problem.users),
        ("item", problem.item, problem.items),
    ):
        if len(codes) and not 0 <= codes.min() <= codes.max() < len(known):
            raise ValueError(
                f"{PAIRS} has the {name}s {codes.min()} to {codes.max()}, {IDS} {len(known)} names"
            )
