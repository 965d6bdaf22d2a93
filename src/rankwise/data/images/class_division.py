"""A pool of labelled images divided 8:1:1, or as the data set itself says."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from rankwise.data.errors import DataError
from rankwise.data.images.division import absent
from rankwise.data.images.labelled import ClassSplits, LabelledImages
from rankwise.data.images.long_tail import as_binary, long_tail_rows, rare_positive_rows
from rankwise.data.images.pictures import tell_broken
from rankwise.data.images.pool import Pool

__all__ = ["divide_classes"]

Shares = tuple[float, float, float]


def divide_classes(
    pool: Pool,
    *,
    imbalance: float | None = None,
    tail_in: str = "all",
    positive: tuple[str, ...] = (),
    positive_share: float | None = None,
    shares: Shares = (0.8, 0.1, 0.1),
    seed: int = 0,
    skip_broken: bool = False,
) -> ClassSplits:
    """Train, validation and test, long-tailed and binary on request; see ``open_classes``."""
    broken = {**pool.broken, **absent(pool.paths)}
    if broken and not skip_broken:
        raise DataError(f"{pool.name}: {tell_broken(broken.values())}")
    whole = pool.images()
    if whole.multi_label and (imbalance is not None or positive):
        raise DataError(
            f"{pool.name}: has several labels by image; a long tail and positive classes are for "
            "sets with one class by image"
        )
    rows = torch.tensor([i for i in range(len(whole)) if i not in broken], dtype=torch.long)
    if imbalance is not None and tail_in == "all":
        rows = rows[long_tail_rows(whole.target[rows], len(whole.classes), imbalance, seed)]
    parts = _parts(pool, rows, shares, seed)
    if imbalance is not None and tail_in == "train":
        train = parts["train"]
        kept = long_tail_rows(whole.target[train], len(whole.classes), imbalance, seed)
        parts["train"] = train[kept]
    whole = _binary(pool, whole, positive)
    if positive_share is not None:
        if not whole.binary:
            raise DataError(f"{pool.name}: positive_share needs a positive class: name it")
        kept = rare_positive_rows(whole.target[parts["train"]], positive_share, seed)
        parts["train"] = parts["train"][kept]
    found = {part: whole.subset(rows, f"{pool.name} {part}") for part, rows in parts.items()}
    for part in ("train", "test"):
        if not len(found[part]):
            why = f"; {tell_broken(broken.values())}" if broken else ""
            raise DataError(f"{found[part].name}: there are no images{why}")
    return ClassSplits(**found, dropped=tuple(broken.values()))


def _binary(pool: Pool, whole: LabelledImages, positive: tuple[str, ...]) -> LabelledImages:
    if not positive:
        return whole
    try:
        target, names = as_binary(whole.target, whole.classes, positive)
    except DataError as error:
        raise DataError(f"{pool.name}: {error}") from None
    paths, pixels = pool.paths, pool.pixels
    return Pool(pool.name, target, names, paths=paths, pixels=pixels).images()


def _parts(pool: Pool, rows: Tensor, shares: Shares, seed: int) -> dict[str, Tensor]:
    """Rows of every part, in order."""
    keys = pool.images().images.labels[rows]  # a combination of labels is a kind of its own
    if pool.parts is None:
        return _drawn(rows, keys, shares, seed)
    given = {
        part: rows[torch.tensor([pool.parts[i] == part for i in rows.tolist()], dtype=torch.bool)]
        for part in ("train", "validation", "test")
    }
    if len(given["validation"]) or shares[1] == 0:
        return given
    share = shares[1] / (shares[0] + shares[1])
    labels = pool.images().images.labels[given["train"]]
    if pool.groups is not None:
        given["train"], given["validation"] = _by_group(given["train"], pool.groups, share, seed)
        return given
    cut = _drawn(given["train"], labels, (1 - share, share, 0.0), seed)
    return {**cut, "test": given["test"]}


def _drawn(rows: Tensor, keys: Tensor, shares: Shares, seed: int) -> dict[str, Tensor]:
    """Every class in the same shares; a class of two images or more has one to train on."""
    train: list[int] = []
    validation: list[int] = []
    test: list[int] = []
    for key in keys.unique().tolist():
        own = np.random.default_rng((seed, key, 1)).permutation(rows[keys == key].numpy())
        n_test = min(len(own) - 1, math.floor(len(own) * shares[2] + 0.5))
        n_validation = min(len(own) - 1 - n_test, math.floor(len(own) * shares[1] + 0.5))
        test += own[:n_test].tolist()
        validation += own[n_test : n_test + n_validation].tolist()
        train += own[n_test + n_validation :].tolist()
    return {
        name: torch.tensor(sorted(part), dtype=torch.long)
        for name, part in (("train", train), ("validation", validation), ("test", test))
    }


def _by_group(
    rows: Tensor, groups: Sequence[str], share: float, seed: int
) -> tuple[Tensor, Tensor]:
    names = sorted({groups[i] for i in rows.tolist()})
    drawn = np.random.default_rng(seed).permutation(len(names))[: round(share * len(names))]
    held = {names[i] for i in drawn}
    inside = torch.tensor([groups[i] in held for i in rows.tolist()], dtype=torch.bool)
    return rows[~inside], rows[inside]
