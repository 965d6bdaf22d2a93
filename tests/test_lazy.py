from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from tests.test_extras import OTHERS, run_without

import rankwise
from rankwise._lazy import attach

SOURCE = Path(rankwise.__file__).parent
STUBS = sorted(SOURCE.rglob("__init__.pyi"))
PACKAGES = [".".join(("rankwise", *stub.parent.relative_to(SOURCE).parts)) for stub in STUBS]


@pytest.mark.parametrize("name", PACKAGES)
def test_every_name_of_a_stub_loads_and_is_listed(name):
    package = import_module(name)
    assert package.__all__
    assert len(set(package.__all__)) == len(package.__all__)
    assert set(package.__all__) <= set(dir(package))
    for public in package.__all__:
        assert getattr(package, public) is getattr(package, public)


@pytest.mark.parametrize("stub", STUBS, ids=PACKAGES)
def test_no_module_has_the_name_of_what_is_loaded_from_it(stub):
    """Importing ``package.name`` would replace the function ``name`` of the package."""
    submodules = {path.stem for path in stub.parent.iterdir()}
    package = import_module(PACKAGES[STUBS.index(stub)])
    for name in package.__all__:
        if name in submodules:
            assert getattr(package, name).__name__ == f"{package.__name__}.{name}"


def test_unknown_attributes_are_attribute_errors():
    with pytest.raises(AttributeError, match=r"module 'rankwise\.metrics' has no attribute 'aucc'"):
        _ = rankwise.metrics.aucc
    assert not hasattr(rankwise, "picture")


def test_a_name_may_be_renamed_and_a_package_may_be_a_name(tmp_path):
    (tmp_path / "__init__.pyi").write_text(
        "from json import dumps as write\nfrom os import path\n__all__ = ['write', 'path']\n"
    )
    load, _, public = attach("os", str(tmp_path / "__init__.py"))
    assert public == ["write", "path"]
    assert load("write")([1]) == "[1]"
    assert load("path").sep == "/"


def test_every_public_package_is_an_attribute_and_names_its_extra():
    done = run_without(
        OTHERS,
        """
        import rankwise
        for name in rankwise.__all__:
            try:
                getattr(rankwise, name)
            except ModuleNotFoundError as error:
                print(error)
        """,
    )
    assert done.stderr == ""
    needs = "rankwise.estimators needs scipy, scikit-learn, threadpoolctl"
    text = 'rankwise.text needs sentence-transformers: pip install "rankwise[integrations]"'
    assert done.stdout == f'{needs}: pip install "rankwise[tabular]"\n{text}\n'


def test_a_name_that_needs_an_extra_names_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    monkeypatch.delitem(sys.modules, "rankwise.boosting.engines.with_xgboost", raising=False)
    (tmp_path / "__init__.pyi").write_text(
        "from rankwise.boosting.engines.with_xgboost import XGBoost\n"
    )
    load, _, _ = attach("rankwise.boosting", str(tmp_path / "__init__.py"))
    line = r'rankwise\.boosting needs xgboost-cpu: pip install "rankwise\[tabular\]"'
    with pytest.raises(ModuleNotFoundError, match=line):
        load("XGBoost")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_imports_neither_torch_nor_numpy(arguments):
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "rankwise", *arguments],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "typer" in imported
    assert not {"torch", "numpy", "sklearn", "polars"} & imported


def test_only_the_loader_and_the_names_of_objects_import_by_a_computed_name():
    """Anywhere else mypy could not see what is imported."""
    users = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if "import_module(" in path.read_text()
    }
    assert users == {"_lazy.py", "naming/entry.py"}
