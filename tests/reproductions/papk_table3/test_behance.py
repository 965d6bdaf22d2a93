from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from rankwise.data import DataError
from reproductions.frame import Setting
from reproductions.papk_table3.behance import (
    FEATURES,
    LIKES,
    is_behance,
    read_behance,
    read_image_features,
)
from reproductions.papk_table3.measure import Plan, read_instances
from reproductions.reduction import REDUCTIONS

WIDTH = 6


@pytest.fixture
def folder(tmp_path):
    """60 images, three users: with 30, 25 and 4 likes; one like of an image without features."""
    rng = np.random.default_rng(0)
    images = rng.normal(size=(60, WIDTH)).astype("<f4")
    with (tmp_path / FEATURES).open("wb") as file:
        for number, image in enumerate(images):
            file.write(f"{10_000_000 + number}".encode())
            file.write(image.tobytes())
    lines = ["1 99999999 1300000000"]
    for user, count in ((1, 30), (2, 25), (3, 4)):
        chosen = rng.permutation(60)[:count]
        lines += [f"{user} {10_000_000 + image} 1300000000" for image in chosen]
    (tmp_path / LIKES).write_text("\n".join(lines) + "\n")
    return tmp_path, images


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    """A third way to bring images down: the first numbers of each."""
    monkeypatch.setitem(
        REDUCTIONS, "first", lambda images, dimensions, seed: images[:, :dimensions]
    )


def test_image_features_are_records_of_an_id_and_numbers(folder):
    path, images = folder
    ids, found = read_image_features(path / FEATURES, WIDTH)
    assert ids[:2] == ["10000000", "10000001"]
    np.testing.assert_array_equal(found, images)


def test_a_user_is_a_mean_of_likes_and_the_other_likes_are_positives(folder):
    path, images = folder
    assert is_behance(path)
    options = dict(
        width=WIDTH, dimensions=2, profile=10, least=5, negatives=(2,), reduction="first"
    )
    found = read_behance(path, 0, **options)
    assert found.X.shape[1] == 6
    assert np.bincount(found.users).tolist() == [20 + 30, 15 + 30]  # 30 images user 1 likes not
    assert np.bincount(found.users, found.y).tolist() == [20, 15]
    liked = {}
    for line in (path / LIKES).read_text().splitlines():
        user, image, _ = line.split()
        liked.setdefault(int(user), set()).add(int(image) - 10_000_000)
    for place, user in enumerate((1, 2)):
        own = found.users == place
        images_of = {tuple(np.float64(images[i, :2])): i for i in range(60)}
        rows = [images_of[tuple(row)] for row in found.X[own, 2:4]]
        assert len(set(rows)) == len(rows)
        for item, positive in zip(rows, found.y[own], strict=True):
            assert (item in liked[user]) == positive
        rest = sorted(liked[user] - set(rows) - {99999999 - 10_000_000})
        assert len(rest) == 10
        np.testing.assert_allclose(found.X[own][0, :2], images[rest, :2].mean(0), rtol=1e-5)
    np.testing.assert_array_equal(found.X, read_behance(path, 0, **options).X)


def test_users_with_very_many_likes_are_left_out(folder):
    path, _ = folder
    options = dict(width=WIDTH, dimensions=2, profile=15, least=5, reduction="first")
    assert len(np.unique(read_behance(path, 0, **options, most=25).users)) == 1
    found = read_behance(path, 0, **options, negatives=(1, 2))
    for user in range(2):
        own = found.y[found.users == user]
        assert (~own).sum() in (own.sum(), 2 * own.sum())


def test_principal_components_by_default(folder):
    path, _ = folder
    found = read_behance(path, width=WIDTH, dimensions=3, profile=10, least=5)
    assert found.X.shape[1] == 9


def test_umap_with_the_settings_of_the_authors(folder, monkeypatch):
    path, images = folder
    seen = {}

    class UMAP:
        def __init__(self, **options):
            seen.update(options)

        def fit_transform(self, x):
            np.testing.assert_array_equal(x, images)
            return x[:, :3].astype(np.float32)

    monkeypatch.setitem(sys.modules, "umap", SimpleNamespace(UMAP=UMAP))
    found = read_behance(path, 5, width=WIDTH, dimensions=3, profile=10, least=5, reduction="umap")
    assert seen == {"n_neighbors": 10, "min_dist": 0.5, "n_components": 3, "metric": "euclidean",
                    "random_state": 5}  # fmt: skip
    assert found.X.shape[1] == 9
    assert found.X.dtype == np.float64
    assert "6 features brought to 3 by UMAP" in found.story


def test_without_umap_learn_only_umap_is_refused_and_before_anything_is_read(folder, monkeypatch):
    path, _ = folder
    monkeypatch.setitem(sys.modules, "umap", None)
    found = read_behance(path, width=WIDTH, dimensions=3, profile=10, least=5)
    assert "6 features brought to 3 by PCA" in found.story
    (path / FEATURES).unlink()
    with pytest.raises(DataError, match="umap-learn, which is not installed: pip install umap-le"):
        read_behance(path, width=WIDTH, reduction="umap")
    with pytest.raises(ValueError, match=r"reduction must be one of pca, umap, .*got 'tsne'"):
        read_behance(path, width=WIDTH, reduction="tsne")


def test_the_reduction_is_an_option_of_the_study(folder):
    path, _ = folder
    with pytest.raises(DataError, match="--interactions is for Citation, got 5 and Behance in"):
        read_instances(path, 0, interactions=5)
    with pytest.raises(ValueError, match="reduction must be one of pca, umap"):
        Plan.of(Setting(data=path, options={"reduction": "tsne"}))
    assert {"reduction", "interactions"} <= Plan.option_types().keys()


def test_what_is_wrong_is_named(folder):
    path, _ = folder
    with pytest.raises(DataError, match="records of 28 bytes"):
        read_image_features(path / FEATURES, WIDTH - 1)
    with pytest.raises(DataError, match="no user has 100 to 170 likes"):
        read_behance(path, width=WIDTH, profile=95, least=5)
    with (path / LIKES).open("a") as file:
        file.write("7 10000000\n")
    with pytest.raises(DataError, match="line 61: must be a user, an image and a time"):
        read_behance(path, width=WIDTH)
    (path / FEATURES).unlink()
    with pytest.raises(DataError, match="no such file"):
        read_behance(path, width=WIDTH)
