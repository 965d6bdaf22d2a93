"""The report: tables, curves, ablations, and what the networks find."""

from __future__ import annotations

from rankwise.report import Figure, Section, Table
from reproductions.frame import Report, Setting, Study
from reproductions.retrieval.cell import Cell, queries_of
from reproductions.retrieval.collect import Measured, asked, collect
from reproductions.retrieval.figures import (
    Benches,
    convergence,
    effect_curves,
    effect_figure,
    mean_history,
    precision_recall,
)
from reproductions.retrieval.fixed_mean import followed_table, followed_words
from reproductions.retrieval.gallery import Answers, gallery
from reproductions.retrieval.maps import Map, map_figure
from reproductions.retrieval.plan import Plan
from reproductions.retrieval.problem import Problem
from reproductions.retrieval.published import published
from reproductions.retrieval.tables import (
    ablation_table,
    best_of,
    chosen_table,
    difference_table,
    effect_table,
    main_table,
    of_method,
    time_table,
)
from reproductions.retrieval.words import conclusion, effect_words, in_short, method, untrained


def report(plan: Plan, measured: Measured, setting: Setting) -> Report:
    """Make the tables, figures and words of the report."""
    benches = measured.benches
    ours = [m.name for m in plan.methods if m.ours]
    others = [m.name for m in plan.methods if not m.ours]
    duel = difference_table(benches, ours)
    curves, steps = precision_recall(benches), convergence(benches)
    effects = {
        "effects": effect_figure(measured.effects),
        "convergence_tau": effect_curves(measured.effects, "tau"),
        "convergence_batch": effect_curves(measured.effects, "batch"),
    }
    shown = {problem.name: _shown(benches, problem.name, ours, others) for problem in plan.problems}
    galleries = [_gallery(plan, problem, *shown[problem.name]) for problem in plan.problems]
    maps = [_maps(plan, problem, measured.maps) for problem in plan.problems]
    figures = {"figure": curves, "convergence": steps, **effects}
    figures |= {f"gallery_{number}": figure for number, figure in enumerate(galleries, 1)}
    figures |= {f"map_{number}": figure for number, figure in enumerate(maps, 1)}
    tables = [main_table(cells, ", ".join(place)) for place, cells in benches.items()]
    sections = [
        Section("Method", method(plan, setting)),
        Section("Who is first", conclusion(benches, ours), [], [duel]),
        Section("All methods", [untrained(measured.untrained, measured.cells)], [], tables),
        Section("Curves", [], [curves, steps]),
        _ablations(measured.ablations),
        Section(
            "τ and the batch",
            [_EFFECTS, effect_words(measured.effects)],
            list(effects.values()),
            [effect_table(measured.effects)],
        ),
        Section("What a step costs", [_TIMES], [], [time_table(measured.times, _net(plan))]),
        Section("What is found", [_FOUND], galleries),
        Section("Maps of the embeddings", [_MAPS], maps),
        Section("The published tables", [_PUBLISHED], [], published()),
        Section("What validation has chosen", [], [], [chosen_table(measured.cells)]),
    ]
    return Report(
        title="Image retrieval: which loss ranks unseen classes best?",
        verdict=in_short(benches, ours),
        rows=_rows(measured),
        summary=_summary(plan, setting, measured, ours)
        | {"queries": {", ".join(place): _precisions(own) for place, own in shown.values()}},
        sections=sections,
        figures=figures,
        table=_short(benches),
    )


def _ablations(cells: list[Cell]) -> Section:
    tables, words, followed = [ablation_table(cells)], [_ABLATED], followed_table(cells)
    if followed.rows:
        tables, words = [*tables, followed], [*words, followed_words(cells)]
    return Section("Ablations", words, [], tables)


_ABLATED = (
    "The lines of SOPRC's Table 2 and StableAP's Table 4, with more that the papers do not have. "
    "Every line has the same rates to choose from, and τ = .1; SGD has rates a hundred times as "
    "high. The papers' numbers for the lines stand below, with their tables."
)
_EFFECTS = (
    "SOPRC's and StableAP's figures of convergence by τ and by batch: test mAP at the end, and "
    "validation by step. Heads on features; only the one number changes, and the rate is the one "
    "that was chosen for the comparison. Where a data set has too few training classes for a "
    "batch of 4 images of a class, it has more images of a class, as the table says."
)
_TIMES = (
    "The loss alone is timed on random unit vectors as many as a step has: four times as many with "
    "DFM, and with XBM the batch against all training images."
)
_FOUND = (
    "StableAP's Figure 4. Queries were drawn before any result was known, one each of different "
    "classes. Of each data set the setting is shown in which the best of ours has the higher mAP "
    "of validation; below the best of ours stands the best of the others, both chosen by "
    "validation."
)
_MAPS = (
    "StableAP's Figures 5 to 7, before training and after. The classes were drawn before any "
    "result was known; the method is the best of ours by validation, with its first seed. A map "
    "has two dimensions only: classes that lie on each other in it may be apart in all of them, "
    "which is what the mAP counts."
)
_PUBLISHED = (
    "These are of other and larger data sets with a larger network, trained for as many as 270 000 "
    "steps; they say which order to expect and not which numbers."
)


def _shown(
    benches: Benches, problem: str, ours: list[str], others: list[str]
) -> tuple[tuple[str, str], list[Answers]]:
    """The setting of a data set to show, and what the best of ours and of the others answer."""
    worth = {
        place: of_method(cells, best_of(cells, ours))[0].validation
        for place, cells in benches.items()
        if place[0] == problem
    }
    place = max(worth, key=lambda each: worth[each])
    firsts = [of_method(benches[place], best_of(benches[place], n))[0] for n in (ours, others)]
    return place, [Answers(cell.method, cell.found, cell.ranks) for cell in firsts]


def _precisions(answers: list[Answers]) -> dict[str, list[float]]:
    return {each.method: each.average_precisions for each in answers}


def _gallery(
    plan: Plan, problem: Problem, place: tuple[str, str], answers: list[Answers]
) -> Figure:
    images = problem.splits.test
    queries = queries_of(images.labels, plan.shown)
    return gallery(images, queries, answers, ", ".join(place))


def _maps(plan: Plan, problem: Problem, maps: list[Map]) -> Figure:
    own = [each for each in maps if each.problem == problem.name]
    return map_figure(own, problem.splits.test.classes, plan.reduction)


def _net(plan: Plan) -> str:
    batch = plan.classes * plan.per_class
    return f"the network from scratch on {plan.problems[0].name}, {batch} images"


def _short(benches: Benches) -> Table:
    """Test mAP of every method, a column for each bench, for the terminal."""
    methods = dict.fromkeys(cell.method for cells in benches.values() for cell in cells)
    tables = {place: dict(_means(cells)) for place, cells in benches.items()}
    rows = [(name, *(tables[place].get(name, "") for place in benches)) for name in methods]
    header = ("test mAP", *(f"{problem}, {kind}" for problem, kind in benches))
    return Table(header, rows, "Mean over the seeds ± half of the 95 % interval.")


def _means(cells: list[Cell]) -> list[tuple[str, str]]:
    return [(str(row[0]), str(row[1])) for row in main_table(cells, "").rows]


def _rows(measured: Measured) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for part, cells in (("comparison", measured.cells), ("ablation", measured.ablations)):
        rows += [{"part": part, **_numbers(cell)} for cell in cells]
    for effect in measured.effects:
        changed = {"part": effect.of, "value": effect.value, "named": effect.named}
        rows += [{**changed, **_numbers(cell)} for cell in effect.cells]
    for name, raw in measured.untrained.items():
        rows += [{"part": part, "problem": name, **numbers} for part, numbers in raw.items()]
    for time in measured.times:
        rows.append({"part": "time", "method": time.method, "loss": time.loss, "step": time.step})
    return rows


def _numbers(cell: Cell) -> dict[str, object]:
    left_out = ("precision", "history", "found", "ranks")
    return {name: value for name, value in vars(cell).items() if name not in left_out}


def _summary(
    plan: Plan, setting: Setting, measured: Measured, ours: list[str]
) -> dict[str, object]:
    benches = measured.benches
    return {
        "asked": asked(plan, setting),
        "untrained": measured.untrained,
        "best_of_ours": {", ".join(p): best_of(cells, ours) for p, cells in benches.items()},
        "conclusion": conclusion(benches, ours),
        "history": {
            f"{cell.problem}, {cell.kind}, {cell.method}, seed {cell.seed}": cell.history
            for cells in benches.values()
            for cell in cells
        },
        "convergence": {
            f"{first.problem}, {first.method}, {effect.of} {effect.named}": list(
                zip(*mean_history(effect.cells), strict=True)
            )
            for effect in measured.effects
            for first in effect.cells[:1]
        },
        "maps": {
            f"{each.problem}, {each.kind}": {
                "method": each.method,
                **{when: {"map": s.map, "share": s.share} for when, s in each.sides},
            }
            for each in measured.maps
        },
    }


study = Study(Plan, collect, report)
