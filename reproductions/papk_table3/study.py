"""The report: the paper's table next to ours, and the differences."""

from __future__ import annotations

import math

from rankwise.estimators.papk.ranker import ETAS, LAMS, settings
from rankwise.estimators.papk.users import Users
from rankwise.report import Figure, Section, Table
from rankwise.theory import Mean
from reproductions.drawing import COLORS, canvas, plain, png
from reproductions.frame import Report, Setting, Study
from reproductions.papk_solvers.rankers import SelectPApAtKRanker
from reproductions.papk_table3.measure import (
    BASELINES,
    METHODS,
    OURS,
    RANDOM,
    STARTS,
    Cell,
    Plan,
    measure,
    with_negatives,
)
from reproductions.papk_table3.published import KS, PUBLISHED
from reproductions.papk_table3.words import (
    DIFFERS,
    HOW,
    best_of,
    cell_mean,
    corner,
    differences,
    in_short,
    outcome,
)

_TOLERANCE = SelectPApAtKRanker().inner_tolerance
_FROM = {"zero": "from zero, as published", "log_loss": "from the logistic solution"}


def report(plan: Plan, cells: list[Cell], setting: Setting) -> Report:
    """Make the tables, figures and words of the report."""
    tables = [_worth(cells, plan, start, "test") for start in STARTS]
    full = [_worth(cells, plan, start, "test_full") for start in STARTS]
    duel = _duel(cells, plan)
    figure = _figure(cells, plan)
    return Report(
        title=f"pAp@k, Table 3: {plan.instances.name}",
        verdict=in_short(cells, plan),
        rows=cells,
        summary=_summary(cells, plan, setting),
        sections=[
            Section("Method", [*_method(plan, setting), _left_out(plan, setting)]),
            Section("Micro-pAp@k, all test users", [], [figure], tables),
            Section(
                "The best of ours against every baseline", [*outcome(cells, plan), HOW], [], [duel]
            ),
            Section("Test users with at least k negatives", [], [], full),
            Section("Where ours differs from the paper, and why", DIFFERS),
        ],
        figures={"figure": figure},
        table=duel,
    )


def _method(plan: Plan, setting: Setting) -> list[str]:
    etas, lams = (", ".join(f"{value:g}" for value in axis) for axis in (plan.etas, plan.lams))
    return [
        f"{plan.instances.story} {plan.instances.size}.",
        f"{setting} {_splits(plan)} "
        "Every method has the same "
        f"{len(plan.etas) * len(plan.lams)} settings, η ∈ {{{etas}}} × λ ∈ {{{lams}}}, "
        f"{_part(plan)}, and "
        f"{plan.steps} steps η/√(t+1); the setting and the iterate with the best Micro-pAp@k of "
        "the validation rows are kept and evaluated once on the test rows. Greedy has 8 angles for "
        "each column and the number of columns to choose. Select-pAp@k minimizes the cross-entropy "
        f"of each pool until no entry of its gradient is above {_TOLERANCE:g}, with the same λ and "
        f"at most {plan.steps} pools; η plays no part in it. Everything is done from w = 0, as in "
        "the paper, and once more from the logistic solution, for every method that descends.",
    ]


def _splits(plan: Plan) -> str:
    if plan.instances.parts is not None:
        return "Training, validation and test rows as published."
    return f"{plan.splits} splits of every user's rows, 60:20:20."


def _part(plan: Plan) -> str:
    grid = settings(plan.etas, plan.lams)
    whole = settings(ETAS, LAMS)
    if grid == whole:
        return f"all {len(whole)} of the paper's grid"
    return f"of which {len(set(grid) & set(whole))} are of the paper's {len(whole)}"


def _left_out(plan: Plan, setting: Setting) -> str:
    test = plan.instances.part(plan.instances.split(1_000 * setting.seed) == 2)
    counts = [Users.of_part(test).counts(k) for k in plan.ks]
    short = ", ".join(f"{count.few_negatives} (k = {count.k})" for count in counts)
    return (
        f"In the test part of the first split {counts[0].without_positives} of "
        f"{counts[0].users} users have no positive and {counts[0].without_negatives} no negative: "
        f"they have nothing to rank and are left out. Fewer than k negatives have {short}."
    )


def _published(plan: Plan, name: str, k: int) -> str:
    row, ks = PUBLISHED[plan.instances.name].get(name), KS[plan.instances.name]
    return "" if row is None or k not in ks else f" ({row[ks.index(k)]:.1f})"


def _shown(mean: Mean) -> str:
    return f"{mean.value:.1f}" + _interval(mean, 1)


def _interval(mean: Mean, digits: int) -> str:
    """Nothing where there is one split only."""
    half = mean.half_width()
    return "" if math.isnan(half) else f" ± {half:.{digits}f}"


def _worth(cells: list[Cell], plan: Plan, start: str, part: str) -> Table:
    rows = []
    for name in (*METHODS, RANDOM):
        if any((c.method, c.start) == (name, start) for c in cells):
            found = [_shown(cell_mean(cells, name, start, k, part)) for k in plan.ks]
            paper = [_published(plan, name, k) if start == "zero" else "" for k in plan.ks]
            rows.append((name, *(f + p for f, p in zip(found, paper, strict=True))))
    header = ("method", *(f"k = {k}" for k in plan.ks))
    over = f"mean over {plan.splits} splits ± half of the 95 % interval"
    if plan.splits == 1:
        over = "one split, so without an interval"
    published = "; in brackets the paper" * (start == "zero")
    return Table(header, rows, f"In per cent, {_FROM[start]}: {over}{published}.")


def _duel(cells: list[Cell], plan: Plan) -> Table:
    best = {k: best_of(cells, tuple(OURS), k) for k in plan.ks}
    short = {"zero": "", "log_loss": ", from logistic"}
    rows: list[tuple[str, ...]] = [
        (
            "best of ours",
            *(best[k][0].removeprefix("GD-pAp@k-") + short[best[k][1]] for k in plan.ks),
        ),
        (
            "its Micro-pAp@k",
            *(_shown(cell_mean(cells, best[k][0], best[k][1], k)) for k in plan.ks),
        ),
    ]
    for name in BASELINES:
        found = []
        for k in plan.ks:
            mean = differences(cells, best[k], best_of(cells, (name,), k), k)
            found.append(f"{mean.value:+.2f}" + _interval(mean, 2))
        rows.append((f"− {name}", *found))
    return Table(("", *(f"k = {k}" for k in plan.ks)), rows, "Points, over the same splits.")


def _summary(cells: list[Cell], plan: Plan, setting: Setting) -> dict[str, object]:
    return {
        "data": plan.instances.name,
        "size": plan.instances.size,
        "splits": plan.splits,
        "etas": plan.etas,
        "lams": plan.lams,
        "steps": plan.steps,
        "test": {
            f"{name}, {start}": {str(k): _plain(cell_mean(cells, name, start, k)) for k in plan.ks}
            for name in (*METHODS, RANDOM)
            for start in STARTS
            if any((c.method, c.start) == (name, start) for c in cells)
        },
        "best": {str(k): list(best_of(cells, tuple(OURS), k)) for k in plan.ks},
        "minus": {
            name: {
                str(k): _plain(
                    differences(
                        cells, best_of(cells, tuple(OURS), k), best_of(cells, (name,), k), k
                    )
                )
                for k in plan.ks
            }
            for name in BASELINES
        },
        "largest_setting": corner(cells, plan),
        "users_with_k_negatives": {str(k): _users_with(plan, setting, k) for k in plan.ks},
    }


def _users_with(plan: Plan, setting: Setting, k: int) -> int:
    test = plan.instances.part(plan.instances.split(1_000 * setting.seed) == 2)
    rows = with_negatives(test, k)
    return Users.of_part(test.rows(rows)).ranked if rows.any() else 0


def _plain(mean: Mean) -> dict[str, float | None]:
    half = mean.half_width()
    return {"mean": mean.value, "half_width": None if math.isnan(half) else half}


def _figure(cells: list[Cell], plan: Plan) -> Figure:
    figure, axes = canvas(1, 2, height=4.2)
    for place, start in zip(axes[0], STARTS, strict=True):
        for number, name in enumerate(METHODS):
            if not any((c.method, c.start) == (name, start) for c in cells):
                continue
            means = [cell_mean(cells, name, start, k) for k in plan.ks]
            ours = name in OURS
            color = COLORS[number % len(OURS)] if ours else str(0.25 + 0.12 * (number - 4))
            place.errorbar(
                [k + 0.12 * (number - 4) for k in plan.ks],
                [mean.value for mean in means],
                [mean.half_width() for mean in means],
                marker="o" if ours else "sD^vx"[number - len(OURS)],
                markersize=4,
                linestyle="-" if ours else ":",
                linewidth=1.2,
                color=color,
                label=name,
            )
        plain(place, title=_FROM[start], x="k", y="Micro-pAp@k, per cent")
        place.set_xticks(list(plan.ks))
    low = min(place.get_ylim()[0] for place in axes[0])
    high = max(place.get_ylim()[1] for place in axes[0])
    for place in axes[0]:
        place.set_ylim(low, high)
    axes[0, 0].legend(fontsize=7, frameon=False)
    described = "Micro-pAp@k of every method over k, from zero and from the logistic solution."
    return Figure(png(figure), described, "Lines: ours; dotted: baselines. Bars: 95 % intervals.")


study = Study(Plan, measure, report)
