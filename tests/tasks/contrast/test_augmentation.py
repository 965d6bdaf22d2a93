from __future__ import annotations

import sys

import pytest
import torch

from rankwise.tasks.contrast.augmentation import make_views

PIXELS = torch.randint(0, 256, (6, 3, 8, 8), dtype=torch.uint8, generator=torch.manual_seed(0))


def test_two_different_views_in_range():
    torch.manual_seed(0)
    views = make_views(8, 8)(PIXELS)
    assert views.shape == (12, 3, 8, 8)
    assert views.dtype == torch.float32
    assert 0 <= views.min() < views.max() <= 1
    first, second = views.chunk(2)
    assert not torch.allclose(first, second, atol=0.05)


def test_all_randomness_is_of_the_generator_whose_state_is_saved():
    views = make_views(8, 8)
    torch.manual_seed(3)
    views(PIXELS)
    state = torch.get_rng_state()
    expected = views(PIXELS)
    torch.set_rng_state(state)
    assert torch.equal(make_views(8, 8)(PIXELS), expected)


def test_without_kornia_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "kornia", None)
    line = r'rankwise.tasks.contrast needs kornia: pip install "rankwise\[vision\]"'
    with pytest.raises(ImportError, match=line):
        make_views(8, 8)
