"""What a finished run was, and its results, from the files of its folder, whatever the command."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankwise._record import RUN, read_record, require_unchanged
from rankwise._yaml import parse_yaml
from rankwise.errors import UsageError, foreign_errors
from rankwise.files import read_json
from rankwise.report.comparison.run import number
from rankwise.report.comparison.run_files import read_object, read_run

_READ = ("results.json", "config.json", "config.yaml", "predictions.npz")
_Z = 1.96  # standard errors of a 95 % interval
_IMAGE_METRICS = ("map", "auroc", "partial_auroc", "top_1", "r_precision", "map_at_r", "ap", "ap50")


@dataclass(frozen=True)
class Result:
    """A metric on the rows of a part, with its 95 % interval where it is known."""

    name: str
    value: float
    low: float = math.nan
    high: float = math.nan

    @property
    def title(self) -> str:
        """The name with the interval."""
        if math.isnan(self.low) or math.isnan(self.high):
            return self.name
        return f"{self.name} (95 % {self.low:.4f} to {self.high:.4f})"


@dataclass(frozen=True)
class Summary:
    """A finished run."""

    command: str  # without rankwise, such as "compare"
    version: str  # of rankwise
    settings: Mapping[str, object]
    data: Mapping[str, object]  # facts by name
    results: tuple[Result, ...]  # the first one is that of the metric it was chosen by
    part: str = "test"  # of the results: test, or validation or train where there is no test
    compared: Mapping[str, tuple[Result, ...]] = field(default_factory=dict)  # by name of a model
    parts: Mapping[str, tuple[Result, ...]] = field(default_factory=dict)  # others, of this model
    remarks: tuple[str, ...] = ()
    model: str = ""  # what was trained, in words


def read_summary(folder: Path) -> Summary | None:
    """Read the results of a finished run; None where a command left none that are known.

    Raises:
        UsageError: The folder holds no finished run, or a file of it is damaged.
    """
    about = read_record(folder)
    if about is None:
        raise UsageError(f"{folder}: holds no run that rankwise wrote: {RUN} is missing")
    command, version = about.command.removeprefix("rankwise "), about.version
    require_unchanged(folder, *_READ)
    if command not in _READERS or not (folder / "results.json").is_file():
        return None
    with foreign_errors(f"{folder}: its results cannot be read"):
        found = _compare(folder) if command == "compare" else _other(folder, command)
    return Summary(command, version, **found)


def _compare(folder: Path) -> dict[str, Any]:
    run, config = read_run(folder), read_object(folder / "config.json")
    best, data = run.recommended, dict(run.data)
    others = {
        each.name: (_estimated(run.metric, each.test),)
        for each in run.candidates
        if each.number != best.number
    }
    rows, positives = number(data.get("rows")), number(data.get("positives"))
    facts = {
        "rows": int(rows),
        "columns": data.get("features"),
        "share of positives": f"{positives / rows:.4%}" if rows else "–",
        **{f"{part} rows": data.get(part) for part in ("train", "validation", "test")},
        "SHA-256 of the file": config.get("sha256"),
    }
    kept = ("metric", "candidates", "budget", "seed", "seeds", "repeats", "target", "positive")
    return {
        "settings": {name: config[name] for name in kept if config.get(name) is not None},
        "data": facts,
        "results": (_estimated(run.metric, best.test),),
        "compared": others,
        "remarks": tuple(filter(None, (run.verdict, run.not_best, *run.remarks))),
        "model": best.title,
    }


def _estimated(name: str, found: Any) -> Result:
    return Result(name, found.value, found.low, found.high)


def _other(folder: Path, command: str) -> dict[str, Any]:
    results = read_json(folder / "results.json")
    settings: Any
    files: Mapping[str, object] = {}
    if (folder / "config.yaml").is_file():
        settings = parse_yaml((folder / "config.yaml").read_text("utf-8"))
    else:
        config = read_json(folder / "config.json")
        settings, files = config["settings"], config.get("data", {})
    named = _READERS[command](results, settings)
    *_, main = named
    model = " ".join(str(settings[key]) for key in ("model", "objective") if settings.get(key))
    section = settings.get("objective")
    if isinstance(section, Mapping):
        model = str(section.get("name", ""))
    others = {name: found for name, found in named.items() if name != main}
    parts = command == "rank"  # else they are models
    facts = dict(_facts(results, settings))
    if parts and "clicks" in files:
        facts["relevances of the training"] = "clicks divided by the propensity of their position"
    return {
        "settings": settings,
        "data": facts,
        "results": named[main],
        "part": main if parts else "test",
        "compared": {} if parts else others,
        "parts": others if parts else {},
        "remarks": tuple(map(str, results.get("notes", ()))),
        "model": model,
    }


def _facts(results: Mapping[str, Any], settings: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    data = settings.get("data")
    if isinstance(data, Mapping):
        yield "kind", data.get("kind")
    yield from dict(results.get("counts", {})).items()
    for part, metrics in results.get("results", {}).items():  # of rank
        yield f"{part} queries", max((found["queries"] for found in metrics.values()), default=None)
    for name, found in results.items():
        if isinstance(found, Mapping) and "images" in found:
            yield f"test images ({name})", found["images"]


def _interval(name: str, found: Mapping[str, Any], value: str) -> Result:
    mean, error = number(found.get(value)), number(found.get("standard_error"))
    return Result(name, mean, mean - _Z * error, mean + _Z * error)


Named = dict[str, tuple[Result, ...]]


def _rank(results: Mapping[str, Any], settings: Mapping[str, Any]) -> Named:
    parts = results["results"]
    chosen = str(settings["metric"])
    return {
        part: tuple(
            _interval(name, found, "value")
            for name, found in sorted(known.items(), key=lambda pair: pair[0] != chosen)
        )
        for part, known in parts.items()
    }


def _recommend(results: Mapping[str, Any], settings: Mapping[str, Any]) -> Named:
    chosen = str(settings["metric"])
    return {
        name: tuple(
            _interval(metric, found, "value" if "value" in found else "mean")
            for metric, found in sorted(known.items(), key=lambda pair: pair[0] != chosen)
        )
        for name, known in results["test"].items()
    }


def _images(results: Mapping[str, Any], settings: Mapping[str, Any]) -> Named:
    found: Named = {}
    for network, known in results.items():
        galleries = any(isinstance(each, Mapping) and "map" in each for each in known.values())
        by = known if galleries else {"": known}
        for gallery, values in by.items():
            name = f"{network}, {gallery}" if gallery else network
            found[name] = tuple(
                _interval(metric, values if metric == "map" else {metric: values[metric]}, metric)
                for metric in _IMAGE_METRICS
                if isinstance(values.get(metric), float)
            )
    return {name: values for name, values in found.items() if values}


_READERS = {
    "compare": _rank,  # read by itself
    "rank": _rank,
    "recommend": _recommend,
    "classify": _images,
    "retrieval": _images,
}
