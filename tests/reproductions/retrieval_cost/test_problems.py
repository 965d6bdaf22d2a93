from __future__ import annotations

import torch
from tests.reproductions.retrieval.tiny import NETWORK, VIEWS
from tests.reproductions.retrieval_cost.small import small_plan
from tests.tasks.retrieval.cases import splits

from rankwise.data.images import ImageSet, RetrievalSplits
from reproductions.retrieval.features import features_of
from reproductions.retrieval_cost.problems import feature_pool, pool_of, pooled, rows_of


def test_the_pool_has_every_image_with_its_class():
    parts = splits()
    pool = pooled(parts)
    assert len(pool) == 24 + 12 + 16
    assert pool.classes == (*parts.train.classes, *parts.validation.classes, *parts.test.classes)
    assert torch.equal(pool.pixels[24:36], parts.validation.pixels)
    assert torch.equal(pool.labels[24:36], parts.validation.labels + 6)


def test_a_pool_of_files_has_their_paths(tmp_path):
    def part(name):
        return ImageSet(name, torch.tensor([0, 0]), (name,), paths=(tmp_path / name,) * 2)

    pool = pooled(RetrievalSplits(part("a"), part("b"), part("c")))
    assert [path.name for path in pool.paths] == ["a", "a", "b", "b", "c", "c"]


def test_seeds_divide_the_classes_anew_but_never_those_of_validation():
    images = pooled(splits())
    drawn = [rows_of(images, seed) for seed in range(6)]
    classes = [{n: set(images.labels[r].tolist()) for n, r in each.items()} for each in drawn]
    for parts in classes:
        assert parts["train"] | parts["validation"] | parts["test"] == set(range(13))
        assert sum(map(len, parts.values())) == 13  # none is in two of them
        assert [len(parts[n]) for n in ("train", "validation", "test")] == [8, 2, 3]
        assert parts["validation"] == classes[0]["validation"]
    assert len({frozenset(parts["test"]) for parts in classes}) > 3


def test_features_are_those_of_the_images_standardized_by_the_own_training_part():
    problem = small_plan().problems[0]
    pool = pool_of(problem)
    found = feature_pool(problem, pool, NETWORK, VIEWS, None).parts(3)
    own = features_of(pool.splits(3), NETWORK, VIEWS)  # computed from the images of the seed
    for name in ("train", "validation", "test"):
        one, other = getattr(found, name), getattr(own, name)
        assert torch.equal(one.labels, other.labels)
        torch.testing.assert_close(one.features, other.features, rtol=1e-2, atol=1e-2)
