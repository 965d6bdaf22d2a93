"""Yaml of settings."""

from __future__ import annotations

import pytest

from rankwise._yaml import parse_yaml
from rankwise.errors import UsageError
from rankwise.limits import MAX_YAML_DEPTH, MAX_YAML_VALUES


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10", 10),
        ("-3", -3),
        ("0", 0),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.0e-4", 1e-4),
        ("1_0", "1_0"),
        ("1_0.5", "1_0.5"),
        ("010", "010"),  # 8 in yaml 1.1
        ("1:30", "1:30"),  # 90 in yaml 1.1
        ("0b11", "0b11"),
        ("true", True),
        ("null", None),
        ("", None),
        ("[1, a]", [1, "a"]),
    ],
)
def test_numbers_are_those_that_are_numbers_elsewhere(text, value):
    found = parse_yaml(text)
    assert found == value
    assert type(found) is type(value)


def test_aliases_may_be_used_where_they_stay_small():
    found = parse_yaml("a: &x {k: 1}\nb: *x\nc:\n  <<: *x\n  l: 2\n")
    assert found == {"a": {"k": 1}, "b": {"k": 1}, "c": {"k": 1, "l": 2}}


def test_aliases_of_aliases_are_counted_as_if_they_were_written_out():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    text = "\n".join(lines)
    assert len(text) < 600
    with pytest.raises(UsageError, match=f"c.yaml: line 5: holds more than {MAX_YAML_VALUES:,}"):
        parse_yaml(text, "c.yaml: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("&a [*a]", "line 1: an alias refers to what it is in"),
        ("[" * (MAX_YAML_DEPTH + 2) + "]" * (MAX_YAML_DEPTH + 2), "nested too deeply"),
        ("[" * 100_000, "nested too deeply"),
        ("a: 1\na: 2", "line 2: a is there already, on line 1"),
        ("a: [", "is not yaml"),
        ("!!python/object/apply:os.system [ls]", "is not yaml"),
        ("9" * 5000, "has too many digits"),
        ("2001-99-99", "is not yaml: month must be"),
        (b"\xff\xfe\x00", "is not yaml"),
        ("a\x00b", "is not yaml"),
    ],
    ids=range(10),
)
def test_what_is_refused(text, message):
    with pytest.raises(UsageError, match=message):
        parse_yaml(text)
