"""The mutation tests themselves; ``make mutants`` is the run."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest
from tests.mutation.mutators import mutants, mutated
from tests.mutation.own_tests import PACKAGES, ROOT, SOURCE, modules, own_tests


def changed(source: str) -> list[str]:
    return [ast.unparse(mutated(source, one.number)) for one in mutants(source)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b <= c", ["a <= b <= c", "a < b < c"]),
        ("a + b * 2", ["a - b * 2", "a + b / 2", "a + b * 3"]),
        ("a += 1.5", ["a -= 1.5", "a += 2.5"]),
        ("x = a and not b", ["x = a or not b", "x = a and b"]),
        ("x = -a.amin(dim=0)", ["x = a.amin(dim=0)", "x = -a.amin()", "x = -a.amax(dim=0)",
                                "x = -a.amin(dim=1)"]),
        ("if a:\n    f(b)", ["if not a:\n    f(b)", "if a:\n    pass"]),
        ("def f(a: int | None) -> bool:\n    return a", ["def f(a: int | None) -> bool:\n"
                                                         "    return None"]),
        ("'text'\nx = f'{a}' + 'b'\n__all__ = ['x']", []),
        ("raise ValueError(a + b)", []),
    ],
)  # fmt: skip
def test_single_expressions_are_changed_and_nothing_that_is_not_run(source, expected):
    assert changed(source) == expected


def test_every_module_has_tests():
    for package in PACKAGES:
        for path in modules(package):
            assert own_tests(path)[0].files, path


def test_own_tests_have_the_name_of_the_module_or_are_those_of_its_users():
    own, shared = own_tests(SOURCE / "objectives" / "ap" / "soap.py")
    assert own.arguments() == ["tests/objectives/ap/test_soap.py"]
    assert shared.arguments()[1:] == ["-k", "(SOAP) and not compile"]
    (users, *_) = own_tests(SOURCE / "metrics" / "_buckets.py")
    assert "tests/metrics/test_histogram.py" in users.arguments()


SCRIPT = """
import ast
from tests.mutation.own_tests import SOURCE, TESTS, Selection
from tests.mutation.runner import run

path, tests = SOURCE / "memory" / "bank.py", Selection((TESTS / "memory" / "test_bank.py",))
source = path.read_text("utf-8")
print(run(tests, path, ast.parse(source)).result)
print(run(tests, path, ast.parse(source.replace("class ", "class Other"))).result)
print(run(tests, path, ast.parse(source), seconds=0.01).result)
"""


def test_a_changed_module_is_the_one_that_is_tested():
    # In a process without the library, which the runner's children import themselves.
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.stdout.split() == ["passed", "failed", "time"], found.stdout + found.stderr
