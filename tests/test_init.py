from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

import rankwise


def test_the_core_imports_torch_and_numpy_and_nothing_heavier():
    code = (
        "import sys, torch, numpy; before = set(sys.modules); import rankwise; "
        "[getattr(rankwise, name) for name in rankwise.__all__]; "
        "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    allowed = {"rankwise", "torch", "numpy", *sys.stdlib_module_names}
    assert set(done.stdout.split()) <= allowed


def test_version_is_that_of_the_package():
    assert rankwise.__version__ == version("rankwise")
    assert set(rankwise.__all__) <= set(dir(rankwise))
    assert all(getattr(rankwise, name) is not None for name in rankwise.__all__)


def test_an_unknown_part_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'objective_s'"):
        _ = rankwise.objective_s
