from __future__ import annotations

import shutil

import pytest
import torch
from tests.tasks.retrieval.cases import settings, states_equal
from tests.vision.test_backbones_pretrained import TINY
from tests.vision.test_mobilenet import random_state

from rankwise.data.images._listing import Recorded
from rankwise.errors import UsageError
from rankwise.tasks.retrieval.network import make_network
from rankwise.tasks.retrieval.pipeline import load_run
from rankwise.tasks.retrieval.settings import Network
from rankwise.vision.backbones import TransformersBackbone
from rankwise.vision.files import (
    DIVISION,
    read_division,
    write_config,
    write_division,
    write_model,
)


def written(out, chosen: Network):
    made = settings().replace(network=chosen)
    network = make_network(chosen)
    write_config(out, made)
    write_model(out, network, network.backbone)
    return made, network


def test_settings_and_network_come_back(tmp_path):
    made, network = written(tmp_path, settings().network)
    found, again = load_run(tmp_path)
    assert found == made
    assert not again.training
    assert states_equal(again.state_dict(), network.state_dict())


@pytest.mark.parametrize("kind", TINY)
def test_a_pretrained_network_comes_back_without_what_it_started_from(tmp_path, kind):
    start, out = tmp_path / "start", tmp_path / "run"
    TransformersBackbone(kind, options=TINY[kind]).model.save_pretrained(start)
    _, network = written(out, Network(backbone=kind, weights=str(start), dimension=3))
    shutil.rmtree(start)
    _, again = load_run(out)
    assert states_equal(again.state_dict(), network.state_dict())
    pictures = torch.rand(2, 3, 32, 32)
    assert torch.equal(again(pictures), network.eval()(pictures))


def test_mobilenet_comes_back_without_its_file(tmp_path):
    start = tmp_path / "weights.pth"
    torch.save(random_state(), start)
    chosen = Network(backbone="mobilenet_v2", weights=str(start), dimension=3)
    _, network = written(tmp_path / "run", chosen)
    start.unlink()
    assert states_equal(load_run(tmp_path / "run")[1].state_dict(), network.state_dict())


def test_folders_that_hold_no_run(tmp_path):
    with pytest.raises(UsageError, match=r"is not the folder of a finished run: there is no con"):
        load_run(tmp_path)
    written(tmp_path, settings().network)
    write_config(tmp_path, settings("network.dimension=7"))
    with pytest.raises(UsageError, match=r"model.safetensors: does not go with config\.yaml"):
        load_run(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"nonsense")
    with pytest.raises(UsageError, match=r"model.safetensors: does not go with config\.yaml"):
        load_run(tmp_path)


def test_a_division_comes_back_and_what_is_none_is_refused(tmp_path):
    assert read_division(tmp_path) is None
    record = (Recorded("a/1.png", "a", "train"), Recorded('b, "c"/2.png', 'b, "c"', "test"))
    write_division(tmp_path, record)
    assert read_division(tmp_path) == record
    for text in ("", "path,label,part\n", "path,part\na,train\n", "path,label,part\na,b,dev\n"):
        (tmp_path / DIVISION).write_text(text)
        with pytest.raises(UsageError, match=r"division\.csv: is not the division of a run"):
            read_division(tmp_path)
    write_division(tmp_path / "published", ())
    assert not (tmp_path / "published").exists()
