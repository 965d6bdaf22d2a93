"""Images and classes of each part of the data sets, next to Table 1 of StableAP."""

from __future__ import annotations

from dataclasses import dataclass

from rankwise.data.images import ImageSet, RetrievalSplits


@dataclass(frozen=True)
class Statistics:
    """A row of the table."""

    images: int
    classes: int
    imbalance: float  # images of the largest class over those of the smallest
    images_per_class: float


# Table 1 of StableAP, by data set and part. The test row of VehicleID adds up its three galleries.
TABLE_1: dict[str, dict[str, Statistics]] = {
    "sop": {
        "train": Statistics(53555, 10181, 6.0, 5.3),
        "validation": Statistics(5996, 1137, 6.0, 5.3),
        "test": Statistics(60502, 11316, 6.0, 5.3),
    },
    "vehicleid": {
        "train": Statistics(101947, 11847, 71.0, 8.6),
        "validation": Statistics(11399, 1317, 51.5, 8.7),
        "test": Statistics(40365, 4800, 59.0, 8.2),
    },
    "inaturalist": {
        "train": Statistics(289930, 5115, 200.6, 56.7),
        "validation": Statistics(35916, 575, 125.4, 62.5),
        "test": Statistics(136093, 2452, 125.4, 55.5),
    },
}


def statistics(images: ImageSet) -> Statistics:
    """Return the row of a part, which must not be empty."""
    counts = images.counts[images.counts > 0]
    if not len(counts):
        raise ValueError(f"{images.name} holds no images, so it has no statistics")
    imbalance = int(counts.max()) / int(counts.min())
    return Statistics(len(images), len(counts), imbalance, len(images) / len(counts))


def differences_from_table_1(kind: str, splits: RetrievalSplits) -> list[str]:
    """Return a line for every part that differs from the table in images or classes.

    The paper does not give the seed of its split, so the numbers of training and validation images
    differ from it on the published files, too; the numbers of classes need not.
    """
    lines = []
    parts = {"train": splits.train, "validation": splits.validation, "test": splits.test}
    for part, published in TABLE_1.get(kind, {}).items():
        images = parts[part]
        if part == "test" and splits.galleries:
            lists = [gallery for _, gallery in splits.galleries.values()]
            found = (sum(map(len, lists)), sum(statistics(one).classes for one in lists))
        else:
            found = (len(images), len(images.classes))
        if found != (published.images, published.classes):
            lines.append(
                f"{part}: {found[0]} images of {found[1]} classes, the paper has "
                f"{published.images} of {published.classes}"
            )
    return lines
