from __future__ import annotations

import subprocess
import sys

import pytest

from rankwise.boosting.engines import Engine, engine_of


@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_a_name_is_the_engine_that_has_it(name: str) -> None:
    found = engine_of(name)
    assert issubclass(found, Engine)
    assert found.__name__.lower() == name


def test_engines_have_names() -> None:
    with pytest.raises(ValueError, match="engine must be one of 'lightgbm', 'xgboost'"):
        engine_of("catboost")


def test_a_missing_package_is_named(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "xgboost", None)
    line = r'rankwise.boosting needs xgboost-cpu: pip install "rankwise\[tabular\]"'
    with pytest.raises(ModuleNotFoundError, match=line):
        engine_of("xgboost")


def test_no_booster_is_loaded_before_it_is_asked_for() -> None:
    code = (
        "import sys, rankwise.boosting.engines as engines\n"
        "assert not {'lightgbm', 'xgboost'} & set(sys.modules)\n"
        "engines.engine_of('xgboost')\n"
        "assert 'xgboost' in sys.modules and 'lightgbm' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
