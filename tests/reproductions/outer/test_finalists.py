"""Who is chosen, by what, and what is written."""

from __future__ import annotations

import json

import pytest

from rankwise.data import DataError
from reproductions.outer.finalists import MOST, Choices, choose
from reproductions.outer.problem import REFERENCE, Arm


def arms(*named: str) -> list[Arm]:
    """Arms whose family is the part of the name before the dot."""
    return [Arm(name, name.split(".")[0], "ap") for name in named]


OURS = ("a.1", "a.2", "b.1", "c.1", "SOPRC", "StableAP", "SOPRC.log")
ALL = arms(f"{REFERENCE}.1", f"{REFERENCE}.2", *OURS)


def values(**of: float) -> dict[str, dict[str, float]]:
    """One problem; an arm that is not named has .1."""
    named = {key.replace("_", "."): value for key, value in of.items()}
    return {arm.name: {"p": named.get(arm.name, 0.1)} for arm in ALL}


def test_the_best_of_the_best_families_and_the_published_forms():
    found = choose("t", ALL, values(reference_2=0.5, a_2=0.4, a_1=0.3, c_1=0.2, SOPRC_log=0.15))
    assert found.reference == "reference.2"
    assert found.finalists == ("a.2", "c.1", "StableAP", "SOPRC")
    assert len(found.finalists) == MOST
    assert found.why["a.2"] == "best validation of the family a"
    assert found.why["SOPRC"] == "published form"
    assert found.relative["a.2"] == pytest.approx(4.0)


def test_a_published_form_that_is_best_of_its_family_takes_one_place():
    found = choose("t", ALL, values(SOPRC=0.9, a_1=0.4, b_1=0.3, c_1=0.2))
    assert set(found.finalists) == {"SOPRC", "a.1", "b.1", "StableAP"}
    assert found.why["SOPRC"] == "best validation of the family SOPRC"


def test_every_problem_has_the_same_say():
    table = values()
    for arm in ALL:
        table[arm.name]["q"] = 0.001
    table["b.1"]["q"] = 0.01  # ten times as good where numbers are small
    table["a.1"]["p"] = 0.5  # five times as good where they are large
    found = choose("t", ALL, table)
    assert found.relative["b.1"] == pytest.approx(5.5)
    assert found.relative["a.1"] == pytest.approx(3.0)


def test_a_choice_is_read_as_it_was_written(tmp_path):
    assert Choices(tmp_path).get("t") is None
    found = choose("t", ALL, values(a_1=0.7))
    Choices(tmp_path).put(found)
    assert Choices(tmp_path).get("t") == found
    assert json.loads((tmp_path / "finalists_t.json").read_text())["reference"] == "reference.1"


def test_another_file_is_refused(tmp_path):
    (tmp_path / "finalists_t.json").write_text("[]")
    with pytest.raises(DataError, match="is not a choice of finalists"):
        Choices(tmp_path).get("t")
