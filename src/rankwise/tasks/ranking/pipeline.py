"""Whole runs of learning to rank: fit, evaluate, write."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray

from rankwise.data import DataError
from rankwise.data.letor import Letor
from rankwise.errors import UsageError, foreign_errors
from rankwise.estimators import Ranker
from rankwise.estimators.names import is_graded
from rankwise.estimators.processes import shared_fit
from rankwise.files import read_json
from rankwise.naming import metric
from rankwise.report import write_csv, write_json
from rankwise.report.verdict import Verdict
from rankwise.tasks.ranking.baseline import best_feature
from rankwise.tasks.ranking.clicks import PROPENSITIES, ClickModel
from rankwise.tasks.ranking.evaluate import QueryMetric, evaluate_lists, require_gains
from rankwise.tasks.ranking.report import (
    baselines_table,
    compared_with_feature,
    queries_section,
    write_results,
)
from rankwise.tasks.ranking.settings import DEFAULT, FinishedSettings, Settings
from rankwise.training import (
    Devices,
    open_folder,
    require_one_process,
    require_unchanged,
    world_size,
)


def fitted(
    settings: Settings,
    train: Letor,
    validation: Letor | None = None,
    *,
    checkpoint: Path | None = None,
) -> Ranker:
    """Fit on the lists of one file, stop by those of another (else by a share of the first).

    With ``checkpoint`` the training writes its state there, and resumes from it.
    """
    parts = [train] if validation is None else [train, validation]
    width = max(part.width for part in parts)
    given = [(part.columns(width), _target(settings, part), part.groups) for part in parts]
    (features, target, groups), held_out = given[0], given[1] if len(given) > 1 else None
    ranker = settings.ranker()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a poor fit shows in its validation
            ranker.fit(features, target, groups=groups, validation=held_out, checkpoint=checkpoint)
    except ValueError as error:
        raise UsageError(str(error)) from None
    return ranker


def _target(settings: Settings, data: Letor) -> NDArray[np.float64]:
    """Return relevances, or two classes where the objective knows no more."""
    target = data.target
    if not is_graded(settings.objective):
        target = (target >= settings.relevant).astype(np.float64)
    else:
        require_gains(data, settings.gains())
        if len(np.unique(target)) > 2 and not metric(settings.metric).setting.kernel.graded:
            raise UsageError(
                f"metric {settings.metric} stops training by two classes, but the objective "
                f"{settings.objective} trains on the relevances of {data.path}; pass a metric "
                "of relevances, such as ndcg@10 (--metrics still reports any metric)"
            )
    if not target.any() or (target == target[0]).all():
        raise DataError(f"{data.path}: all documents are of one relevance; nothing to rank")
    return target


CONFIG, MODEL, CHECKPOINT = "config.json", "model.ranker", "checkpoint.pt"


@dataclass(frozen=True)
class Finished:
    """Results of a run, and its report."""

    results: dict[str, dict[str, QueryMetric]]  # by part, then by metric
    ranker: Ranker
    report: Path
    verdict: Verdict


def run(
    settings: Settings,
    out: Path,
    train: Letor,
    validation: Letor | None = None,
    test: Letor | None = None,
    *,
    metrics: Sequence[str] = DEFAULT,
    clicks: ClickModel | None = None,
    resume: bool = False,
) -> Finished | None:
    """Fit into the folder ``out``, then evaluate every file that was given.

    A folder that already holds a run needs ``resume``: a stopped run continues from its checkpoint,
    to the same model as without the stop; a finished one is evaluated again. Several processes fit
    one network on their joined batches; the first one writes, the others return None. ``clicks`` is
    where the relevances of ``train`` come from, if not from the file itself.
    """
    train.require_width()
    if settings.model != "mlp":
        require_one_process(f"rankwise rank --model {settings.model}")
    devices, ended = None, (out / CONFIG).exists
    if world_size() > 1:
        devices = Devices(device=torch.device(str(settings.options.get("device", "cpu"))))
    with open_folder(out, "rank", resume=resume, devices=devices) as folder, shared_fit():
        fit_again = not (ended() if devices is None else devices.on_first(ended))
        if folder is None:
            if fit_again:
                fitted(settings, train, validation)
            return None
        given = {"train": train, "validation": validation, "test": test}
        parts = {name: part for name, part in given.items() if part is not None}
        names, relevant = (*metrics, settings.metric), settings.relevant
        # What cannot be evaluated, and a feature too many, is said before the work is done.
        tied = {
            name: evaluate_lists(np.zeros(len(part)), part, names, relevant=relevant)
            for name, part in parts.items()
        }
        if test is not None:
            test.columns(max(part.width for part in (train, validation) if part is not None))
        files = {name: str(part.path) for name, part in parts.items()}
        if clicks is not None:
            files["clicks"] = str(clicks.path)
            write_csv(out / PROPENSITIES, clicks.rows())
        asked = {"data": files, "settings": settings.model_dump()}
        if fit_again:
            ranker = fitted(settings, train, validation, checkpoint=out / CHECKPOINT)
            ranker.save(out / MODEL)
        else:
            _require_the_same(out / CONFIG, asked)
            ranker = _read_run(out)[1]
        results = {
            name: evaluate_lists(scores_of(ranker, part), part, names, relevant=relevant)
            for name, part in parts.items()
        }
        last = list(parts)[-1]
        feature = best_feature(train, settings.metric, relevant=relevant)
        alone = evaluate_lists(feature.scores(parts[last]), parts[last], names, relevant=relevant)
        said = compared_with_feature(
            settings, ranker, last, results[last], feature=feature, alone=alone
        )
        name = settings.metric
        change = results[last][name].values - alone[name].values
        rows = {"model": results[last], str(feature): alone, "random order": tied[last]}
        report = write_results(
            out,
            settings,
            ranker,
            parts,
            results,
            verdict=said,
            first=queries_section(name, last, change),
            baselines=baselines_table(last, rows),
        )
        # Last: a folder without it holds no run that has ended.
        write_json(out / CONFIG, asked)
        (out / CHECKPOINT).unlink(missing_ok=True)
        folder.finish()
        return Finished(results, ranker, report, said)


def _require_the_same(config: Path, asked: Mapping[str, Mapping[str, object]]) -> None:
    """Refuse to resume a finished run of other files or settings."""
    with foreign_errors(f"{config}: is not the settings of a run"):
        runs = read_json(config), json.loads(json.dumps(asked))
        before, now = ({**run.get("settings", {}), **run.get("data", {})} for run in runs)
    for name in sorted({*before, *now} - {"test"}):
        if before.get(name) != now.get(name):
            raise UsageError(
                f"{config.parent}: the run has ended with {name} = {before.get(name)!r}, "
                f"not {now.get(name)!r}; choose another folder with --out"
            )


def load_run(folder: Path) -> tuple[Settings, Ranker]:
    """The settings and the ranker of a finished run."""
    for name in (CONFIG, MODEL):
        if not (folder / name).is_file():
            raise UsageError(f"{folder}: is not a finished run ({name} is missing)")
    require_unchanged(folder, CONFIG, MODEL)
    return _read_run(folder)


def _read_run(folder: Path) -> tuple[Settings, Ranker]:
    with foreign_errors(f"{folder}: is not a run that can be read", ours_too=True):
        settings = FinishedSettings(**read_json(folder / CONFIG)["settings"])
        return settings, Ranker.load(folder / MODEL)


def scores_of(ranker: Ranker, data: Letor) -> NDArray[np.float64]:
    """The scores of the documents."""
    return ranker.decision_function(data.columns(ranker.n_features_in_))


def scores_frame(data: Letor, scores: NDArray[np.float64]) -> pl.DataFrame:
    """Query, document, rank and score of every document, in the order of the file.

    Tied documents share the rank of the first of them.
    """
    frame = pl.DataFrame(
        {
            "query": [data.queries[group] for group in data.groups.tolist()],
            "document": [data.document(row) for row in range(len(data))],
            "score": scores,
        }
    )
    rank = pl.col("score").rank("min", descending=True).over("query")
    return frame.select("query", "document", rank.alias("rank"), "score")
