"""Objectives of other people: installed as plugins, or imported where a person allows it."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint

import pytest

import rankwise
from rankwise.naming import metric_of, registry
from rankwise.naming.registry import REGISTRY, Registry
from rankwise.naming.table import find_objective, read

SOURCE = """
from __future__ import annotations
from typing import TYPE_CHECKING
import torch
from rankwise.objectives import XRisk
if TYPE_CHECKING:
    from nowhere import Missing
class Mine(XRisk):
    metric = "auc"
    def __init__(self, margin: float = 1.0, other: Missing | None = None) -> None:
        super().__init__(f"squared_hinge({margin})", torch.log1p)
NUMBER = 3
SHARED = Mine(2.0)
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of somebody's, in the working directory."""
    (tmp_path / "my_losses.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    monkeypatch.setattr(REGISTRY, "entries", dict(REGISTRY.entries))
    monkeypatch.setattr(REGISTRY, "typed", set())
    monkeypatch.setattr(REGISTRY, "trusts_files", False)
    yield "my_losses"
    sys.modules.pop("my_losses", None)


def test_a_name_alone_never_imports_a_module(module):
    with pytest.raises(ValueError, match=r"my_losses.*--trust"):
        rankwise.objective("my_losses:Mine")
    assert module not in sys.modules


def test_a_name_that_a_person_has_typed_is_imported(module):
    REGISTRY.trust(["boosted:my_losses:Mine(margin=2.0)"])
    made = rankwise.objective("my_losses:Mine(margin=2.0)")
    assert type(made).__module__ == module
    assert made.inner.margin == 2.0
    assert metric_of("my_losses:Mine") == "auc"


def test_an_object_of_a_module_is_copied_for_every_use(module):
    REGISTRY.trust(["my_losses:SHARED"])
    first, second = (rankwise.objective("my_losses:SHARED") for _ in range(2))
    assert first is not second
    assert first.inner.margin == second.inner.margin == 2.0
    assert metric_of("my_losses:SHARED") == "auc"
    with pytest.raises(ValueError, match="has no option"):
        rankwise.objective("my_losses:SHARED(margin=3.0)")


def test_files_that_are_trusted_may_import(module):
    REGISTRY.trusts_files = True
    assert find_objective(read("my_losses:Mine")).names == ("my_losses:Mine",)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("my_losses:Yours", "AttributeError.*; check the spelling"),
        ("my_losses:NUMBER", "must be a class, a function or an objective, got int"),
        ("no_such_module:Mine", "ModuleNotFoundError.*in the working directory or installed"),
        ("my_losses:Mine(marge=2)", "has no option"),
    ],
)
def test_what_cannot_be_imported_is_named(module, name, why):
    REGISTRY.trust([name])
    with pytest.raises(ValueError, match=why) as caught:
        rankwise.objective(name)
    assert name.partition("(")[0] in str(caught.value)


def test_an_object_that_is_no_objective_is_refused(module):
    REGISTRY.trust(["collections:Counter"])
    with pytest.raises(ValueError, match=r"must be an nn\.Module"):
        rankwise.objective("collections:Counter")


def test_an_objective_of_an_installed_package_has_a_name(module, monkeypatch):
    point = EntryPoint("log_auc_of_a_plugin", "my_losses:Mine", registry.PLUGINS)
    monkeypatch.setattr(registry, "entry_points", lambda *, group: [point])
    monkeypatch.setattr(REGISTRY, "_plugins_read", False)
    assert rankwise.objective("log-auc-of-a-plugin(margin=3.0)").inner.margin == 3.0
    with pytest.raises(ValueError, match='did you mean "log_auc_of_a_plugin"'):
        rankwise.objective("log_auc_of_a_plugni")


def test_a_plugin_that_fails_is_named(monkeypatch):
    point = EntryPoint("broken", "no_such_module:Loss", registry.PLUGINS)
    monkeypatch.setattr(registry, "entry_points", lambda *, group: [point])
    with pytest.raises(ValueError, match=r'entry point "broken".*no_such_module:Loss'):
        Registry().find("anything")
