"""The lists, the choices of the metrics, their contradictions and the areas, drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from matplotlib.axes import Axes

from rankwise.report import Figure
from reproductions.drawing import COLORS, canvas, plain, png
from reproductions.sentences import listed
from reproductions.why_the_metric_matters.areas import Area
from reproductions.why_the_metric_matters.compare import order_of
from reproductions.why_the_metric_matters.example import Example, Ranking

# Narrow, so that the text can still be read when the figure is as wide as a phone.
WIDTH = 5.6
_LONG = 4  # ranks of a run that is drawn as a gap
_POSITIVE, _NEGATIVE, _BEST, _INK = COLORS[2], COLORS[1], "#cfe8e4", "#1d2730"


def columns(example: Example) -> list[tuple[int, ...]]:
    """Return the ranks of each column: one rank, or a run where no list has a positive near."""
    lists = [ranking.labels for ranking in example.rankings]
    items = len(lists[0])
    hot = {rank for labels in lists for rank, label in enumerate(labels, 1) if label}
    near = {1, items} | {rank + step for rank in hot for step in (-1, 0, 1)}
    found: list[tuple[int, ...]] = []
    for far, run in groupby(range(1, items + 1), key=lambda rank: rank not in near):
        ranks = tuple(run)
        found += [ranks] if far and len(ranks) > _LONG else [(rank,) for rank in ranks]
    return found


def draw_lists(example: Example) -> Figure:
    """Draw every ranking from the top: filled + for positives, hollow − for negatives."""
    places = columns(example)
    rows = len(example.rankings)
    figure, axes = canvas(1, 1, width=WIDTH, height=0.75 + 0.52 * rows)
    place = axes[0, 0]
    for row, ranking in enumerate(example.rankings):
        _draw_list(place, -row, ranking, places)
        over = _over_threshold(example, ranking)
        if over is not None:
            place.plot([over + 0.5] * 2, [-row - 0.42, -row + 0.42], color=COLORS[0], linewidth=2.5)
    for k in example.ks:
        place.plot([k + 0.5] * 2, [-rows + 0.45, 0.55], "--", color=_NEGATIVE, linewidth=1)
    ranks = [str(run[0]) if len(run) == 1 else "" for run in places]
    plain(place, x="rank (1 = highest score)")
    place.set_yticks([-row for row in range(rows)], [each.name for each in example.rankings])
    place.tick_params(axis="y", length=0, labelsize=12)
    place.set_xticks(range(1, len(places) + 1), ranks)
    place.tick_params(axis="x", length=0, labelsize=9)
    place.set_ylim(-rows + 0.4, 0.6)
    place.set_xlim(0.4, len(places) + 0.6)
    place.grid(visible=False)
    place.spines[["left", "bottom"]].set_visible(False)
    long = any(len(run) > 1 for run in places)
    gap = " ⋯: negatives left out of the drawing." if long else ""
    cuts = f" Dashed: the end of the top {listed([str(k) for k in example.ks])}."
    if any(_over_threshold(example, ranking) is not None for ranking in example.rankings):
        cuts += f" Bar: the threshold {example.threshold:g}."
    return Figure(
        png(figure),
        "; ".join(_described(ranking) for ranking in example.rankings) + ".",
        f"Filled +: positive. Hollow −: negative.{gap}{cuts}",
    )


def _draw_list(place: Axes, y: int, ranking: Ranking, places: Sequence[tuple[int, ...]]) -> None:
    labels = ranking.labels
    for x, run in enumerate(places, start=1):
        if len(run) > 1:
            place.text(x, y + 0.08, "⋯", ha="center", va="center", fontsize=13, color=_NEGATIVE)
            place.text(x, y - 0.3, f"{len(run)}", ha="center", va="center", fontsize=8)
            continue
        positive = labels[run[0] - 1] == 1
        color = _POSITIVE if positive else _NEGATIVE
        inside = color if positive else "white"
        place.plot(x, y, "o", markersize=17, color=inside, markeredgecolor=color)
        sign, ink = ("+", "white") if positive else ("−", color)
        place.text(x, y - 0.02, sign, ha="center", va="center", fontsize=13, color=ink)


def _over_threshold(example: Example, ranking: Ranking) -> int | None:
    """Return how many items are over the threshold, where the paper prints scores."""
    if example.threshold is None or not ranking.given:
        return None
    return sum(score > example.threshold for score in ranking.scores)


def _described(ranking: Ranking) -> str:
    ranks = [str(rank) for rank, label in enumerate(ranking.labels, start=1) if label]
    return f"{ranking.name}: positives at ranks {', '.join(ranks)} of {len(ranking.labels)}"


def draw_choices(example: Example, values: Mapping[str, Mapping[str, float]]) -> Figure:
    """Draw a grid of metrics and rankings; what a metric prefers is filled."""
    rankings = [ranking.name for ranking in example.rankings]
    figure, axes = canvas(1, 1, width=WIDTH, height=0.7 + 0.27 * len(values))
    place = axes[0, 0]
    for row, own in enumerate(values.values()):
        order = order_of({name: own[name] for name in example.compared if name in own})
        first = order[0] if len(order) > 1 else ()
        for column, name in enumerate(rankings):
            best = name in first
            if best:
                place.fill_between(
                    [column - 0.47, column + 0.47], -row - 0.46, -row + 0.46, color=_BEST
                )
            place.text(
                column,
                -row,
                f"{own[name]:.3f}" if name in own else "–",
                ha="center",
                va="center",
                fontsize=11,
                fontweight="bold" if best else "normal",
                color=_INK if len(order) > 1 else _NEGATIVE,
            )
    plain(place)
    place.set_xticks(range(len(rankings)), rankings)
    place.set_yticks([-row for row in range(len(values))], [_label(name) for name in values])
    place.tick_params(axis="x", top=True, labeltop=True, bottom=False, labelbottom=False)
    place.tick_params(length=0, labelsize=11)
    place.set_xlim(-0.5, len(rankings) - 0.5)
    place.set_ylim(-len(values) + 0.5, 0.5)
    place.grid(visible=False)
    place.spines[["left", "bottom"]].set_visible(False)
    caption = "Filled: what the metric prefers. Gray: it has no preference."
    references = [ranking for ranking in example.rankings if ranking.reference]
    caption += "".join(f" {each.name} is {each.about}, not compared." for each in references)
    return Figure(png(figure), "The values of the table below, rounded.", caption)


def _label(name: str) -> str:
    """Return a name without its cut where it is long."""
    return name.split(" (", maxsplit=1)[0] if len(name) > 24 else name


def draw_contradictions(counts: Mapping[tuple[str, str], int], pairs: int) -> Figure:
    """Draw how often each two families of metrics order two rankings in opposite ways."""
    families = list(dict.fromkeys(name for pair in counts for name in pair))
    figure, axes = canvas(1, 1, width=WIDTH, height=5.4)
    place = axes[0, 0]
    worst = max([1, *counts.values()])
    for row, one in enumerate(families):
        for column, other in enumerate(families[:row]):
            count = counts[other, one]
            strength = count / worst
            place.fill_between(
                [column - 0.5, column + 0.5],
                -row - 0.5,
                -row + 0.5,
                color=COLORS[0],
                alpha=0.75 * strength,
                linewidth=0,
            )
            ink = _INK if count else _NEGATIVE
            text = str(count) if count else "·"
            place.text(column, -row, text, ha="center", va="center", fontsize=10, color=ink)
    plain(place)
    size = len(families)
    place.set_xticks(range(size - 1), families[:-1], rotation=90)
    place.set_yticks([-row for row in range(1, size)], families[1:])
    place.tick_params(length=0, labelsize=10)
    place.set_xlim(-0.5, size - 1.5)
    place.set_ylim(-size + 0.5, -0.5)
    place.grid(visible=False)
    place.spines[["left", "bottom"]].set_visible(False)
    return Figure(
        png(figure),
        "; ".join(f"{a} and {b}: {n}" for (a, b), n in counts.items() if n) + ".",
        f"Pairs of rankings, of {pairs}, that the two metrics order in opposite ways.",
    )


def draw_areas(areas: Sequence[Area]) -> Figure:
    """Draw the four areas of Figure 2.3."""
    figure, axes = canvas(2, 2, width=WIDTH, height=2.7)
    for place, area in zip(axes.flat, areas, strict=True):
        place.plot(area.x, area.y, color=_INK, linewidth=1.8)
        place.fill_between(
            area.x,
            area.y,
            area.floor,
            where=[
                x <= area.until + 1e-9 and y >= area.floor
                for x, y in zip(area.x, area.y, strict=True)
            ],
            color=_POSITIVE,
            alpha=0.35,
            linewidth=0,
        )
        box = ([0, area.until, area.until, 0, 0], [area.floor, area.floor, 1, 1, area.floor])
        place.plot(*box, "--", color=_NEGATIVE, linewidth=1)
        title = f"{area.name.replace(', TPR', f',{chr(10)}TPR')}: {area.metric:.3f}"
        plain(place, title=title, x=area.axes[0], y=area.axes[1])
        place.set_xlim(-0.02, 1.02)
        place.set_ylim(0, 1.05)
    return Figure(
        png(figure),
        "; ".join(f"{area.name}: {area.metric:.3f}" for area in areas) + ".",
        "The number is the metric: the filled area as a share of the dashed box.",
    )
