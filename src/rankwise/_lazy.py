"""Load the names of a package when they are first used.

``__init__.py`` of a public package is its docstring and one line; the stub ``__init__.pyi`` next
to it says where each name comes from, for this loader, for mypy and for editors::

    __getattr__, __dir__, __all__ = attach(__name__, __file__)
"""

import ast
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from rankwise.extras import MissingExtraError, missing_module, require, sentence


def attach(
    package: str, file: str, /, *modules: str, **needs: Sequence[str]
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package from its stub.

    Args:
        package: ``__name__`` of the package.
        file: ``__file__`` of the package; its stub has the same path with the suffix ``.pyi``.
        modules: Modules of an extra that all of the package needs; they are checked at once.
        needs: Packages of an extra that a module of the package needs, by the module's name:
            they are checked before the module is imported, and all that are missing are named.
    """
    require(package, *modules)
    origins, public = _read_stub(package, Path(file).with_suffix(".pyi"))

    def load(name: str) -> object:
        if name not in origins:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, attribute = origins[name]
        require(package, *needs.get(module.rpartition(".")[2], ()))
        try:
            found = import_module(module)
        except MissingExtraError:
            raise
        except ModuleNotFoundError as error:
            absent = missing_module(error)
            if absent is None:
                raise
            user = module if attribute is None else package
            raise MissingExtraError(sentence(user, [absent]), name=absent) from error
        return found if attribute is None else getattr(found, attribute)

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *public})

    return load, names, public


def _read_stub(package: str, stub: Path) -> tuple[dict[str, tuple[str, str | None]], list[str]]:
    """Return the module and attribute of every name a stub imports, and its ``__all__``."""
    origins: dict[str, tuple[str, str | None]] = {}
    public: list[str] = []
    for node in ast.parse(stub.read_text("utf-8")).body:
        match node:
            case ast.ImportFrom(module=str(module), names=aliases):
                for alias in aliases:
                    inside = module == package  # `from rankwise import metrics`: a subpackage
                    origin = (f"{package}.{alias.name}", None) if inside else (module, alias.name)
                    origins[alias.asname or alias.name] = origin
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                public = ast.literal_eval(value)
    return origins, public
