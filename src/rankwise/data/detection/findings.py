"""What was found amiss in a data set, and what was done about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rankwise.data.images.image_file import BrokenImage, tell_broken

__all__ = ["Findings"]

_NAMED = 10  # boxes that one line names


@dataclass
class Findings:
    """Boxes that were cut or dropped, in words, and pictures that were left out."""

    clipped: list[str] = field(default_factory=list)  # went over the edge of their picture
    dropped: list[str] = field(default_factory=list)  # had no area, or none inside the picture
    broken: list[BrokenImage] = field(default_factory=list)  # left out by ``skip_broken``

    def lines(self) -> list[str]:
        """One line for each kind that there is, with its count and the first ten."""
        found = []
        if self.dropped:
            found.append(_line(self.dropped, "without area in {} picture: dropped"))
        if self.clipped:
            found.append(_line(self.clipped, "over the edge of {} picture: cut"))
        if self.broken:
            found.append(f"left out: {tell_broken(self.broken)}")
        return found


def _line(names: Sequence[str], what: str) -> str:
    boxes, whose = ("box", "its") if len(names) == 1 else ("boxes", "their")
    rest = f"; and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{len(names)} {boxes} {what.format(whose)} ({'; '.join(names[:_NAMED])}{rest})"
