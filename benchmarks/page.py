"""The parts of README.md that measurements write."""

from __future__ import annotations

from pathlib import Path

__all__ = ["write_between", "write_safely"]

PAGE = Path(__file__).parent / "README.md"


def write_between(part: str, text: str) -> None:
    """Replace what stands between the marks of ``part`` in README.md."""
    begin, end = f"<!-- {part}: written by its command -->", f"<!-- end of {part} -->"
    head, rest = PAGE.read_text().split(begin)
    write_safely(PAGE, f"{head}{begin}\n{text}\n{end}{rest.split(end)[1]}")


def write_safely(path: Path, text: str) -> None:
    """A file is there whole or not at all."""
    temporary = path.with_suffix(".tmp")
    temporary.write_text(text)
    temporary.replace(path)
