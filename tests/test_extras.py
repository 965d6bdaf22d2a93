from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest
from tests.command_line import commands, least_arguments
from tests.tasks.ranking.cases import written
from typer.testing import CliRunner

from rankwise.cli import app
from rankwise.extras import COMMANDS, EXTRAS, sentence

ROOT = Path(__file__).parent.parent
CORE = {"torch", "numpy"}
OTHERS = sorted({module for extra in EXTRAS if extra != "cli" for module in EXTRAS[extra]})
DISTRIBUTIONS = {"PIL": "pillow", "faiss": "faiss-cpu", "mlflow": "mlflow-skinny",
                 "sklearn": "scikit-learn", "xgboost": "xgboost-cpu", "yaml": "pyyaml"}  # fmt: skip
EXTRA_OF = {"compare": "tabular", "report": "tabular", "evaluate": "tabular", "predict": "tabular",
            "fuse": "tabular", "drift": "tabular", "card": "serve", "export": "serve",
            "recommend": "ranking", "rank": "ranking", "contrast": "vision",
            "retrieval": "vision", "classify": "vision", "detect": "vision",
            "demo": "tabular,vision"}  # fmt: skip

# Before anything else runs: an interpreter in which some packages are not installed.
WITHOUT = """
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] in {absent!r}:
            return None
        return super().find_spec(name, path, target)

sys.meta_path[:] = [Without if finder is PathFinder else finder for finder in sys.meta_path]
"""


def run_without(absent, code):
    """The output of code, one string a line, where the modules ``absent`` are not installed."""
    program = WITHOUT.format(absent=set(absent)) + textwrap.dedent(code)
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )


def test_the_table_of_modules_is_that_of_pyproject():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for extra, modules in EXTRAS.items():
        ours = {DISTRIBUTIONS.get(module, module.replace("_", "-")) for module in modules}
        assert _packages(extra, declared["optional-dependencies"]) == ours, extra


def _packages(extra, declared):
    """The packages of an extra with those of the extras it includes; ``cli`` is in all but fast."""
    names = {re.match(r"[\w.-]+(\[\w+\])?", line)[0] for line in declared[extra]}
    included = {name[9:-1] for name in names if name.startswith("rankwise[")}
    assert extra in ("cli", "fast") or included & {"cli", "train"}, extra
    others = (_packages(name, declared) for name in included - {"cli"})
    own = {name.partition("[")[0] for name in names} - {"rankwise"}
    return own.union(*others)


def test_every_package_that_is_imported_comes_with_an_extra():
    known = CORE | {"rankwise"} | {module for modules in EXTRAS.values() for module in modules}
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module]
            tops = {name.partition(".")[0] for name in names}
            assert tops <= known | sys.stdlib_module_names, path


def test_with_the_core_alone_the_command_line_is_one_line_and_2():
    for arguments in ([], ["--help"], ["compare", "data.csv"]):
        code = f"""
        import runpy
        sys.argv[1:] = {arguments}
        runpy.run_module("rankwise", run_name="__main__")
        """
        done = run_without({*OTHERS, *EXTRAS["cli"]}, code)
        assert done.stderr == 'rankwise needs typer, rich, pydantic: pip install "rankwise[cli]"\n'
        assert done.stdout == ""
        assert done.returncode == 2


def test_with_the_command_line_alone_every_command_is_one_line_and_2():
    done = run_without(
        OTHERS,
        """
        import json
        from tests.command_line import commands, least_arguments
        from typer.testing import CliRunner
        from rankwise.cli import app
        found = []
        for path, command in commands(app):
            done = CliRunner().invoke(app, [*path, *least_arguments(command)])
            found.append((path, done.exit_code, done.stdout, done.stderr))
        print(json.dumps(found))
        """,
    )
    assert done.returncode == 0, done.stderr
    tried = json.loads(done.stdout)
    assert {path[0] for path, *_ in tried} == {*EXTRA_OF, "objectives"}
    for path, code, out, line in tried:
        if path[0] == "objectives":  # torch and numpy are enough
            assert (code, line) == (0, ""), path
        elif path[0] == "card":
            assert "holds no run that rankwise wrote" in line, path
        elif path[0] == "report":
            assert "folder must be that of a run" in line, path
        else:
            start, end = line.split(": ")
            assert start.startswith(f"rankwise {path[0]} needs "), path
            assert end == f'pip install "rankwise[{EXTRA_OF[path[0]]}]"\n', path
            assert (code, out) == (2, ""), path


@pytest.mark.parametrize(
    ("command", "module"),
    [(command, module) for command, (_, modules) in COMMANDS.items() for module in modules],
)
def test_one_missing_package_is_named_with_the_extra_of_the_command(monkeypatch, command, module):
    monkeypatch.setitem(sys.modules, module, None)
    name = {"PIL": "Pillow", "sklearn": "scikit-learn", "yaml": "PyYAML"}.get(module)
    name = name or module.replace("_", "-")
    line = f'rankwise {command} needs {name}: pip install "rankwise[{EXTRA_OF[command]}]"\n'
    for path, found in commands(app):
        if path[0] == command:
            done = CliRunner().invoke(app, [*path, *least_arguments(found)])
            assert (done.stderr, done.stdout, done.exit_code) == (line, "", 2)


def test_what_an_option_needs_is_named_when_it_is_used(monkeypatch, tmp_path):
    """``--model boosted`` of ``rank`` trains with LightGBM, which ``rank`` alone does not need."""
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    data = written(tmp_path / "train.txt")
    arguments = ["rank", "train", str(data), "--model", "boosted", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(app, arguments)
    line = 'rankwise rank needs lightgbm: pip install "rankwise[ranking]"'
    assert done.stderr.splitlines()[-1] == line
    assert done.exit_code == 2
    shown = CliRunner().invoke(app, [*arguments, "--debug"]).stderr.splitlines()
    assert "Traceback (most recent call last):" in shown
    assert shown[-1] == line


def test_another_failed_import_stays_a_failure(tmp_path):
    """A part that an installed package no longer has is not missing: installing would not help."""
    data = tmp_path / "data.csv"
    data.write_text("x,y\n1,0\n2,1\n")
    # In a process of its own: an import that failed halfway leaves parts of optuna behind.
    done = run_without(
        (),
        f"""
        sys.modules["optuna.storages"] = None
        sys.argv = ["rankwise", "compare", {str(data)!r}, "--target", "y",
                    "--out", {str(tmp_path / "run")!r}]
        from rankwise.__main__ import main
        sys.exit(main())
        """,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("ModuleNotFoundError: import of optuna.storages")


def test_library_imports_raise_the_same_sentence():
    expected = {
        "from rankwise.estimators import LinearRanker": (
            "rankwise.estimators needs scipy, scikit-learn, threadpoolctl", "tabular"),
        "from rankwise.estimators.linear._ranker import LinearRanker": (
            "rankwise.estimators needs scipy, scikit-learn, threadpoolctl", "tabular"),
        "from rankwise.data import read_table": ("rankwise.data needs polars, scipy", "tabular"),
        "from rankwise.data.images import open_images": ("rankwise.data.images needs Pillow",
                                                         "vision"),
        "from rankwise.data.letor import read_letor": (
            "rankwise.data.letor needs polars, scipy", "ranking"),
        "from rankwise.data.interactions import read_interactions": (
            "rankwise.data.interactions needs polars, scipy", "ranking"),
        "from rankwise.tasks.compare import run": (
            "rankwise.tasks.compare needs polars, scipy, optuna", "tabular"),
        "from rankwise.tasks.contrast import run": (
            "rankwise.tasks.contrast needs matplotlib, safetensors", "vision"),
        "from rankwise.boosting.engines import engine_of; engine_of('xgboost')": (
            "rankwise.boosting needs xgboost-cpu", "tabular"),
    }  # fmt: skip
    done = run_without(
        OTHERS,
        f"""
        for line in {list(expected)}:
            try:
                exec(line)
            except ImportError as error:
                print(error)
        """,
    )
    lines = [f'{needs}: pip install "rankwise[{extra}]"' for needs, extra in expected.values()]
    assert done.stdout.splitlines() == lines, done.stderr


def test_packages_of_several_extras_are_installed_together():
    line = 'rankwise detect needs Pillow, polars: pip install "rankwise[vision,tabular]"'
    assert sentence("rankwise detect", ["PIL", "polars"]) == line
