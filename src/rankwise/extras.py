"""Which extra installs a package, and the one sentence for a package that is missing.

The core needs torch and numpy. Everything else is imported where it is used and comes with an
extra of ``pyproject.toml``; a test keeps :data:`EXTRAS` equal to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

# What several extras, or several commands, need.
_TABLES = ("polars", "scipy", "sklearn", "threadpoolctl")
_IMAGES = ("PIL", "kornia", "lightning_fabric", "matplotlib", "safetensors", "yaml")
_TRAINING = ("lightning_fabric", "safetensors")

EXTRAS = {
    "cli": ("typer", "rich", "pydantic", "annotated_types", "yaml"),
    "tabular": ("lightgbm", "optuna", *_TABLES, "xgboost"),
    "train": _TRAINING,
    "ranking": ("lightgbm", "matplotlib", *_TABLES, *_TRAINING),
    "vision": (
        *("PIL", "faiss", "kornia", "matplotlib", "pycocotools", "scipy", "transformers"),
        *_TRAINING,
    ),
    "fast": ("numba",),
    "cluster": ("fsspec", "ray", *_TRAINING),
    "serve": ("huggingface_hub", "onnx", "onnxruntime"),
    "trackers": ("mlflow", "tensorboard", "wandb", *_TRAINING),
    "integrations": (
        *("accelerate", "datasets", "lightning", "sentence_transformers", "skorch"),
        "transformers",
    ),
}
"""The modules of each extra, besides those of ``cli``. A module of several extras is offered with
the first one, unless the command or package that needs it belongs to another."""

COMMANDS = {
    "compare": ("tabular", ("lightgbm", "optuna", *_TABLES)),
    "report": ("tabular", ()),
    "evaluate": ("tabular", ("polars", "scipy")),
    "predict": ("tabular", _TABLES),
    "fuse": ("tabular", ("polars", "scipy")),
    "drift": ("tabular", ("polars", "scipy")),
    "card": ("serve", ()),
    "export": ("serve", ("onnx",)),
    "objectives": ("cli", ()),
    "contrast": ("vision", ("kornia", "lightning_fabric", "matplotlib", "safetensors")),
    "recommend": ("ranking", ("lightning_fabric", "matplotlib", "polars", "safetensors", "scipy")),
    "rank": ("ranking", ("matplotlib", *_TABLES)),
    "retrieval": ("vision", _IMAGES),
    "classify": ("vision", _IMAGES),
    "detect": ("vision", (*_IMAGES, "pycocotools")),
    "demo": ("tabular,vision", ("lightgbm", "optuna", *_TABLES, *_IMAGES)),
}
"""The extra or extras of each command of ``rankwise``, and the modules it checks before it starts,
so that no training ends with a report that cannot be drawn. Options may need more."""

_PACKAGES = {
    "rankwise.data.images": "vision",
    "rankwise.data.detection": "vision",
    "rankwise.data.interactions": "ranking",
    "rankwise.data.letor": "ranking",
    "rankwise.tasks.contrast": "vision",
    "rankwise.tasks.detection": "vision",
    "rankwise.tasks.ranking": "ranking",
    "rankwise.tasks.recommendation": "ranking",
    "rankwise.tasks.retrieval": "vision",
    "rankwise.text": "integrations",
    "rankwise.training": "train",
    "rankwise.vision": "vision",
}  # the others are served by the first extra that has the module

_DISTRIBUTIONS = {
    "PIL": "Pillow",
    "annotated_types": "annotated-types",
    "faiss": "faiss-cpu",
    "huggingface_hub": "huggingface-hub",
    "lightning_fabric": "lightning-fabric",
    "mlflow": "mlflow-skinny",
    "sentence_transformers": "sentence-transformers",
    "sklearn": "scikit-learn",
    "xgboost": "xgboost-cpu",
    "yaml": "PyYAML",
}  # where the name that pip knows is another than the module's


class MissingExtraError(ModuleNotFoundError):
    """The error for packages that are not installed; its message names the extra to install."""


def missing(modules: Iterable[str]) -> list[str]:
    """Return the modules that are not installed, without importing any."""
    return [module for module in modules if find_spec(module) is None]


def require(user: str, *modules: str) -> None:
    """Raise if a module is not installed.

    Args:
        user: The command (``"rankwise rank"``) or package (``"rankwise.estimators"``) that needs
            the modules.
        modules: Top-level names, as they are imported.

    Raises:
        MissingExtraError: With the packages that are missing and the extra that installs them.
    """
    absent = missing(modules)
    if absent:
        raise MissingExtraError(sentence(user, absent), name=absent[0])


def missing_module(error: ModuleNotFoundError) -> str | None:
    """Return the module that an import failed for, if an extra installs it."""
    module = (error.name or "").partition(".")[0]
    if any(module in known for known in EXTRAS.values()) and missing([module]):
        return module
    return None  # a module of somebody else, or one that its own package no longer has


def sentence(user: str, modules: Iterable[str]) -> str:
    """Return the line that says which packages are missing and how to install them.

    >>> sentence("rankwise retrieval", ["PIL"])
    'rankwise retrieval needs Pillow: pip install "rankwise[vision]"'
    """
    modules = list(modules)
    extras = ",".join(dict.fromkeys(_extra_of(user, module) for module in modules))
    names = ", ".join(_DISTRIBUTIONS.get(module, module) for module in modules)
    return f'{user} needs {names}: pip install "rankwise[{extras}]"'


def _extra_of(user: str, module: str) -> str:
    command = user.removeprefix("rankwise ")
    own = COMMANDS[command][0] if command in COMMANDS else _PACKAGES.get(user)
    # Every extra includes cli.
    if own is not None and any(module in EXTRAS[name] for name in ("cli", *own.split(","))):
        return own
    return next(extra for extra, known in EXTRAS.items() if module in known)
