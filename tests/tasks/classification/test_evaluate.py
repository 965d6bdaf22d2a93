from __future__ import annotations

import math

import pytest
import torch
from sklearn.metrics import average_precision_score, roc_auc_score
from tests.tasks.classification.cases import TWO, settings, splits

from rankwise.metrics import partial_auroc
from rankwise.tasks.classification.evaluate import (
    as_json,
    evaluate,
    evaluate_scores,
    sentence,
    tail_section,
)
from rankwise.tasks.classification.task import new_classifier
from rankwise.vision.image_dataset import ImageDataset

NAMES = ("a", "b", "c")


def test_every_number_is_scikit_learns():
    rng = torch.Generator().manual_seed(0)
    logits = torch.randn(200, 3, generator=rng, dtype=torch.float64)
    target = torch.randint(0, 3, (200,), generator=rng)
    found = evaluate_scores(logits, target, NAMES, max_fpr=0.1)
    for c in range(3):
        own = (target == c).numpy()
        assert found.ap[c] == pytest.approx(average_precision_score(own, logits[:, c]))
        assert found.auroc[c] == pytest.approx(roc_auc_score(own, logits[:, c]))
        part = partial_auroc(logits[:, c], own, max_fpr=0.1)
        assert found.partial_auroc[c] == pytest.approx(float(part))
    assert found.map == pytest.approx(sum(found.ap) / 3)
    assert found.top_1 == pytest.approx((logits.argmax(1) == target).double().mean().item())


def test_two_classes_have_one_logit():
    target = torch.tensor([1, 0, 1, 0, 0])
    logits = torch.tensor([[2.0], [1.0], [-1.0], [-2.0], [-3.0]])
    found = evaluate_scores(logits, target, ("rest", "cat"))
    assert found.classes == ("cat",)
    assert found.ap == (pytest.approx((1 + 2 / 3) / 2),)
    assert found.positives == (2,)
    assert found.top_1 == pytest.approx(3 / 5)


def test_several_labels_and_one_that_nobody_has():
    target = torch.tensor([[1, 0, 1], [0, 0, 1], [1, 0, 1]])
    found = evaluate_scores(torch.eye(3), target, NAMES)
    assert [math.isnan(value) for value in found.ap] == [False, True, True]
    assert found.map == found.ap[0]
    assert math.isnan(found.top_1)
    shown = as_json(found)
    assert shown["top_1"] is None
    assert shown["classes"]["b"] == {
        "positives": 0,
        "ap": None,
        "auroc": None,
        "partial_auroc": None,
    }


def test_nothing_to_rank_at_all():
    found = evaluate_scores(torch.ones(2, 1), torch.zeros(2, dtype=torch.long), ("rest", "cat"))
    assert math.isnan(found.map)


def test_a_network_is_judged_by_its_own_logits():
    parts, chosen = splits(TWO), settings()
    with torch.random.fork_rng(devices=[]):
        network = new_classifier(
            parts.train, ImageDataset(parts.train.images, chosen.augmentations), chosen
        )
    pictures = parts.test.images.pixels[:, :, :, :]
    resize = ImageDataset(parts.test.images, chosen.augmentations)
    block = next(resize.center_crops(range(len(parts.test)), len(parts.test)))
    logits = network.eval()(block)
    assert logits.shape == (len(pictures), 1)
    wanted = average_precision_score(parts.test.target, logits[:, 0].detach())
    assert evaluate(network, parts.test, chosen).map == pytest.approx(wanted)


def test_images_among_the_first_of_their_class_are_counted():
    # Of class a (two images) the first two are 0 and 2; b's one image is second, c's are tied.
    target = torch.tensor([0, 0, 1, 2, 2])
    logits = torch.tensor(
        [[3.0, 2.0, 0.0], [1.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    )
    found = evaluate_scores(logits, target, NAMES)
    assert found.first == (True, False, False, False, False)
    best = evaluate_scores(torch.nn.functional.one_hot(target, 3).float(), target, NAMES)
    assert sentence(found, best) == (
        "5 of 5 images are among the first of their own class, 4 more than "
        "before training; the difference may be chance."
    )


def test_one_class_is_named():
    target = torch.tensor([1, 0, 1, 0, 0])
    good, bad = torch.tensor([[2.0], [0.0], [1.0], [-1.0], [-2.0]]), torch.zeros(5, 1)
    before, after = (evaluate_scores(each, target, ("rest", "cat")) for each in (bad, good))
    assert sentence(before, after).startswith(
        "2 of the 2 images of cat are among the first 2 of the ranking, 2 more than"
    )


def test_the_rarest_classes_come_first_with_both_values():
    target = torch.tensor([0, 0, 1, 1])
    before = evaluate_scores(torch.zeros(4, 3), target, NAMES)
    after = evaluate_scores(torch.nn.functional.one_hot(target, 3).float(), target, NAMES)
    (table,) = tail_section({"untrained": before, "ap": after}, {"a": 9, "b": 2, "c": 0}).tables
    assert [row[:2] for row in table.rows] == [("b", 2), ("a", 9)]  # c has nothing to rank
    assert [row[2][1] for row in table.rows] == ["0.500", "0.500"]
    assert [row[3][1] for row in table.rows] == ["1.000", "1.000"]
