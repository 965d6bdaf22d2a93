from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image
from tests.tasks.retrieval.cases import images, settings

from rankwise.data.images import BrokenImage
from rankwise.errors import UsageError
from rankwise.files import write_npz
from rankwise.tasks.retrieval.evaluate import compute_outputs
from rankwise.tasks.retrieval.index import (
    fingerprint,
    images_in,
    make_index,
    read_index,
    search,
    with_cells,
    write_index,
)
from rankwise.tasks.retrieval.task import make_network
from rankwise.vision.image_dataset import ImageDataset

VIEWS = settings().augmentations


def network():
    torch.manual_seed(0)
    return make_network(settings().network).eval()


def test_an_image_of_the_index_finds_itself_first_and_the_others_by_cosine(tmp_path):
    made, known = network(), images("test", 4)
    path = write_index(tmp_path / "index.npz", make_index(made, known, VIEWS))
    index = read_index(path)
    assert index.paths[6] == "test#6"
    assert index.labels[6] == "test1"
    found = search(made, index, known.load(6), VIEWS, top=5)
    assert found[0].path == "test#6"
    assert found[0].score == pytest.approx(1, abs=1e-5)
    embeddings = compute_outputs(made, ImageDataset(known, VIEWS))
    cosines = embeddings @ embeddings[6]
    order = cosines.argsort(descending=True)[:5].tolist()
    assert [one.path for one in found] == [f"test#{row}" for row in order]
    assert [one.score for one in found] == pytest.approx(cosines[order].tolist(), abs=1e-5)
    assert len(search(made, index, known.load(6), VIEWS, top=100)) == 16


def test_an_index_with_cells_is_searched_in_some_of_them(tmp_path):
    made, known = network(), images("test", 4)
    index, recall = with_cells(make_index(made, known, VIEWS))
    assert recall.mean >= 0.5
    again = read_index(write_index(tmp_path / "index.npz", index))
    assert again.cells.probes == index.cells.probes
    np.testing.assert_array_equal(again.cells.cell, index.cells.cell)
    one = replace(again, cells=replace(again.cells, probes=1))
    inside = set(np.flatnonzero(again.cells.cell == again.cells.cell[6]))
    found = search(made, one, known.load(6), VIEWS, top=16)
    assert found[0].path == "test#6"
    assert {int(hit.path.partition("#")[2]) for hit in found} == inside
    exact = search(made, one, known.load(6), VIEWS, top=16, exact=True)
    assert len(exact) == 16 > len(found)
    assert [hit for hit in exact if int(hit.path.partition("#")[2]) in inside] == [
        replace(hit, score=pytest.approx(hit.score, abs=1e-5)) for hit in found
    ]


def test_cells_that_do_not_fit_are_refused(tmp_path):
    index, _ = with_cells(make_index(network(), images("test", 4), VIEWS))
    wrong = replace(index, cells=replace(index.cells, cell=index.cells.cell + 1000))
    path = write_index(tmp_path / "index.npz", wrong)
    with pytest.raises(UsageError, match="cells must be those of the gallery of 16 × 6"):
        read_index(path)


def test_files_that_are_no_index(tmp_path):
    path = tmp_path / "index.npz"
    with pytest.raises(
        UsageError, match="there is no such file; write it with `rankwise retrieval index`"
    ):
        read_index(path)
    path.write_bytes(b"nonsense")
    with pytest.raises(UsageError, match="is not an index of this command"):
        read_index(path)
    write_npz(path, {"network": "a", "embeddings": np.zeros((2, 3))})
    with pytest.raises(UsageError, match=r"is not an index of this command.* it holds no 'paths'"):
        read_index(path)
    words = np.array(["a", "b"])
    of_two = {"paths": words, "labels": words, "network": "a"}
    write_npz(path, {"embeddings": np.zeros((3, 3)), **of_two})
    with pytest.raises(UsageError, match="its arrays do not fit"):
        read_index(path)
    objects = np.array([print, None, 3], dtype=object)  # nothing is unpickled
    np.savez(path, embeddings=np.zeros((3, 3)), paths=objects, labels=objects)
    with pytest.raises(UsageError, match="is not an index of this command"):
        read_index(path)


def test_the_fingerprint_is_that_of_the_weights_alone():
    made = network()
    known = fingerprint(made)
    assert fingerprint(network()) == known == fingerprint(made.train())
    with torch.no_grad():
        made.projection.bias[0] += 1
    assert fingerprint(made) != known
    other = network()
    other.mean += 0.1  # what is no weight of an optimizer changes the vectors, too
    assert fingerprint(other) != known
    assert fingerprint(network().bfloat16()) != known


def test_an_index_of_another_network_of_the_same_dimension(tmp_path):
    known = images("test", 4)
    index = read_index(write_index(tmp_path / "index.npz", make_index(network(), known, VIEWS)))
    torch.manual_seed(1)
    other = make_network(settings().network).eval()
    with pytest.raises(UsageError, match="made by another network than this one; write it again"):
        search(other, index, known.load(0), VIEWS)


def test_an_index_that_does_not_say_which_network_made_it(tmp_path):
    path, words = tmp_path / "index.npz", np.array(["a", "b"])
    write_npz(path, {"embeddings": np.zeros((2, 6)), "paths": words, "labels": words})
    with pytest.raises(
        UsageError, match="write it again with `rankwise retrieval index`"
    ) as caught:
        read_index(path)
    assert str(caught.value).startswith(str(path))


def test_all_images_with_the_folder_they_are_in(tmp_path):
    for name in ("b/2.PNG", "a/1.jpg", "top.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        Image.fromarray(np.zeros((4, 5, 3), np.uint8)).save(tmp_path / name)
    (tmp_path / "a/notes.txt").write_text("no image")
    found = images_in(tmp_path)
    assert [str(path.relative_to(tmp_path)) for path in found.paths] == [
        "a/1.jpg",
        "b/2.PNG",
        "top.png",
    ]
    assert [found.classes[label] for label in found.labels] == ["a", "b", tmp_path.name]
    (tmp_path / "a/0.jpg").write_bytes(b"nonsense")
    with pytest.raises(BrokenImage, match=r"0\.jpg: is not an image"):
        images_in(tmp_path)
    on_broken = []
    assert len(images_in(tmp_path, on_broken.append)) == 3
    assert [image.path.name for image in on_broken] == ["0.jpg"]


def test_folders_without_images(tmp_path):
    with pytest.raises(UsageError, match="nowhere: there is no such folder"):
        images_in(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="there are no images"):
        images_in(tmp_path)
