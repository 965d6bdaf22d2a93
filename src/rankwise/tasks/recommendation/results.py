"""Files of a run: settings, model, interactions, results and report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save

from rankwise.errors import UsageError
from rankwise.files import nan_to_none, write_json, write_whole
from rankwise.report import Figure, Section, Table, settings_section, write_html
from rankwise.report.plots import as_figure, history_axes
from rankwise.report.verdict import Verdict
from rankwise.tasks.recommendation.evaluation import Evaluation
from rankwise.tasks.recommendation.network import Recommender
from rankwise.tasks.recommendation.problem import Problem
from rankwise.tasks.recommendation.settings import Settings
from rankwise.tasks.recommendation.training import Trained, new_network
from rankwise.training import require_unchanged

CONFIG, MODEL, PAIRS, IDS = "config.json", "model.safetensors", "pairs.safetensors", "ids.json"


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
            why = "is not finished: train it on with --resume" if unfinished else "is not a run"
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
        for name, codes, known in (
            ("user", problem.user, problem.users),
            ("item", problem.item, problem.items),
        ):
            if len(codes) and not 0 <= codes.min() <= codes.max() < len(known):
                found = f"{PAIRS} has the {name}s {codes.min()} to {codes.max()}"
                raise ValueError(f"{found}, {IDS} {len(known)} names")
        with torch.random.fork_rng(devices=[]):
            network = new_network(problem, settings)
        network.load_state_dict(state)
    except (SafetensorError, KeyError, TypeError, RuntimeError, ValueError) as error:
        why = " ".join(str(error).split())
        raise UsageError(f"{folder}: is not a run that can be read: {why}") from None
    return settings, problem, network.eval()


def write_results(
    out: Path,
    trained: Trained,
    problem: Problem,
    results: Mapping[str, Evaluation],
    *,
    verdict: Verdict,
) -> Path:
    """``results.json`` and ``index.html``, whose path is returned."""
    means = {name: found.means() for name, found in results.items()}
    settings, counts = trained.settings, problem.counts()
    notes = [*problem.remarks, *notes_of(results)]
    write_json(
        out / "results.json",
        {
            "test": nan_to_none(
                {n: {m: vars(v) for m, v in row.items()} for n, row in means.items()}
            ),
            "best_epoch": trained.best,
            "epochs": len(trained.history),
            "warm_start_epochs": trained.warm,
            "temperature": settings.temperature,
            "temperatures": {f"{t:g}": value for t, value in trained.tried.items()},
            "refit_steps": trained.refit_steps,
            "counts": counts,
            "notes": notes,
        },
    )
    sections = [
        verdict.section(),
        Section(
            "How good the recommendations are",
            [
                "Every user ranks all the items of the catalog that they had not seen in the "
                "training and validation parts, and is judged by their positives of the test part.",
                *notes,
            ],
            tables=[results_table(results)],
        ),
        Section("Training", [course(settings, trained)], figures=[_curve(settings, trained)]),
        Section(
            "Data", tables=[Table(("what", "number"), [(n, f"{v:,}") for n, v in counts.items()])]
        ),
        settings_section(settings.model_dump()),
    ]
    return write_html(out / "index.html", "Recommendations", sections)


def results_table(results: Mapping[str, Evaluation]) -> Table:
    """One row for each metric, one column for each recommender."""
    means = {name: found.means() for name, found in results.items()}
    names = list(next(iter(means.values()))) if means else []
    n = max((mean.n for row in means.values() for mean in row.values()), default=0)
    return Table(
        ("metric", *means),
        [(name, *(row[name] for row in means.values())) for name in names],
        f"Means over {n} users of the test part; ± is a 95 % interval over them, not over "
        "trainings.",
    )


def course(settings: Settings, trained: Trained) -> str:
    """Which epoch was kept, and whether it was one of the objective."""
    if trained.best == 0:
        return (
            f"{len(trained.history)} epochs; none was as good on validation as the start, "
            f"{settings.metric} {trained.start:.4f}, which is the model."
        )
    value = trained.value
    said = (
        f"{len(trained.history)} epochs; the best {settings.metric} on validation, {value:.4f}, "
        f"was that of epoch {trained.best}{', which is the model' * (not trained.refit_steps)}."
    )
    if trained.warm:
        said += f" The first {trained.warm} were a warm start by softmax."
        if trained.best <= trained.warm:
            said += f" {settings.objective} did not make it better on validation."
    if trained.tried:
        tried = ", ".join(f"{t:g} ({v:.4f})" for t, v in sorted(trained.tried.items()))
        said += f" The temperature {trained.network.temperature:g} was the best of {tried}."
    if trained.refit_steps:
        said += (
            f" The model was then trained anew for {trained.refit_steps} steps, as many as it took "
            "to that epoch, on the training and the validation part."
        )
    return said


def notes_of(results: Mapping[str, Evaluation]) -> list[str]:
    """What is to be said of the users, once."""
    return list(dict.fromkeys(note for found in results.values() for note in found.notes()))


def _curve(settings: Settings, trained: Trained) -> Figure:
    values = [row[settings.metric] for row in trained.history]
    kept = trained.value
    label = f"{settings.metric}, validation"
    canvas, axes = history_axes(values, label, (trained.best, kept))
    if 0 < trained.warm < len(values):
        axes.axvline(trained.warm + 0.5, color="#5b6770", linewidth=0.8, linestyle=":")
        axes.annotate(
            f" {settings.objective}",
            (trained.warm + 0.5, 0.02),
            xycoords=("data", "axes fraction"),
            fontsize=8,
            color="#5b6770",
        )
    return as_figure(
        canvas,
        f"{settings.metric} on validation over {len(values)} epochs, from {values[0]:.4f} to "
        f"{values[-1]:.4f}; the epoch that was kept is marked.",
    )
