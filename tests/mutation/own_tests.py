"""Which tests a module of the library has."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE, TESTS = ROOT / "src" / "rankwise", ROOT / "tests"
PACKAGES = ("pairs", "metrics", "lists", "memory", "objectives")


def modules(package: str) -> list[Path]:
    """Return the source files of a package without those that only name others.

    Functions that numba compiles are machine code already when a mutant is made.
    """
    if (SOURCE / f"{package}.py").exists():
        return [SOURCE / f"{package}.py"]
    found = [path for path in sorted((SOURCE / package).rglob("*.py")) if path.stem != "__init__"]
    return [path for path in found if "@kernel" not in path.read_text("utf-8")]


def module_name(path: Path) -> str:
    """Return the name a source file is imported by."""
    return ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)


def own_tests(path: Path) -> tuple[Path, ...]:
    """Return the test files with the name of a module.

    A private module without them is tested by those of its users, or of its folder.
    """
    return _by_name(path) or _of_importers(path) or tuple(sorted(_mirrored(path).glob("test_*.py")))


@dataclass(frozen=True)
class Shared:
    """A test file of all objectives or metrics, and the tests of it where no name is known."""

    file: Path
    example: str

    def words(self, path: Path) -> tuple[str, ...]:
        """Return what the names of the tests of a module have in them."""
        users = _importers(path) if path.stem.startswith("_") else [path]
        names = [name for user in users for name in _public(user)]
        return (*names, self.example)


def shared_tests(package: str) -> Shared | None:
    """Return the tests that the modules of a package share."""
    if package == "metrics":
        return Shared(TESTS / "metrics" / "test_every_metric.py", "auroc")
    if package in ("objectives", "lists"):
        return Shared(TESTS / "objectives" / "test_every_objective.py", "PairwiseAUC")
    return None


def _mirrored(path: Path) -> Path:
    parts = [part.lstrip("_") for part in path.relative_to(SOURCE).parts[:-1]]
    return TESTS.joinpath(*parts)


def _by_name(path: Path) -> tuple[Path, ...]:
    stem, folder = path.stem.lstrip("_"), _mirrored(path)
    return (*sorted(folder.glob(f"test_{stem}.py")), *sorted(folder.glob(f"test_{stem}_*.py")))


def _of_importers(path: Path, seen: frozenset[Path] = frozenset()) -> tuple[Path, ...]:
    found: dict[Path, None] = {}
    for other in _importers(path):
        if other not in seen:
            tests = _by_name(other) or _of_importers(other, seen | {path})
            found.update(dict.fromkeys(tests))
    return tuple(found)


def _importers(path: Path) -> list[Path]:
    """Return the modules of a package that import a module of it."""
    package = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    return [other for other in modules(package) if module_name(path) in _imported(other)]


@cache
def _imported(path: Path) -> frozenset[str]:
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return frozenset(node.module or "" for node in nodes if isinstance(node, ast.ImportFrom))


def _public(path: Path) -> list[str]:
    """Return the names of the classes of a module, and of the functions of one without them."""
    body = ast.parse(path.read_text("utf-8")).body
    classes = [node.name for node in body if isinstance(node, ast.ClassDef)]
    functions = [node.name for node in body if isinstance(node, ast.FunctionDef)]
    return [name for name in classes or functions if not name.startswith("_")]
