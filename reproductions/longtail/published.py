"""Table 6 of StableAP: AP in per cent, mean and deviation of 4 repeats, by its own data."""

from __future__ import annotations

PUBLISHED: dict[str, dict[str, tuple[float, float]]] = {
    "CIFAR-10-LT": {
        "CE": (78.9, 0.46),
        "CB-CE": (82.6, 0.48),
        "Focal": (80.1, 0.11),
        "LDAM": (82.4, 0.98),
        "MAUC": (80.8, 1.28),
        "SmoothAP": (82.1, 0.46),
        "SOAP": (84.7, 0.34),
        "StableAP": (86.5, 0.39),
    },
    "CIFAR-100-LT": {
        "CE": (75.9, 1.11),
        "CB-CE": (81.9, 0.65),
        "Focal": (79.6, 0.46),
        "LDAM": (76.6, 2.33),
        "MAUC": (78.6, 0.22),
        "SmoothAP": (81.3, 0.09),
        "SOAP": (83.1, 1.15),
        "StableAP": (85.3, 0.93),
    },
    "ChestX-ray": {
        "CE": (26.95, 0.70),
        "CB-CE": (28.36, 0.05),
        "Focal": (28.29, 0.42),
        "LDAM": (26.13, 2.44),
        "MAUC": (28.66, 0.27),
        "SmoothAP": (25.61, 0.75),
        "SOAP": (29.80, 0.42),
        "StableAP": (32.19, 0.28),
    },
}
