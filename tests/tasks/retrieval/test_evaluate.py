from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from tests.tasks.retrieval.cases import evaluate, evaluate_splits, images, settings, splits

from rankwise.data.images import ImageSet
from rankwise.errors import UsageError
from rankwise.retrieval import evaluate as of_embeddings
from rankwise.tasks.retrieval.evaluate import as_json
from rankwise.tasks.retrieval.task import make_network
from rankwise.vision.augmentations import center_crop
from rankwise.vision.image_dataset import ImageDataset, compute_outputs

CHOSEN = settings()


def network():
    torch.manual_seed(0)
    return make_network(CHOSEN.network)


def test_embeddings_do_not_depend_on_the_blocks_nor_the_mode(monkeypatch):
    found, pictures = network(), ImageDataset(images("test", 4), CHOSEN.augmentations)
    whole = compute_outputs(found, pictures)
    assert found.training
    view = center_crop([pictures[i] for i in range(16)], CHOSEN.augmentations)
    torch.testing.assert_close(whole, found.eval()(view))
    monkeypatch.setattr("rankwise.vision.image_dataset._BLOCK", 3)
    torch.testing.assert_close(compute_outputs(found, pictures), whole)
    assert not found.training
    assert not whole.requires_grad


def test_a_set_is_evaluated_leave_one_out_and_queries_against_their_gallery():
    found, gallery, queries = network(), images("test", 4), images("test", 4, 2, seed=9)
    e = compute_outputs(found, ImageDataset(gallery, CHOSEN.augmentations))
    alone = evaluate(found, gallery, CHOSEN)
    assert alone.map == of_embeddings(e, gallery.labels).map
    assert alone.hit_at.keys() == {1, 2}
    assert evaluate(found, gallery, CHOSEN, queries=gallery).map == alone.map
    q = compute_outputs(found, ImageDataset(queries, CHOSEN.augmentations))
    expected = of_embeddings(e, gallery.labels, q, queries.labels)
    assert evaluate(found, gallery, CHOSEN, queries=queries).map == expected.map


def test_every_gallery_has_a_result():
    test = images("test", 4)
    queries = images("test", 4, 1, seed=9)
    parts = splits(test=test, galleries={"small": (queries, test), "large": (test, test)})
    found = evaluate_splits(network(), parts, CHOSEN)
    assert {name: result.queries for name, result in found.items()} == {"small": 4, "large": 16}
    assert evaluate_splits(network(), parts, CHOSEN, "validation").keys() == {"validation"}


def test_a_part_without_images():
    empty = ImageSet("validation", torch.zeros(0, dtype=torch.long), (), paths=())
    with pytest.raises(UsageError, match=r"there are no validation images in the split"):
        evaluate_splits(network(), replace(splits(), validation=empty), CHOSEN, "validation")


def test_the_numbers_go_into_json():
    result = evaluate(network(), images("test", 4), CHOSEN)
    found = json.loads(json.dumps(as_json(result)))
    assert found["map"] == result.map
    assert found["hit_at"] == {"1": result.hit_at[1], "2": result.hit_at[2]}
    assert found["queries"] == 16


def test_one_query_has_no_standard_error():
    gallery = images("test", 4)
    result = evaluate(network(), gallery, CHOSEN, queries=gallery.subset([3]))
    assert result.queries == 1
    assert as_json(result)["standard_error"] is None
