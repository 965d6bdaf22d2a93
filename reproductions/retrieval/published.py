"""The papers' tables: other data sets, a larger network, not like for like with ours."""

from __future__ import annotations

from rankwise.report import Table

_SOPRC_1 = (
    ("contrastive", 57.73, 77.60, 27.99, 54.19, 67.26, 87.46),
    ("triplet", 58.07, 78.34, 30.59, 60.53, 70.99, 90.09),
    ("multi-similarity", 60.10, 79.64, 30.28, 63.39, 69.15, 88.82),
    ("XBM", 61.29, 80.66, 27.46, 59.12, 71.24, 92.78),
    ("SmoothAP", 61.65, 81.13, 33.92, 66.13, 72.28, 91.31),
    ("DIR", 60.74, 80.52, 33.51, 64.86, 72.72, 91.38),
    ("FastAP", 57.10, 77.30, 31.02, 56.64, 70.82, 89.42),
    ("AUROC", 55.80, 77.32, 27.24, 60.88, 58.12, 81.73),
    ("BlackBox", 59.74, 79.48, 29.28, 56.88, 70.92, 90.14),
    ("SOPRC", 62.75, 81.91, 36.16, 68.22, 74.92, 92.56),
)
_STABLE_2 = (
    ("contrastive", 55.50, 75.59, 69.05, 61.28, 54.42, 23.41, 49.05),
    ("triplet", 57.94, 78.26, 79.51, 75.38, 71.86, 27.67, 56.27),
    ("multi-similarity", 57.67, 77.33, 70.14, 62.74, 56.25, 25.94, 53.70),
    ("SmoothAP", 59.10, 79.16, 79.90, 76.46, 72.08, 29.48, 59.40),
    ("DIR", 58.54, 78.65, 80.49, 76.99, 73.14, 29.26, 59.19),
    ("FastAP", 56.44, 76.52, 81.13, 77.13, 72.59, 26.45, 51.50),
    ("SoDeep", 55.51, 76.40, 61.00, 53.26, 46.38, 20.42, 45.32),
    ("AUC-Sigmoid", 55.96, 76.91, 75.28, 70.70, 65.39, 24.29, 56.20),
    ("AUC-Huber", 57.50, 77.98, 75.42, 70.58, 65.51, 26.04, 57.76),
    ("BlackBox", 58.19, 78.14, 81.74, 78.07, 74.16, 27.64, 54.45),
    ("StableAP + DFM", 62.89, 81.57, 82.63, 78.99, 75.13, 30.54, 61.12),
)
_SOPRC_2 = (
    ("1: share of the batch, no v", 34.58, 66.35),
    ("2: true share, no v", 35.84, 67.08),
    ("3: with v", 35.99, 67.50),
    ("4: with v and L_var", 36.16, 68.22),
    ("5: the same, by Adam", 36.20, 68.48),
)
_STABLE_3 = (
    ("SmoothAP", "246", "40", "528", "814"),
    ("DIR", "248", "1.2", "473", "722"),
    ("FastAP", "247", "29", "469", "745"),
    ("BlackBox", "248", "40", "472", "760"),
    ("StableAP", "248", "57", "534", "839"),
)
_STABLE_4 = (
    ("1: μ̂ fixed", 60.01, 79.53, 29.21, 59.23),
    ("2: μ̂ fixed, DFM", 61.40, 80.73, 29.39, 60.43),
    ("3: μ̂ followed", 62.14, 80.83, 30.68, 60.81),
    ("4: μ̂ followed, DFM, t = 1", 62.73, 81.35, 30.27, 60.10),
    ("5: μ̂ followed, DFM, t = 2", 62.89, 81.57, 30.54, 61.12),
)

_OTHER = "other data sets, ResNet-50 at 224 pixels, in per cent"


def published() -> list[Table]:
    """SOPRC's Tables 1 and 2, StableAP's Tables 2 to 4, as printed."""
    return [
        Table(
            ("method", "SOP mAP", "R@1", "iNaturalist mAP", "R@1", "VehicleID mAP", "R@1"),
            _fixed(_SOPRC_1),
            f"SOPRC, Table 1: {_OTHER}.",
        ),
        Table(
            ("method", "SOP mAP", "R@1", "VehicleID small mAP", "medium", "large",
             "iNaturalist mAP", "R@1"),
            _fixed(_STABLE_2),
            f"StableAP, Table 2: {_OTHER}.",
        ),
        Table(("line", "iNaturalist mAP", "R@1"), _fixed(_SOPRC_2), f"SOPRC, Table 2: {_OTHER}."),
        Table(
            ("line", "SOP mAP", "R@1", "iNaturalist mAP", "R@1"),
            _fixed(_STABLE_4),
            f"StableAP, Table 4: {_OTHER}.",
        ),
        Table(
            ("method", "forward", "loss", "backward", "total"),
            _STABLE_3,
            "StableAP, Table 3: time of a step (the unit is not printed), another machine.",
        ),
    ]  # fmt: skip


def stable_ap_gain(line: str) -> tuple[float, float]:
    """mAP of Table 4 with v̂ followed (lines 3 and 5) less line 1 or 2, on SOP and iNaturalist."""
    lines = {row[0][0]: (row[1] / 100, row[3] / 100) for row in _STABLE_4}
    followed, fixed = lines["3" if line == "1" else "5"], lines[line]
    return followed[0] - fixed[0], followed[1] - fixed[1]


def _fixed(rows: tuple[tuple[str | float, ...], ...]) -> list[tuple[str, ...]]:
    return [tuple(c if isinstance(c, str) else f"{c:.2f}" for c in row) for row in rows]
