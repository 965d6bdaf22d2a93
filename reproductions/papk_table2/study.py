"""The report: the paper's table next to ours, for old and for new samples."""

from __future__ import annotations

import math
from dataclasses import asdict

from scipy.stats import binomtest

from rankwise.report import Figure, Section, Table
from rankwise.theory import mean_of
from reproductions.drawing import COLORS, canvas, plain, png
from reproductions.frame import Report, Setting, Study
from reproductions.papk_table2.measure import CASES, PAP, Case, Plan, Run, measure
from reproductions.sentences import difference, share, standing

PUBLISHED = {
    ("Case 1, n⁺ < k", "SGD@k-avg"): ("0.20 ± 0.14", "5", "0.59 ± 0.34 (88)", "30"),
    ("Case 1, n⁺ < k", PAP): ("0.27 ± 0.13", "207", "0.68 ± 0.34 (88)", "58"),
    ("Case 2, n⁺ > k", "SVM-pAUC"): ("0.62 ± 0.29", "15", "0.66 ± 0.31 (156)", "82"),
    ("Case 2, n⁺ > k", PAP): ("0.68 ± 0.28", "129", "0.71 ± 0.30 (156)", "74"),
}
"""prec@k, runs where it is higher, AUC@k of the runs where it is the same, runs where that is."""

_CLAIM = (
    "With fewer positives than places, precision@k does not care where in the top k they are; with "
    "more, partial AUC cares for positives that no place is left for. pAp@k does neither: the "
    "paper has it ahead in precision@k in both cases, and in case 1 in AUC@k at equal precision.",
)
_DIFFERS = (
    "The paper does not say where its numbers are taken; both are shown here, the sample that was "
    "trained on and a new one of the same size.",
    "SGD@k-avg is the average surrogate of Kar et al. with all items in every step; the k − n⁺ "
    "negatives that are in the top k whatever the ranking cost nothing there, which is precision@k "
    "as the paper has it. SVM-pAUC follows the same subgradient steps.",
)


def report(plan: Plan, runs: list[Run], setting: Setting) -> Report:
    """Make the tables, figures and words of the report."""
    tables = [_table(runs, kind) for kind in ("trained on", "new")]
    verdicts = _verdicts(runs)
    figure = _figure(runs)
    return Report(
        title="pAp@k, Table 2: between partial AUC and precision@k",
        verdict=_verdict(runs),
        rows=[
            {**asdict(run), "auc_at_k": "" if math.isnan(run.auc_at_k) else run.auc_at_k}
            for run in runs
        ],
        summary={
            "verdicts": [dict(zip(verdicts.header, row, strict=True)) for row in verdicts.rows],
            "published": {case.name: _published_difference(case) for case in CASES},
        },
        sections=[
            Section("Claim", _CLAIM),
            Section("Method", [_method(plan, setting)]),
            Section("Results", outcome(runs), [figure], [verdicts, *tables]),
            Section("Where ours differs from the paper, and why", [*levels(runs), *_DIFFERS]),
        ],
        figures={"figure": figure},
        table=verdicts,
    )


def _method(plan: Plan, setting: Setting) -> str:
    return (
        f"{setting} {plan.runs} runs: "
        "positives from N(−1, I), negatives from N(0, I) in 5 dimensions; 10 and 160 with k = 20, "
        "20 and 160 with k = 10. Both methods descend from w = 0 on the same lists, "
        f"{plan.steps:,} steps {plan.eta:g}/√(t+1), ridge {plan.lam:g}. AUC@k is the AUC of the "
        "items in the top k."
    )


def _verdict(runs: list[Run]) -> str:
    found = [
        standing(mean_of([a.precision - b.precision for a, b in _pairs(runs, case, "new")]))
        for case in CASES
    ]
    return (
        "On new data, the paper's method puts more of the right items into the first k places "
        f"than its rival in {share(found.count('higher'), len(found))} cases, and fewer in "
        f"{found.count('lower')}."
    )


def outcome(runs: list[Run]) -> list[str]:
    """What was found of the paper's claims, case by case, on both samples."""
    said = []
    for case in CASES:
        parts, paper = [], _published_difference(case)
        for kind, words in (("trained on", "on the sample trained on"), ("new", "on new samples")):
            pairs = _pairs(runs, case, kind)
            inside = [a - b for a, b in _same(pairs)]
            order = "cannot be compared"
            if len(inside) > 1:
                mean = mean_of(inside)
                order = f"is {standing(mean)} ({difference(mean)}, {len(inside)} runs)"
            precision = mean_of([a.precision - b.precision for a, b in pairs])
            parts.append(
                f"{words} prec@k is {standing(precision)} ({difference(precision)}), and AUC@k at "
                f"equal prec@k {order}"
            )
        said.append(
            f"{case.name}, {PAP} less {case.rival}, by the 95 % interval: {'; '.join(parts)}. The "
            f"paper has {paper[0]:+.2f} and {paper[1]:+.2f}."
        )
    return said


def levels(runs: list[Run]) -> list[str]:
    """How high precision@k is, next to the paper's and to what is possible."""
    said = []
    for case in CASES:
        pairs = _pairs(runs, case, "trained on")
        own, other = (mean_of([pair[i].precision for pair in pairs]).value for i in (0, 1))
        printed = [_printed(case, name)[0] for name in (PAP, case.rival)]
        most = min(case.n_positives, case.k) / case.k
        said.append(
            f"{case.name}: on the sample trained on, {PAP} has a mean prec@k of {own:.3f} and "
            f"{case.rival} {other:.3f}; the paper prints {printed[0]:.2f} and {printed[1]:.2f}, "
            f"and {most:.2f} is the most that {case.n_positives} positives in {case.k} places "
            "allow."
        )
    return said


def _published_difference(case: Case) -> tuple[float, float]:
    """What the paper has ours ahead by, in prec@k and in AUC@k at equal prec@k."""
    ours, rival = (_printed(case, name) for name in (PAP, case.rival))
    return ours[0] - rival[0], ours[1] - rival[1]


def _printed(case: Case, method: str) -> tuple[float, float]:
    """The paper's prec@k and AUC@k at equal prec@k."""
    cells = PUBLISHED[case.name, method]
    return float(cells[0].split()[0]), float(cells[2].split()[0])


def _pairs(runs: list[Run], case: Case, kind: str) -> list[tuple[Run, Run]]:
    """(ours, the rival) of every run."""
    there = [r for r in runs if (r.case, r.sample) == (case.name, kind)]
    ours = [r for r in there if r.method == PAP]
    return list(zip(ours, [r for r in there if r.method == case.rival], strict=True))


def _same(pairs: list[tuple[Run, Run]]) -> list[tuple[float, float]]:
    """AUC@k where both have the same precision and both top k have both classes."""
    return [
        (a.auc_at_k, b.auc_at_k)
        for a, b in pairs
        if a.precision == b.precision and not math.isnan(a.auc_at_k + b.auc_at_k)
    ]


def _table(runs: list[Run], kind: str) -> Table:
    rows = []
    for case in CASES:
        pairs = _pairs(runs, case, kind)
        for method, turn in ((case.rival, -1), (PAP, 1)):
            own = [(a, b)[::turn] for a, b in pairs]
            same = [pair[::turn] for pair in _same(pairs)]
            cells = (
                _spread([a.precision for a, _ in own]),
                str(sum(a.precision > b.precision for a, b in own)),
                f"{_spread([a for a, _ in same])} ({len(same)})",
                str(sum(a > b for a, b in same)),
            )
            paper = PUBLISHED[case.name, method]
            rows.append((f"{case.name}: {method}", *_with_paper(cells, paper)))
    header = ("", "prec@k", "runs where higher", "AUC@k at equal prec@k", "runs where higher ")
    return Table(
        header,
        rows,
        f"The sample {'that was trained on' if kind == 'trained on' else 'is a new one'}: mean ± "
        "standard deviation over the runs; in brackets of runs; after the bar the paper.",
    )


def _with_paper(cells: tuple[str, ...], paper: tuple[str, ...]) -> list[str]:
    return [f"{own} | {theirs}" for own, theirs in zip(cells, paper, strict=True)]


def _spread(values: list[float]) -> str:
    if not values:
        return "–"
    mean = sum(values) / len(values)
    spread = math.sqrt(sum((v - mean) ** 2 for v in values) / max(1, len(values) - 1))
    return f"{mean:.3f} ± {spread:.2f}"


def _verdicts(runs: list[Run]) -> Table:
    rows = []
    for kind in ("trained on", "new"):
        for case in CASES:
            pairs = _pairs(runs, case, kind)
            precision = [a.precision - b.precision for a, b in pairs]
            inside = [a - b for a, b in _same(pairs)]
            rows.append((f"{case.name}, {kind}", case.rival, _claim(precision), _claim(inside)))
    header = ("case, sample", "against", "prec@k", "AUC@k at equal prec@k")
    return Table(
        header,
        rows,
        f"{PAP} less the other: mean over runs ± half of the 95 % interval; then runs where it is "
        "higher : lower, with the p of a sign test.",
    )


def _claim(differences: list[float]) -> str:
    if len(differences) < 2:
        return "–"
    mean = mean_of(differences)
    won, lost = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    chance = binomtest(won, won + lost).pvalue if won + lost else 1.0
    shown = "p < .001" if chance < 0.001 else f"p = {chance:.2g}"
    return f"{mean.value:+.3f} ± {mean.half_width():.3f}, {won} : {lost}, {shown}"


def _figure(runs: list[Run]) -> Figure:
    figure, axes = canvas(1, 2, height=3.2)
    for place, case in zip(axes[0], CASES, strict=True):
        places = [i / case.k for i in range(case.k + 1)]
        for number, name in enumerate((case.rival, PAP)):
            own = [r for r in runs if (r.case, r.sample, r.method) == (case.name, "new", name)]
            counts = [sum(abs(r.precision - p) < 1e-9 for r in own) for p in places]
            place.bar(
                [p + (number - 0.5) * 0.4 / case.k for p in places],
                counts,
                0.4 / case.k,
                color=COLORS[2 * (1 - number)],
                label=name,
            )
        plain(place, title=case.name, x="prec@k on a new sample", y="runs")
        place.legend(fontsize=8, frameon=False)
    return Figure(png(figure), "How many runs have which precision@k, for both methods.", "")


study = Study(Plan, measure, report)
