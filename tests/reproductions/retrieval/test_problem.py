from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
from PIL import Image

from rankwise.data import DataError
from reproductions.frame import Setting
from reproductions.retrieval.plan import MAIN, Plan
from reproductions.retrieval.problem import find_weights, read_problems


@pytest.fixture
def folder(tmp_path):
    """Both data sets in their published layouts, with few pictures, and a file of weights."""
    rng = np.random.default_rng(0)
    small = tmp_path / "images" / "omniglot_small"
    small.mkdir(parents=True)
    with zipfile.ZipFile(small / "images_background_small1.zip", "w") as archive:
        for alphabet in "ABCD":
            for character in range(4):
                for drawing in range(3):
                    buffer = io.BytesIO()
                    ink = rng.integers(0, 2, (105, 105)).astype(bool)
                    Image.fromarray(ink).save(buffer, "png")
                    name = f"{alphabet}/character{character:02}/{drawing}.png"
                    archive.writestr(f"images_background_small1/{name}", buffer.getvalue())
    labels = np.repeat(np.arange(10), 3)
    pixels = rng.integers(0, 256, (30, 32, 32, 3), dtype=np.uint8)
    np.savez(
        tmp_path / "images" / "cifar100_subset.npz",
        x_train=pixels,
        y_train=labels,
        x_test=pixels[:0],
        y_test=labels[:0],
        classes=np.array([f"class {number}" for number in range(10)]),
    )
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "mobilenet_v2-0.pth").write_bytes(b"")
    return tmp_path


def test_both_sets_with_no_class_in_two_parts(folder):
    omniglot, cifar = read_problems(folder)
    assert (omniglot.name, cifar.name) == ("Omniglot", "CIFAR-100")
    for problem in (omniglot, cifar):
        parts = [set(p.classes) for p in vars(problem.splits).values() if hasattr(p, "classes")]
        assert len(parts) == 3
        assert len(set.union(*parts)) == sum(map(len, parts))
        assert len(parts[1]) >= 2
    assert not omniglot.augmentations.flip  # a turned-round letter is another one


def test_plans(folder):
    full, quick = (Plan.of(Setting(data=folder, quick=quick)) for quick in (False, True))
    assert full.scratch.seeds == (3, 1)
    assert quick.scratch.seeds == (1, 0)
    assert full.pretrained.seeds == quick.pretrained.seeds == (3, 3)
    assert set(MAIN) == set(quick.from_scratch) < set(full.from_scratch)
    assert quick.pretrained.steps < full.pretrained.steps
    assert Plan.of(Setting(data=folder, draws=5)).pretrained.seeds == (5, 5)


def test_what_is_missing_is_named(folder, tmp_path):
    with pytest.raises(DataError, match="retrieval needs images"):
        Plan.of(Setting())
    with pytest.raises(DataError, match="holds none of omniglot_small, omniglot"):
        read_problems(tmp_path / "elsewhere")
    (folder / "weights" / "mobilenet_v2-0.pth").unlink()
    with pytest.raises(DataError, match="holds no mobilenet_v2"):
        find_weights(folder)
