from __future__ import annotations

import pytest

from rankwise.data import DataError


def test_a_message_of_several_lines_becomes_one() -> None:
    assert str(DataError("a.csv: cannot\n    be read:\tno\n")) == "a.csv: cannot be read: no"


def test_it_is_a_value_error_to_whoever_calls() -> None:
    with pytest.raises(ValueError, match=r"^wrong$"):
        raise DataError("wrong")
