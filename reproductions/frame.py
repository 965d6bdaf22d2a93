"""The frame that all studies share: settings, runs kept one by one, and the report.

To add a study, make one folder ``reproductions/my_study`` with two files. ``__init__.py`` says
what the study asks and needs, without importing anything::

    QUESTION = "Does the loss stall?"
    TIME = "1 min"  # on two cores
    DATA = "--data DIR with images/"  # only if it needs data

``study.py`` says how it is measured and described::

    @dataclass(frozen=True)
    class Plan(BasePlan):  # numbers, strings and tuples of them are options of the command line
        QUICK: ClassVar = {"steps": 100}  # what --quick changes
        steps: int = 400
        repeats: int = 5  # what --draws changes; DRAWS names another field, None refuses it

    def measure(plan: Plan, setting: Setting) -> list[Curve]:
        # Each outcome is kept on disk as it ends; a study that was stopped resumes there.
        work = [(loss, repeat) for loss in LOSSES for repeat in range(plan.repeats)]
        return setting.each(plan, work, "training", train_one, Curve)

    def report(plan: Plan, curves: list[Curve], setting: Setting) -> Report: ...

    study = Study(Plan, measure, report)

``python -m reproductions my-study --help`` lists its options, ``python -m reproductions`` all
studies. A study that needs data reads ``setting.data`` in its own ``Plan.of``.

Every sentence about an outcome is made from the numbers of the run (``reproductions.sentences`` has
what is said often): ``tests/reproductions/test_sentences.py`` runs every study with two seeds and
compares the text with the numbers. What the paper says is marked as its claim.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar, get_type_hints

from rankwise.checks import require_count
from rankwise.data import DataError
from rankwise.report import (
    Figure,
    Headline,
    Section,
    Table,
    write_csv,
    write_html,
    write_json,
    write_whole,
)

_Item = TypeVar("_Item")
_Found = TypeVar("_Found")
_Plan = TypeVar("_Plan", bound="BasePlan")
_Measured = TypeVar("_Measured")

_METHOD = ("Why", "Claim", "What the papers claim", "Method")
OPTION_TYPES = (int, float, str, tuple[int, ...], tuple[float, ...], tuple[str, ...])


@dataclass(frozen=True)
class Entry:
    """The question a study answers, its time on two cores, and the data it needs."""

    question: str
    time: str
    data: str = "–"


class Track(Protocol):
    """Iterates over a sequence and shows the progress; ``doing`` describes the work."""

    def __call__(self, work: Sequence[_Item], doing: str) -> Iterable[_Item]: ...


def _silently(work: Sequence[_Item], doing: str) -> Iterable[_Item]:
    return work


@dataclass(frozen=True)
class Setting:
    """How a study is run.

    ``draws`` is the number of repeats of its random part, ``data`` the file or folder of a study
    about given data, ``options`` are changed fields of its plan, and ``folder`` is where its runs
    are kept (None: in memory).
    """

    seed: int = 0
    quick: bool = False
    draws: int | None = None
    track: Track = _silently
    data: Path | None = None
    folder: Path | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.draws is not None:
            require_count("draws", self.draws)
            if self.draws < 2:  # one draw has no interval, and every mean is reported with one
                raise ValueError("draws must be a whole number >= 2 or None, got 1")

    def __str__(self) -> str:
        return f"Seed {self.seed}{', a quick run' if self.quick else ''}."

    def each(
        self,
        plan: BasePlan,
        work: Sequence[_Item],
        doing: str,
        make: Callable[[_Item], _Found],
        kind: type[_Found],
    ) -> list[_Found]:
        """Return the outcome of every item of ``work``, from disk where it was kept before.

        ``kind`` is the type of an outcome: a dataclass, or a list of them. Outcomes of another
        plan or seed are kept apart.
        """
        from pydantic import TypeAdapter  # noqa: PLC0415  (listing the studies does not need it)

        adapter = TypeAdapter(kind)
        asked = json.dumps([plan.options(), self.seed], sort_keys=True)
        label = hashlib.sha256(asked.encode()).hexdigest()[:8]
        runs = Runs(self.folder, {})
        found = []
        for item in self.track(work, doing):
            parts = item if isinstance(item, tuple) else (item,)
            name = f"{label} {doing}: {', '.join(map(str, parts))}"

            def dumped(item: _Item = item) -> object:
                return _finite(adapter.dump_python(make(item), mode="json"), str)

            found.append(adapter.validate_python(runs.get(name, dumped)))
        return found


@dataclass(frozen=True)
class BasePlan:
    """What a study measures; a subclass adds fields, and their defaults are the full study."""

    QUICK: ClassVar[Mapping[str, Any]] = {}
    DRAWS: ClassVar[str | None] = "repeats"

    @classmethod
    def of(cls, setting: Setting) -> Self:
        """Return the plan for a setting."""
        return cls().changed(setting)

    def changed(self, setting: Setting) -> Self:
        """Apply the quick form, the draws and the options of a setting."""
        values = dict(self.QUICK) if setting.quick else {}
        if setting.draws is not None:
            if self.DRAWS is None:
                raise ValueError(
                    f"draws has no effect on this study, which repeats nothing, got {setting.draws}"
                    "; leave it out, or choose another seed"
                )
            values[self.DRAWS] = setting.draws
        return replace(self, **values | dict(setting.options))

    @classmethod
    def option_types(cls) -> dict[str, Any]:
        """Return the fields that are options of the command line, with their types."""
        hints = get_type_hints(cls)
        return {f.name: hints[f.name] for f in fields(cls) if hints[f.name] in OPTION_TYPES}

    def options(self) -> dict[str, Any]:
        """Return the values of these fields."""
        return {name: getattr(self, name) for name in self.option_types()}


@dataclass(frozen=True)
class Report:
    """What a study found: rows of data, a summary, and how to show them.

    ``verdict`` answers the question of the study in one sentence, which is made of the numbers.
    """

    title: str
    rows: Sequence[object]  # dataclasses or mappings
    sections: Sequence[Section]
    figures: Mapping[str, Figure]
    table: Table
    summary: Mapping[str, object] = field(default_factory=dict)
    verdict: str = ""

    def write(self, folder: Path) -> Path:
        """Write ``data.csv``, ``summary.json``, the figures and ``index.html``.

        On the page the outcome comes first, and how it was measured after it.
        """
        write_csv(folder / "data.csv", [_mapping(row) for row in self.rows])
        write_json(folder / "summary.json", _finite(self.summary, lambda _: None))
        for name, figure in self.figures.items():
            write_whole(folder / f"{name}.png", figure.png)
        ordered = sorted(self.sections, key=lambda section: section.heading in _METHOD)
        headline = Headline(self.verdict) if self.verdict else None
        path = folder / "index.html"
        return write_html(path, self.title, ordered, headline=headline, command="study")


@dataclass(frozen=True)
class Study(Generic[_Plan, _Measured]):
    """A study: the settings, what is measured, and the report made of it."""

    plan: type[_Plan]
    measure: Callable[[_Plan, Setting], _Measured]
    report: Callable[[_Plan, _Measured, Setting], Report]

    def __call__(self, setting: Setting) -> Report:
        """Measure and describe; the summary begins with the settings."""
        plan = self.plan.of(setting)
        found = self.report(plan, self.measure(plan, setting), setting)
        asked = {"seed": setting.seed, "quick": setting.quick, "plan": plan.options()}
        return replace(found, summary=asked | dict(found.summary))


class Runs:
    """Outcomes by name in ``folder``/``runs.json``; None: kept in memory only.

    ``asked`` is what they depend on apart from their names (data, steps, versions). Outcomes of
    something else are an error and not silently mixed with new ones. Two processes may work in one
    folder, each on runs of its own: each writes what is there together with its own.
    """

    def __init__(self, folder: Path | None, asked: dict[str, Any]) -> None:
        self.path = None if folder is None else folder / "runs.json"
        self.known: dict[str, Any] = {}
        self.asked: dict[str, Any] = json.loads(json.dumps(asked))
        self._read()

    def get(self, name: str, make: Callable[[], Any]) -> Any:
        """Return the outcome of that name as plain JSON; make and keep it if there is none."""
        if name not in self.known:
            self._read()
        if name not in self.known:
            self.known[name] = json.loads(json.dumps(make()))
            if self.path is not None:
                self._read()
                write_json(self.path, {"asked": self.asked, "runs": self.known})
        return self.known[name]

    def _read(self) -> None:
        """Read what is there, of this process or of another on the same folder."""
        if self.path is None or not self.path.exists():
            return
        try:
            before = json.loads(self.path.read_text())
            asked, known = before["asked"], dict(before["runs"])
        except (ValueError, TypeError, KeyError) as error:
            raise DataError(
                f"{self.path}: is not a file of runs ({error!r}); remove it to start anew"
            ) from None
        if asked != self.asked:
            raise DataError(
                f"out must be a new folder or that of the same study: {self.path} has "
                f"{asked}, asked is {self.asked}"
            )
        self.known = known | self.known


class UnknownStudyError(ValueError):
    """Raised for a name that is not a study; the message suggests the nearest one."""

    def __init__(self, name: str) -> None:
        near = get_close_matches(name.lower().replace("_", "-"), STUDIES, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(STUDIES)}"
        super().__init__(f"name must be a study, got {name!r}; {hint}")


def load_study(name: str) -> Study[Any, Any]:
    """Import a study by its name."""
    if name not in STUDIES:
        raise UnknownStudyError(name)
    study: Study[Any, Any] = import_module(f"reproductions.{name.replace('-', '_')}.study").study
    return study


def run_study(
    name: str, out: Path | str = "out", setting: Setting | None = None
) -> tuple[Path, Table]:
    """Run a study, write its data, figures and report into ``out``/``name``.

    Returns the path of the report and the table for the terminal.
    """
    study, folder = load_study(name), Path(out) / name
    found = study(replace(setting or Setting(), folder=folder))
    found = replace(found, summary={"study": name} | dict(found.summary))
    return found.write(folder), found.table


def _entries() -> dict[str, Entry]:
    """Find the folders of this package that declare a study."""
    found = {}
    for module in iter_modules([str(Path(__file__).parent)]):
        if module.ispkg:
            said = vars(import_module(f"reproductions.{module.name}"))
            if "QUESTION" in said:
                entry = Entry(said["QUESTION"], said["TIME"], said.get("DATA", "–"))
                found[module.name.replace("_", "-")] = entry
    return found


def _mapping(row: object) -> Mapping[str, object]:
    if isinstance(row, Mapping):
        return row
    assert is_dataclass(row)
    return {each.name: getattr(row, each.name) for each in fields(row)}


def _finite(value: object, replaced: Callable[[float], object]) -> object:
    """Replace the numbers that are not finite, which JSON does not have."""
    if isinstance(value, float) and not math.isfinite(value):
        return replaced(value)
    if isinstance(value, Mapping):
        return {key: _finite(each, replaced) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each, replaced) for each in value]
    return value


STUDIES: dict[str, Entry] = _entries()
"""Every study by its name."""


def spent(clock: Callable[[], float], work: Callable[[], object]) -> float:
    """Return how long some work takes, by a clock."""
    begin = clock()
    work()
    return clock() - begin
