"""The study as a page: the rankings drawn, and the metrics beside the paper's."""

from __future__ import annotations

from fractions import Fraction

from rankwise.report import Figure, Section, Table
from reproductions.base import Outcome, Setting
from reproductions.drawing import COLORS, canvas, plain, png
from reproductions.papk_table1.measure import METRICS, Plan, Value, measure

__all__ = ["study"]

_CLAIM = (
    "Five relevant and six irrelevant items, ranked in five ways. With two places f₃ is the best: "
    "AUC prefers f₁ and pAUC(0, 2/6] prefers f₂, because both look at relevant items that no place "
    "is left for. With six places f₅ is better than f₄, and precision@6 does not see it. pAp@k "
    "sees both.",
)


def study(setting: Setting) -> Outcome:
    """Measure and describe."""
    plan = Plan.of(setting)
    values = measure(plan, setting)
    figure, table = _figure(plan), _table(plan, values)
    same = all(value.agrees for value in values)
    differs = "Nowhere: all 13 published numbers are exactly ours."
    if not same:
        differs = "Not all of the 13 published numbers are ours: see the table."
    return Outcome(
        title="pAp@k, Table 1: which ranking has the better top",
        rows=[
            {
                "ranking": value.ranking,
                "metric": value.metric,
                "ours": value.ours,
                "paper": "" if value.paper is None else str(value.paper),
            }
            for value in values
        ],
        summary={
            "study": "papk-table1",
            "seed": setting.seed,
            "agrees": same,
            "values": {f"{v.metric} of {v.ranking}": v.ours for v in values},
        },
        sections=[
            Section("Claim", _CLAIM),
            Section(
                "What came out", [f"Seed {setting.seed}, which changes nothing."], [figure], [table]
            ),
            Section(
                "Where ours differs from the paper, and why",
                [f"{differs} The paper leaves out the metrics shown here without a bar."],
            ),
        ],
        figures={"figure": figure},
        table=table,
    )


def _table(plan: Plan, values: list[Value]) -> Table:
    rows = []
    for metric in METRICS:
        own = {v.ranking: v for v in values if v.metric == metric}
        rows.append((metric, *(_shown(own[name]) for name in plan.rankings)))
    return Table(("metric", *plan.rankings), rows, "Ours; after the bar the paper's.")


def _shown(value: Value) -> str:
    ours = Fraction(value.ours).limit_denominator(60)
    return f"{ours}" if value.paper is None else f"{ours} | {value.paper}"


def _figure(plan: Plan) -> Figure:
    figure, axes = canvas(1, 1, width=7.0, height=2.6)
    place = axes[0, 0]
    for row, (name, labels) in enumerate(plan.rankings.items()):
        for rank, label in enumerate(labels, start=1):
            relevant = label == "1"
            place.plot(
                rank,
                -row,
                "o",
                markersize=11,
                color=COLORS[2] if relevant else "white",
                markeredgecolor=COLORS[2] if relevant else COLORS[1],
            )
        place.text(0.2, -row, name, ha="right", va="center", fontsize=10)
    plain(place, x="rank")
    place.set_yticks([])
    place.set_xticks(range(1, 12))
    place.set_ylim(-len(plan.rankings) + 0.5, 0.5)
    place.set_xlim(-0.3, 11.6)
    place.grid(visible=False)
    return Figure(
        png(figure), "The five rankings of Table 1.", "Filled: relevant; the best rank is 1."
    )
