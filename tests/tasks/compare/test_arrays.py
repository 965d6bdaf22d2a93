from __future__ import annotations

import numpy as np
import pytest

from rankwise.tasks.compare.arrays import read_arrays, write_arrays


def test_arrays_come_back_by_name(tmp_path):
    arrays = {"a": np.arange(3), "b": np.array([[0.5, np.inf]])}
    found = read_arrays(write_arrays(tmp_path / "new" / "a.npz", arrays))
    assert list(found) == ["a", "b"]
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype


def test_objects_are_never_unpickled(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.array([{}]))
    with pytest.raises(ValueError, match="allow_pickle"):
        read_arrays(tmp_path / "a.npz")
