"""The mutation tests themselves; ``make mutants`` is the run."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest
from tests.mutation.mutators import mutants, mutated
from tests.mutation.own_tests import PACKAGES, ROOT, SOURCE, TESTS, modules, own_tests, shared_tests


def changed(body: str) -> list[str]:
    source = f"def f():\n    {body}"
    trees = [ast.unparse(mutated(source, one.number)) for one in mutants(source)]
    return [tree.partition("    ")[2] for tree in trees]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b <= c", ["a <= b <= c", "a < b < c"]),
        ("a + b * 2", ["a - b * 2", "a + b / 2", "a + b * 3"]),
        ("a += 1.5", ["a -= 1.5", "a += 2.5"]),
        ("x = a and not b", ["x = a or not b", "x = a and b"]),
        ("x = -a.amin(dim=0)", ["x = a.amin(dim=0)", "x = -a.amin()", "x = -a.amax(dim=0)",
                                "x = -a.amin(dim=1)"]),
        ("f(b) if a else c", ["f(b) if not a else c"]),
        ("f(a)", ["pass"]),
        ("return a", ["return None"]),
        ("x: int | None = f'{a}' + 'b'", []),
        ("raise ValueError(a + b)", []),
    ],
)  # fmt: skip
def test_single_expressions_are_changed_and_nothing_that_is_not_run(source, expected):
    assert changed(source) == expected


def test_what_runs_when_a_module_is_imported_is_left_alone():
    assert mutants("N = 1 + 2\nclass A:\n    n: int = 3\ndef f(a: int = 4): ...") == []


def test_every_module_has_tests():
    for package in PACKAGES:
        for path in modules(package):
            assert own_tests(path), path


def test_own_tests_have_the_name_of_the_module_or_are_those_of_its_users():
    soap = SOURCE / "objectives" / "ap" / "soap.py"
    assert own_tests(soap) == (TESTS / "objectives" / "ap" / "test_soap.py",)
    assert shared_tests("objectives").words(soap) == ("SOAP", "PairwiseAUC")
    assert TESTS / "metrics" / "test_histogram.py" in own_tests(SOURCE / "metrics" / "_buckets.py")


SCRIPT = """
import sys
from pathlib import Path
from tests.mutation.mutators import mutants
from tests.mutation.own_tests import SOURCE, own_tests
from tests.mutation.runner import Task, run

path = SOURCE / sys.argv[1]
tasks = [Task(path, one.number) for one in mutants(path.read_text("utf-8"))[:6]]
print(*run(own_tests(path), tasks, Path(sys.argv[2], "results")), sep=",")
"""


@pytest.mark.parametrize("module", ["memory/bank.py", "metrics/curves.py"])  # the second is lazy
def test_a_changed_module_is_the_one_that_is_tested(module, tmp_path):
    # In a process without the library, which the runner's children import themselves.
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT, module, str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    results = found.stdout.strip().split(",")
    assert len(results) == 6, found.stderr
    assert "failed" in results
