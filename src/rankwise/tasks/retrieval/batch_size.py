"""P × K batches that fit the training images."""

from __future__ import annotations

from rankwise.data.images import ImageSet
from rankwise.errors import UsageError
from rankwise.tasks.retrieval.settings import Settings

__all__ = ["fit_batches"]


def fit_batches(settings: Settings, train: ImageSet) -> tuple[Settings, list[str]]:
    """Return settings whose batches the training images can fill, and a line on what changed.

    A batch has at most as many classes as there are, and at most as many images of a class as the
    largest class has.
    """
    counts = train.counts[train.counts > 0]
    if len(counts) < 2:
        raise UsageError(
            f"{train.name}: training needs images of two classes or more, got {len(counts)}; "
            "add images of other classes"
        )
    asked = settings.batches
    classes = min(asked.classes, len(counts))
    per_class = min(asked.per_class, max(2, int(counts.max())))
    if (classes, per_class) == (asked.classes, asked.per_class):
        return settings, []
    chunk = asked.chunk
    if chunk is not None:
        chunk = max(per_class, chunk // per_class * per_class)
    fitted = asked.replace(classes=classes, per_class=per_class, chunk=chunk)
    line = (
        f"batches: {classes} classes × {per_class} images instead of {asked.classes} × "
        f"{asked.per_class}: there are {len(counts)} training classes of at most "
        f"{int(counts.max())} images"
    )
    return settings.replace(batches=fitted), [line]
