"""Table 3 of the paper, Micro-pAp@k in per cent."""

from __future__ import annotations

KS = {
    "Movielens": (8, 12, 16, 20, 24),
    "Citation": (6, 9, 12, 15, 18),
    "Behance": (5, 10, 15, 20, 25),
}
"""The numbers of places of each data set."""

PUBLISHED = {
    "Movielens": {
        "GD-pAp@k-max": (32.6, 35.1, 37.6, 40.5, 43.7),
        "GD-pAp@k-avg": (35.5, 34.4, 36.1, 42.5, 46.5),
        "GD-pAp@k-TS": (33.5, 33.3, 35.6, 42.2, 46.0),
        "SVM-pAUC": (34.9, 33.7, 35.7, 41.1, 46.3),
        "Greedy-pAp@k": (29.3, 31.5, 34.1, 37.4, 40.0),
        "SGD@k-avg": (30.7, 32.3, 32.8, 35.0, 36.3),
        "Select-pAp@k": (31.0, 34.9, 36.9, 39.8, 41.5),
    },
    "Citation": {
        "GD-pAp@k-max": (17.5, 21.4, 28.6, 34.8, 35.1),
        "GD-pAp@k-avg": (20.7, 25.6, 26.7, 33.6, 33.4),
        "GD-pAp@k-TS": (15.0, 19.3, 31.6, 31.0, 34.3),
        "SVM-pAUC": (14.5, 24.4, 29.5, 32.3, 30.8),
        "Greedy-pAp@k": (18.5, 19.6, 29.9, 30.1, 29.4),
        "SGD@k-avg": (20.4, 23.0, 24.2, 28.1, 30.5),
        "Select-pAp@k": (20.0, 23.7, 27.0, 30.4, 31.9),
    },
    "Behance": {
        "GD-pAp@k-max": (19.2, 24.3, 28.4, 28.6, 31.8),
        "GD-pAp@k-avg": (21.6, 26.5, 29.7, 30.8, 33.7),
        "GD-pAp@k-TS": (22.8, 26.9, 28.6, 30.5, 33.0),
        "SVM-pAUC": (19.7, 24.4, 27.8, 30.7, 32.8),
        "Greedy-pAp@k": (20.1, 24.5, 27.5, 28.8, 31.4),
        "SGD@k-avg": (19.6, 26.6, 31.7, 30.6, 35.3),
        "Select-pAp@k": (15.6, 18.9, 22.0, 24.3, 25.9),
    },
}
"""By data set and method, in the order of :data:`KS`."""
