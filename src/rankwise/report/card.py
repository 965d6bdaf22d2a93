"""The model card of a run: ``README.md`` in the format of the Hugging Face Hub."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from rankwise.errors import UsageError
from rankwise.files import write_whole
from rankwise.report.results import Result, Summary, read_summary
from rankwise.serving import load_scorer

CARD = "README.md"
_TASKS = {
    "compare": ("tabular-classification", "Tabular classification"),
    "rank": ("text-ranking", "Learning to rank"),
    "recommend": ("recommendation", "Recommendation"),
    "classify": ("image-classification", "Image classification"),
    "retrieval": ("image-feature-extraction", "Image retrieval"),
}
_ROWS = {
    "test": "rows that were held out",
    "validation": "the validation rows, by which the training was chosen",
    "train": "the rows of the training",
}
_LIMITS = {
    "test": "The numbers hold for rows like those that were held out.",
    "validation": "No rows were held out for a test: on new rows expect lower numbers.",
    "train": "No rows were held out: these numbers are no estimate for new rows.",
}
_UNKNOWN_TASKS = ("recommendation",)  # which the Hub has not among its pipeline tags
_LOAD = {
    "compare": """from rankwise.serving import load_scorer  # needs numpy alone

scorer = load_scorer("FOLDER")
scorer.scores(rows), scorer.probabilities(rows)""",
    "rank": """from rankwise.estimators import Ranker

ranker = Ranker.load("FOLDER/model.ranker")
ranker.decision_function(features)""",
    "recommend": """from pathlib import Path

from rankwise.tasks.recommendation import recommend

recommend(Path("FOLDER"), k=10)""",
    "classify": "rankwise classify evaluate FOLDER --root IMAGES",
    "retrieval": "rankwise retrieval evaluate FOLDER --root IMAGES",
}
_PREDICT = "rankwise predict FOLDER rows.csv"  # a network, or more than two classes


def write_card(folder: Path, out: Path | None = None, *, name: str | None = None) -> Path:
    """Write the model card of a finished run.

    Args:
        folder: Folder of a run of compare, rank, recommend, classify or retrieval.
        out: File to write; None: ``README.md`` in the folder.
        name: Name of the model; None: that of the folder.

    Returns:
        The file.

    Raises:
        UsageError: The folder holds no finished run of these commands.
    """
    summary = read_summary(folder)
    if summary is None:
        known = ", ".join(_TASKS)
        raise UsageError(
            f"{folder}: has no results that a card can show; pass the folder of a finished run of "
            f"rankwise {known}"
        )
    load = _LOAD[summary.command]
    if summary.command == "compare" and not _is_scored_with_numpy(folder):
        load = _PREDICT
    text = card_text(summary, name or folder.absolute().name, load)
    return write_whole(out or folder / CARD, text)


def _is_scored_with_numpy(folder: Path) -> bool:
    try:
        load_scorer(folder)
    except UsageError:
        return False
    return True


def card_text(summary: Summary, name: str, load: str) -> str:
    """Return the card of a run as Markdown with its metadata in YAML."""
    front = yaml.safe_dump(metadata(summary, name), sort_keys=False, allow_unicode=True, width=1000)
    main = summary.results[0] if summary.results else None
    load = load.replace("FOLDER", name)
    language = "python" if "import" in load else "bash"
    sections = [
        f"# {_plain(name)}",
        f"{_plain(summary.model) or 'A model'}. Made by `rankwise {summary.command}` "
        f"(rankwise {summary.version}).",
        "## Results",
        f"On {_ROWS[summary.part]}" + (f"; chosen by {main.name}." if main else "."),
        _table(("metric", "value", "95 % interval"), [_row(each) for each in summary.results]),
        *(["## Compared with", _others("model", summary.compared)] if summary.compared else []),
        *(["## Other parts", _others("part", summary.parts)] if summary.parts else []),
        "## Data",
        _table(("fact", "value"), [(key, _cell(v)) for key, v in summary.data.items()]),
        "## Settings",
        _table(("setting", "value"), [(k, _cell(v)) for k, v in summary.settings.items()]),
        "## Limits",
        f"{_LIMITS[summary.part]} Scores rank rows; where the data or the share of positives "
        "changes, measure again and calibrate again.",
        *([_list(summary.remarks)] if summary.remarks else []),
        "## How to load",
        "Every file has its SHA-256 in it, which is verified; nothing is unpickled.",
        f"```{language}\n{load}\n```",
    ]
    return f"---\n{front}---\n\n" + "\n\n".join(sections) + "\n"


def metadata(summary: Summary, name: str) -> dict[str, object]:
    """Return the metadata of the card, as the Hub reads it."""
    kind, words = _TASKS[summary.command]
    part = "held-out rows" if summary.part == "test" else f"{summary.part} rows"
    known = [each for each in summary.results if math.isfinite(each.value)]
    dataset = str(summary.data.get("SHA-256 of the file") or summary.data.get("kind") or "private")
    found: dict[str, object] = {
        "library_name": "rankwise",
        "tags": ["rankwise", "ranking", f"rankwise-{summary.command}"],
        "metrics": [each.name for each in known],
        "model-index": [
            {
                "name": name,
                "results": [
                    {
                        "task": {"type": kind, "name": words},
                        "dataset": {"type": "private", "name": f"{part} ({dataset[:16]})"},
                        "metrics": [
                            {"type": each.name, "name": each.title, "value": round(each.value, 6)}
                            for each in known
                        ],
                    }
                ],
            }
        ],
    }
    if not known:
        del found["model-index"]
    if kind not in _UNKNOWN_TASKS:
        found["pipeline_tag"] = kind
    return found


def _others(kind: str, others: Mapping[str, tuple[Result, ...]]) -> str:
    rows = [(name, *_row(each)) for name, found in others.items() for each in found]
    return _table((kind, "metric", "value", "95 % interval"), rows)


def _row(result: Result) -> tuple[str, str, str]:
    interval = "–" if math.isnan(result.low) else f"{result.low:.4f} to {result.high:.4f}"
    return result.name, "–" if math.isnan(result.value) else f"{result.value:.4f}", interval


def _cell(value: object) -> str:
    return "–" if value is None else _plain(value)[:500].replace("|", "\\|")


def _plain(value: object) -> str:
    """Return text of the data or settings on one line, which Markdown does not take for HTML."""
    return " ".join(str(value).split()).replace("<", "&lt;")


def _table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *((_plain(row[0]), *row[1:]) for row in rows)]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def _list(lines: tuple[str, ...]) -> str:
    return "\n".join(f"- {_plain(line)}" for line in lines)
