"""Which tests a module of the library has of its own."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE, TESTS = ROOT / "src" / "rankwise", ROOT / "tests"
PACKAGES = ("pairs", "metrics", "lists", "memory", "objectives")
_SHARED = {
    "objectives": "objectives/test_every_objective.py",
    "lists": "objectives/test_every_objective.py",
    "metrics": "metrics/test_every_metric.py",
}


@dataclass(frozen=True)
class Selection:
    """Test files, and an expression for pytest's ``-k``."""

    files: tuple[Path, ...]
    names: str = ""

    def arguments(self) -> list[str]:
        """Return the arguments of pytest."""
        chosen = ["-k", self.names] if self.names else []
        return [str(path.relative_to(ROOT)) for path in self.files] + chosen


def modules(package: str) -> list[Path]:
    """Return the source files of a package, those that only name others left out."""
    if (SOURCE / f"{package}.py").exists():
        return [SOURCE / f"{package}.py"]
    found = sorted((SOURCE / package).rglob("*.py"))
    return [path for path in found if path.name != "__init__.py"]


def own_tests(path: Path) -> list[Selection]:
    """Return what is run for a mutant, in turn: its own tests, then the shared ones.

    A module's own tests have its name. A private module without them is tested by those of the
    modules that import it, or those of its folder. Shared are the tests of all objectives or
    metrics, of which the classes of the module are chosen.
    """
    package = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    files = _by_name(path) or _of_importers(path, frozenset())
    chosen = [Selection(files or tuple(sorted(_mirrored(path).glob("test_*.py"))))]
    if shared := _SHARED.get(package):
        users = _importers(path) if path.stem.startswith("_") else [path]
        names = [name for user in users for name in _public(user)]
        # The base class has the name of the file, and would choose every test of it.
        names = [name for name in names if name.lower() not in shared]
        if package != "metrics" and (package == "lists" or not names):
            names = ["PairwiseAUC"]  # of those that all objectives use, an example
        if names:
            kept = f"({' or '.join(names)}) and not compile"  # which takes minutes
            chosen.append(Selection((TESTS / shared,), kept))
    return chosen


def _mirrored(path: Path) -> Path:
    parts = [part.lstrip("_") for part in path.relative_to(SOURCE).parts[:-1]]
    return TESTS.joinpath(*parts)


def _by_name(path: Path) -> tuple[Path, ...]:
    stem, folder = path.stem.lstrip("_"), _mirrored(path)
    return (*sorted(folder.glob(f"test_{stem}.py")), *sorted(folder.glob(f"test_{stem}_*.py")))


def _of_importers(path: Path, seen: frozenset[Path]) -> tuple[Path, ...]:
    """Return the tests of the modules that import a module."""
    found: dict[Path, None] = {}
    for other in _importers(path):
        if other not in seen:
            tests = _by_name(other) or _of_importers(other, seen | {path})
            found.update(dict.fromkeys(tests))
    return tuple(found)


def _importers(path: Path) -> list[Path]:
    """Return the modules of a package that import a module of it."""
    package = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
    return [other for other in modules(package) if name in _imported(other)]


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
