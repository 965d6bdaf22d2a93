"""The rankings that the papers print, and the numbers they print of them."""

from __future__ import annotations

from dataclasses import replace

from reproductions.why_the_metric_matters.example import Claim, Example, Printed, Ranking

_HIDDEN = tuple(0.39 - 0.02 * i for i in range(14))  # 0.39 … 0.13
_SHARED = (0.47, 0.47, 0.45, 0.43, 0.42, *_HIDDEN, 0.10)


def _table_2_2(
    name: str, about: str, positives: tuple[float, ...], two: tuple[float, ...]
) -> Ranking:
    scores = (*positives, *two, *_SHARED)
    return Ranking(name, about, scores, (1, 1, 1, *([0] * 22)), given=True)


TABLE_2_2 = Example(
    title="Is accuracy enough?",
    source="Empirical X-risk, Table 2.2",
    says="The document: AUC drops as positives lose rank, while accuracy remains unchanged.",
    rankings=(
        _table_2_2(
            "E1", "Example 1, all positives on top, two false alarms", (0.9, 0.8, 0.7), (0.6, 0.6)
        ),
        _table_2_2(
            "E2", "Example 2, one positive under seven negatives", (0.9, 0.41, 0.7), (0.6, 0.49)
        ),
        _table_2_2(
            "E3", "Example 3, two positives under seven negatives", (0.9, 0.41, 0.4), (0.49, 0.48)
        ),
    ),
    ks=(3,),
    max_fpr=(1, 11),
    threshold=0.5,
    printed=(
        *(Printed("accuracy (score > 0.5)", f"E{i}", "0.92") for i in (1, 2, 3)),
        Printed("AUROC", "E1", "1.00"),
        Printed("AUROC", "E2", "0.89"),
        Printed("AUROC", "E3", "0.78"),
    ),
    claims=(
        Claim("accuracy (score > 0.5)", "E1 = E2 = E3"),
        Claim("AUROC", "E1 > E2 > E3"),
    ),
    note="The table leaves out 14 scores between 0.40 and 0.10; they are evenly spaced here. All "
    "are negatives under every positive, so their values change no metric.",
)


def _among_100(*ranks: int) -> list[int]:
    return [int(rank in ranks) for rank in range(1, 103)]


TWO_OF_102 = Example(
    title="Is AUROC enough?",
    source='Empirical X-risk, "Necessity of Maximizing" AUC, AUPRC and partial AUC, Figure 2.4',
    says="The document: A has a high accuracy and the AUC of chance. B has a high AUC, and nothing "
    "relevant in its top two, which AP shows. B and C have the same AUC, and partial AUC tells "
    "them apart.",
    rankings=(
        Ranking(
            "A",
            "one positive on top, one at the very bottom",
            (0.5, -0.2, *(-0.001 - 0.001 * i for i in range(100))),
            (1, 1, *([0] * 100)),
            given=True,
        ),
        Ranking.of("B", "both positives under two negatives (model 1)", _among_100(3, 4)),
        Ranking.of(
            "C", "one positive on top, one under four negatives (model 2)", _among_100(1, 6)
        ),
        replace(Ranking.of("D", "the perfect ranking", _among_100(1, 2)), reference=True),
    ),
    ks=(2,),
    max_fpr=(1, 50),
    threshold=0.0,
    printed=(
        Printed("accuracy (score > 0)", "A", "101/102"),
        Printed("accuracy (score > 0)", "A", "0.99"),
        Printed("AUROC", "A", "100/200"),
        Printed("AUROC", "A", "0.5"),
        *(Printed("AUROC", name, text) for name in "BC" for text in ("196/200", "0.98")),
        Printed("AP", "B", "0.42"),
        Printed("AP", "D", "1"),
        Printed("pAUC (FPR ≤ 1/50)", "B", "0/4"),
        Printed("pAUC (FPR ≤ 1/50)", "C", "2/4"),
        Printed("pAUC (FPR ≤ 1/50)", "C", "0.5"),
    ),
    claims=(
        Claim("AUROC", "B = C"),
        Claim("pAUC (FPR ≤ 1/50)", "C > B"),
        Claim("AP", "D > B"),
    ),
    note="The document describes the three models apart; all have 2 positives and 100 negatives, "
    "so they stand in one table here. It prints scores, and so a threshold, for A only.",
)


def _labels(text: str) -> list[int]:
    return [int(label) for label in text]


PAPK_TOP_2 = Example(
    title="What if there are two places?",
    source="pAp@k, Table 1, k = 2",
    says="The paper: with two places f₃ is the one to choose; AUC prefers f₁ and pAUC(0, 2/6] "
    "prefers f₂, because both count relevant items for which no place is left.",
    rankings=(
        Ranking.of("f₁", "relevant items in the middle", _labels("01101110000")),
        Ranking.of("f₂", "one relevant item on top, one at the end", _labels("10111000001")),
        Ranking.of(
            "f₃", "two relevant items on top, the others at the end", _labels("11000000111")
        ),
    ),
    ks=(2,),
    max_fpr=(1, 3),
    printed=(
        *(
            Printed("AUROC", name, text)
            for name, text in {"f₁": "22/30", "f₂": "21/30", "f₃": "12/30"}.items()
        ),
        *(
            Printed("pAUC (FPR ≤ 1/3)", name, text)
            for name, text in {"f₁": "2/10", "f₂": "5/10", "f₃": "4/10"}.items()
        ),
        *(Printed("pAp@2", n, text) for n, text in {"f₁": "2/4", "f₂": "3/4", "f₃": "1"}.items()),
    ),
    claims=(
        Claim("AUROC", "f₁ > f₂ > f₃"),
        Claim("pAUC (FPR ≤ 1/3)", "f₂ > f₃ > f₁"),
        Claim("pAp@2", "f₃ > f₂ > f₁"),
    ),
)

PAPK_TOP_6 = Example(
    title="What if there are more places than relevant items?",
    source="pAp@k, Table 1, k = 6",
    says="The paper: f₅ is better than f₄, as more relevant items come before the irrelevant one "
    "in the top 6; precision@6 does not show it.",
    rankings=(
        Ranking.of("f₄", "an irrelevant item at rank 3", _labels("11011100000")),
        Ranking.of("f₅", "an irrelevant item at rank 4", _labels("11101100000")),
    ),
    ks=(6,),
    max_fpr=(1, 3),
    printed=(
        *(Printed("precision@6", name, "5/6") for name in ("f₄", "f₅")),
        Printed("pAp@6", "f₄", "27/30"),
        Printed("pAp@6", "f₅", "28/30"),
    ),
    claims=(Claim("precision@6", "f₄ = f₅"), Claim("pAp@6", "f₅ > f₄")),
)

FIGURE_1_PRINTED = {
    "f₁": ("0.685", "0.571", "1.000", "0.400", "0.300"),
    "f₂": ("0.622", "0.607", "1.000", "0.400", "0.400"),
    "f₃": ("0.607", "0.643", "1.000", "0.400", "0.400"),
}
FIGURE_1_METRICS = ("AP", "AUROC", "precision@1", "precision@5", "precision@10")


def _of_11(*ranks: int) -> list[int]:
    return [int(rank in ranks) for rank in range(1, 12)]


FIGURE_1 = Example(
    title="The head of the list, or all of it?",
    source="StableAP, Figure 1",
    says="The paper: AP prefers f₁ to f₂ to f₃, and AUROC exactly the other way round. Precision@k "
    "is less sensitive, because it counts the positives in the top k and not their order.",
    rankings=(
        Ranking.of("f₁", "two positives on top, one at the end", _of_11(1, 2, 8, 11)),
        Ranking.of("f₂", "the second positive one rank lower", _of_11(1, 3, 8, 9)),
        Ranking.of("f₃", "the second positive two ranks lower", _of_11(1, 4, 7, 8)),
    ),
    ks=(1, 5, 10),
    max_fpr=(1, 7),
    printed=tuple(
        Printed(metric, name, text)
        for name, row in FIGURE_1_PRINTED.items()
        for metric, text in zip(FIGURE_1_METRICS, row, strict=True)
    ),
    claims=(
        Claim("AP", "f₁ > f₂ > f₃"),
        Claim("AUROC", "f₃ > f₂ > f₁"),
        Claim("precision@1", "f₁ = f₂ = f₃"),
        Claim("precision@5", "f₁ = f₂ = f₃"),
    ),
)

EXAMPLES = (TABLE_2_2, TWO_OF_102, FIGURE_1, PAPK_TOP_2, PAPK_TOP_6)
