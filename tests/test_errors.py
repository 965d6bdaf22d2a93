from __future__ import annotations

import pickle

import pytest

from rankwise.data import DataError
from rankwise.errors import UsageError, foreign_errors, short_repr
from rankwise.tasks import recommendation
from rankwise.tasks.classification.settings import Batches
from rankwise.tasks.contrast.settings import Settings as Contrast
from rankwise.tasks.detection.settings import Augmentations
from rankwise.tasks.ranking.settings import Settings as Ranking
from rankwise.training.settings import Training


def test_a_message_is_one_line_whatever_it_was_made_of():
    assert str(UsageError("  a.yaml:\n\tis not\r\n   yaml\n")) == "a.yaml: is not yaml"
    assert str(UsageError("")) == ""


def test_it_is_a_wrong_value_and_one_kind_of_it_the_fault_of_the_data():
    with pytest.raises(ValueError, match="no such run"):
        raise UsageError("no such run")
    assert isinstance(DataError("broken"), UsageError)
    assert not isinstance(UsageError("wrong"), DataError)


def test_it_comes_back_from_another_process():
    again = pickle.loads(pickle.dumps(UsageError("k must be\n>= 1")))
    assert type(again) is UsageError
    assert str(again) == "k must be >= 1"


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Batches(size=1), r"batches\.size"),
        (lambda: Contrast(batch=1), "batch"),
        (lambda: Augmentations(height=1), r"augmentations\.height"),
        (lambda: Ranking(seed=-1), "seed"),
        (lambda: recommendation.Settings(dimension=0), "dimension"),
        (lambda: Training(steps=0), r"training\.steps"),
    ],
    ids=["classify", "contrast", "detect", "rank", "recommend", "retrieval"],
)
def test_every_task_refuses_its_settings_by_this_one_error(make, name):
    with pytest.raises(UsageError, match=f"^{name} must be a whole number (>=|from) "):
        make()


class _Panic(BaseException):
    """What a panic of Rust is in Python: no Exception."""


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (KeyError("name"), "it holds no 'name'"),
        (RecursionError("maximum recursion depth exceeded"), "it is nested too deeply"),
        (MemoryError(), "it does not fit into memory"),
        (OSError(5, "Input/output error"), "Input/output error"),
        (FileNotFoundError(2, "No such file", "runs/a/run.json"), "run.json is missing"),
        (FileNotFoundError(2, "No such file"), "No such file"),
        (EOFError(), "EOFError"),
        (_Panic("index out\nof range"), "index out of range"),
        (ValueError("x" * 10_000_000), "x" * 300 + "…"),
        (UnicodeEncodeError("ascii", "ä.png", 0, 1, "no"), "set PYTHONUTF8=1"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_whatever_a_parser_raises_becomes_one_line(error, reason):
    with pytest.raises(DataError) as found, foreign_errors("a.json: is not JSON", DataError):
        raise error
    assert str(found.value).startswith("a.json: is not JSON: ")
    assert str(found.value).endswith(reason)
    assert found.value.__cause__ is error


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ModuleNotFoundError])
def test_the_end_of_the_process_and_missing_packages_pass(error):
    with pytest.raises(error), foreign_errors("a.json"):
        raise error


def test_our_own_errors_pass_or_become_those_of_a_whole():
    with pytest.raises(DataError, match=r"^line 3$"), foreign_errors("a", DataError):
        raise UsageError("line 3")
    with pytest.raises(UsageError, match=r"^a: line 3$"), foreign_errors("a", ours_too=True):
        raise DataError("line 3")


def test_a_message_has_no_control_letters_and_no_more_than_some_thousand():
    message = str(UsageError("\x1b[31m" + "x" * 10_000_000))
    assert message.startswith("\ufffd[31mxxx")
    assert len(message) < 5000


def test_values_are_cut_before_they_are_shown():
    assert short_repr("a" * 10_000_000) == "'" + "a" * 79 + "…"
    assert short_repr("ab") == "'ab'"
    assert short_repr(b"a" * 1000, 3) == "b'a…"
    itself: list[object] = []
    itself.append(itself)
    assert short_repr(itself) == "[[...]]"
    assert short_repr(10**10_000) == "<int>"  # Python refuses to write it out
