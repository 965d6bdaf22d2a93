from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from tools.bundle_omniglot import bundle

from rankwise.demo.characters import BUNDLE, SIDE, read_characters

ROOT = Path(__file__).parents[2]
REAL = ROOT.parent / "shared" / "data" / "images" / "omniglot_small"


def test_no_alphabet_is_trained_on_and_tested() -> None:
    splits = read_characters()
    train, test = (
        {name.split("/")[0] for name in part.classes} for part in (splits.train, splits.test)
    )
    assert train == {"Balinese", "Early_Aramaic", "Greek", "Japanese_(katakana)"}
    assert test == {"Korean", "Latin", "Sanskrit", "Tagalog"}
    assert (len(splits.train.classes), len(splits.test.classes)) == (117, 125)
    assert len(splits.validation) == 0
    for part in (splits.train, splits.test):
        assert part.counts.unique().tolist() == [20]  # drawers
        assert part.pixels is not None
        assert part.pixels.shape[1:] == (1, SIDE, SIDE)
        assert part.pixels.unique().tolist() == [0, 255]
        ink = (part.pixels == 0).flatten(1).float().mean(1)
        assert bool((ink > 0.01).all())
        assert float(ink.mean()) < 0.2  # black on white


def test_alphabets_characters_and_drawers_are_kept_in_a_small_file() -> None:
    with np.load(BUNDLE, allow_pickle=False) as held:
        assert set(held.files) == {"bits", "character", "drawer", "characters"}
        assert held["bits"].shape == (242 * 20, SIDE * SIDE // 8)
        assert held["drawer"].reshape(242, 20).tolist() == [list(range(1, 21))] * 242
        assert held["character"].tolist() == sorted(held["character"].tolist())
        assert held["characters"][0] == "Balinese/character01"
    assert BUNDLE.stat().st_size < 700_000


def test_its_license_is_beside_it() -> None:
    text = BUNDLE.with_name("OMNIGLOT_LICENSE.txt").read_text()
    assert "MIT License" in text
    assert "Copyright (c) 2015 Brenden Lake" in text
    assert BUNDLE.name in BUNDLE.with_name("README.md").read_text()


@pytest.mark.skipif(not REAL.exists(), reason="needs Omniglot's two small sets")
def test_the_bundle_can_be_made_again(tmp_path) -> None:
    made = bundle(REAL, tmp_path / "again.npz")
    with np.load(made) as again, np.load(BUNDLE) as held:
        assert set(again.files) == set(held.files)
        for name in held.files:
            assert np.array_equal(again[name], held[name]), name


def test_a_drawing_becomes_the_bits_of_its_ink(tmp_path) -> None:
    """A line across a drawing in the archive's layout is the same line in 32 rows."""
    from PIL import Image

    pixels = np.full((105, 105), 255, np.uint8)
    pixels[50:54] = 0  # of 105 rows: 15.2 to 16.5 of 32
    for alphabet in ("A", "B"):
        for drawer in (1, 2):
            path = tmp_path / "images_background_small1" / alphabet / "character01"
            path.mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels).convert("1").save(path / f"0001_0{drawer}.png")
    with np.load(bundle(tmp_path, tmp_path / "small.npz")) as held:
        bits = torch.from_numpy(np.unpackbits(held["bits"], axis=1)).reshape(4, SIDE, SIDE)
        assert held["characters"].tolist() == ["A/character01", "B/character01"]
        assert held["drawer"].tolist() == [1, 2, 1, 2]
    rows = bits.sum(2)
    assert rows.unique().tolist() == [0, SIDE]
    assert rows[0].nonzero().flatten().tolist() == [15, 16]
