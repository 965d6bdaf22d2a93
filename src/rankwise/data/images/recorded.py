"""The division of a data set, kept with a run: a folder of images may change, a run may not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from rankwise.data.errors import DataError
from rankwise.data.images.listing import Listing, Part, Recorded

__all__ = ["as_recorded", "record_of"]


def record_of(listing: Listing, parts: Sequence[Part], kept: Iterable[int]) -> tuple[Recorded, ...]:
    """Return the parts of the images ``kept``, in order; nothing for a published data set."""
    if listing.base is None or listing.paths is None:
        return ()
    names = _relative(listing)
    return tuple(Recorded(names[i], listing.labels[i], parts[i]) for i in kept)


def as_recorded(listing: Listing, record: Sequence[Recorded]) -> Listing:
    """Return the images of a record, in its order and its parts, as they are found now.

    Images that are not in the record are left out with a remark; recorded images that are gone
    stay in the listing, so that whoever opens their files reports them.
    """
    base = listing.base
    if base is None:
        raise DataError(f"{listing.name}: a published data set has no recorded division")
    names = _relative(listing)
    known = {one.path for one in record}
    if known.isdisjoint(names):
        raise DataError(
            f"{base}: has none of the {len(record)} images of the recorded division, such as "
            f"{record[0].path}; give the folder that the run was trained on, wherever it is now"
        )
    added = len(names) - len(known.intersection(names))
    remarks = [one for one in listing.remarks if not one.startswith("division")]
    remarks.append(f"division: as recorded by the run, {len(record)} images")
    if added:
        what = "image is" if added == 1 else "images are"
        remarks.append(f"{added} {what} not in the recorded division, and left out")
    return replace(
        listing,
        labels=[one.label for one in record],
        parts=[one.part for one in record],
        paths=[base / one.path for one in record],
        broken={},
        remarks=tuple(remarks),
        final=True,
    )


def _relative(listing: Listing) -> list[str]:
    assert listing.base is not None
    return [Path(os.path.relpath(path, listing.base)).as_posix() for path in listing.paths or ()]
