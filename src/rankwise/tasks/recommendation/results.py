"""Files of a run: settings, model, interactions, results and report."""

from __future__ import annotations

from collections.abc import Mapping, Set
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load, save

from rankwise.errors import UsageError, foreign_errors
from rankwise.files import nan_to_none, read_json, write_json, write_whole
from rankwise.report import Section, Table, settings_section, write_html
from rankwise.report.elements import Markup, element
from rankwise.report.verdict import Verdict, counted
from rankwise.seals import METADATA, SealError, require_seal, sealed
from rankwise.tasks.recommendation.catalog import Scorer, best_items
from rankwise.tasks.recommendation.evaluation import Evaluation, measure_of
from rankwise.tasks.recommendation.model import Model
from rankwise.tasks.recommendation.outcome import Outcome
from rankwise.tasks.recommendation.problem import Problem
from rankwise.tasks.recommendation.settings import Settings
from rankwise.tasks.recommendation.training import new_model
from rankwise.training import require_unchanged

_USERS, _ITEMS = 6, 6  # shown
CONFIG, MODEL, PAIRS, IDS = "config.json", "model.safetensors", "pairs.safetensors", "ids.json"


def write_model(out: Path, problem: Problem, network: Model) -> None:
    """``model.safetensors``, ``ids.json`` and ``pairs.safetensors``: nothing to be executed."""
    state = {name: t.contiguous() for name, t in network.state_dict().items()}
    write_whole(out / MODEL, sealed(save(state, METADATA)))
    write_json(out / IDS, {"users": problem.users, "items": problem.items})
    columns: dict[str, NDArray[np.generic]] = {
        "user": problem.user.astype(np.int32),
        "item": problem.item.astype(np.int32),
        "positive": problem.positive.astype(np.uint8),
        "part": problem.part,
    }
    write_whole(out / PAIRS, _saved_columns(columns))


def _saved_columns(columns: Mapping[str, NDArray[np.generic]]) -> bytes:
    return sealed(save({name: torch.from_numpy(c) for name, c in columns.items()}, METADATA))


def _read_sealed(path: Path) -> dict[str, torch.Tensor]:
    content = path.read_bytes()
    try:
        require_seal(content)
    except SealError as error:
        raise ValueError(f"{path.name}: {error}; restore it, or train again") from None
    return load(content)


def load_run(folder: Path) -> tuple[Settings, Problem, Model]:
    """The settings, the interactions and the trained model of a finished run."""
    for name in (CONFIG, MODEL, IDS, PAIRS):
        if not (folder / name).is_file():
            unfinished = (folder / CONFIG).is_file()
            why = "is not finished: train it on with --resume" if unfinished else "is not a run"
            raise UsageError(f"{folder}: {why} ({name} is missing)")
    require_unchanged(folder, CONFIG, MODEL, IDS, PAIRS)
    with foreign_errors(f"{folder}: is not a run that can be read", ours_too=True):
        settings = Settings(**read_json(folder / CONFIG)["settings"])
        ids = read_json(folder / IDS)
        columns, state = _read_sealed(folder / PAIRS), _read_sealed(folder / MODEL)
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
            network = new_model(problem, settings, refit=bool(settings.refit))
        network.load_state_dict(state)
    return settings, problem, network.eval()


def write_results(
    out: Path,
    trained: Outcome,
    problem: Problem,
    results: Mapping[str, Evaluation],
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
            "catalog": nan_to_none({name: found.catalog for name, found in results.items()}),
            **trained.record(),
            "counts": counts,
            "notes": notes,
        },
    )
    sections = [
        users_section(problem, trained.network.scores()),
        Section(
            "Recommendation quality",
            [
                "For each user, the model ranks all items that the user has not seen in the "
                "training and validation parts. The positives of the test part should rank first.",
                *notes,
            ],
            tables=[results_table(results)],
        ),
        trained.section(),
        Section(
            "Data", tables=[Table(("data", "number"), [(n, f"{v:,}") for n, v in counts.items()])]
        ),
        settings_section(settings.model_dump()),
    ]
    headline, path = verdict.headline(), out / "index.html"
    return write_html(path, "Recommendations", sections, headline=headline, command="recommend")


def hits_of(metric: str) -> str:
    """The measure that the verdict is made of: hits at the k of a metric."""
    return f"hit@{measure_of(metric).k or 10}"


def sentence(hits: str, results: Mapping[str, Evaluation]) -> str:
    """How many users get an item that they want, from popularity and from the model."""
    before, after = (found.values[hits].numpy() for found in results.values())
    known = ~(np.isnan(before) | np.isnan(after))
    words = (
        "{count} of {total} users get an item that they went on to like among their first "
        f"{hits.removeprefix('hit@')}"
    )
    return counted(words, before[known], after[known], "with the most popular items")


def users_section(problem: Problem, scores: Scorer) -> Section:
    """A few users: what they liked, what is recommended, and what they went on to like."""
    train, seen, test = (
        problem.pairs((0, 1)),
        problem.pairs((0, 1), positive=False),
        problem.pairs((2,)),
    )
    asked = np.flatnonzero(((train.counts > 0) & (test.counts > 0)).numpy())
    users = torch.from_numpy(
        asked[np.linspace(0, len(asked) - 1, min(len(asked), _USERS)).astype(int)]
    )
    rows = []
    for some, items, values in best_items(scores, users, seen, _ITEMS):
        for user, found, known in zip(some.tolist(), items, values > -torch.inf, strict=True):
            liked, wanted = (
                {*map(int, p.items[p.start[user] : p.start[user + 1]])} for p in (train, test)
            )
            shown = [_item(problem, item, wanted) for item in found[known].tolist()]
            rows.append((problem.users[user], _some(problem, liked), shown, _some(problem, wanted)))
    words = (
        f"{len(rows)} users, evenly spaced over those with positives in both parts. A recommended "
        "item with a check mark is one that the user went on to like, in the test part."
    )
    header = ("user", "liked", "recommended, best first", "went on to like")
    return Section("Example users", [words], tables=[Table(header, rows)])


def _item(problem: Problem, item: int, wanted: Set[int]) -> Markup:
    hit = item in wanted
    return element(
        "span", problem.items[item], " ✓" if hit else "", class_="item hit" if hit else "item"
    )


def _some(problem: Problem, items: Set[int]) -> list[Markup]:
    first = [_item(problem, item, set()) for item in sorted(items)[:_ITEMS]]
    more = len(items) - len(first)
    return [*first, *([element("span", f"and {more:,} more", class_="more")] if more else [])]


def results_table(results: Mapping[str, Evaluation]) -> Table:
    """One row for each metric, one column for each recommender."""
    means = {name: found.means() for name, found in results.items()}
    names = list(next(iter(means.values()))) if means else []
    catalogs = [found.catalog for found in results.values()] or [{}]
    n = max((mean.n for row in means.values() for mean in row.values()), default=0)
    return Table(
        ("metric", *means),
        [(name, *(row[name] for row in means.values())) for name in names]
        + [(name, *(f"{c[name]:.4f}" for c in catalogs)) for name in catalogs[0]],
        f"Means over {n} users of the test part; ± is a 95 % interval over them, not over "
        "trainings.",
    )


def notes_of(results: Mapping[str, Evaluation]) -> list[str]:
    """What is to be said of the users, once."""
    return list(dict.fromkeys(note for found in results.values() for note in found.notes()))
