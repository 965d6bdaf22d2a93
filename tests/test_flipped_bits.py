"""A flipped bit in a file that rankwise wrote is refused in one line, also in a copy of it."""

from __future__ import annotations

import shutil

import numpy as np
import polars as pl
import pytest
import torch
from tests.tasks.recommendation.cases import settings as recommender_settings
from tests.tasks.recommendation.cases import two_kinds
from tests.tasks.retrieval.cases import images
from tests.tasks.retrieval.cases import settings as retrieval_settings
from tests.training.toy import Toy

from rankwise.commands.console import write_frame
from rankwise.data.letor import _cache, read_letor, read_run, write_run
from rankwise.distributed import load_sharded, save_sharded
from rankwise.estimators import LinearRanker, Ranker
from rankwise.estimators._files import Checkpoint
from rankwise.files import read_npz, write_json, write_npz
from rankwise.objectives import SOPRC
from rankwise.tasks.compare import evaluate_scores
from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.fit import Fitted, FoldScores, load_candidate, save_candidate
from rankwise.tasks.compare.model import Member, Model, load_model
from rankwise.tasks.compare.run_files import require_run
from rankwise.tasks.recommendation import load_run, prepared
from rankwise.tasks.recommendation.results import write_model as write_recommender
from rankwise.tasks.recommendation.training import new_model
from rankwise.tasks.retrieval.index import make_index, read_index, with_cells, write_index
from rankwise.tasks.retrieval.task import make_network
from rankwise.training import RunFolder, command_of
from rankwise.training.checkpoint import load_checkpoint, save_checkpoint
from rankwise.vision.files import load_state, read_split, require_finished, write_model

ONE = Candidate("linear", "ap")


def npz(folder):
    path = write_npz(folder / "a.npz", {"scores": np.arange(40.0), "names": np.array(["a", "b"])})
    return path, lambda: read_npz(path)


def ranker():
    X = np.random.default_rng(0).normal(size=(60, 3))
    return LinearRanker(random_state=0).fit(X, (X[:, 0] > 0.5).astype(int)), X


def estimator(folder):
    path = ranker()[0].save(folder / "model.ranker")
    return path, lambda: Ranker.load(path)


def estimator_checkpoint(folder):
    made = Checkpoint(folder / "state.pt", {"data": "abc"})
    made.save({"weights": torch.arange(9.0), "step": 3})
    return made.path, made.load


def checkpoint(folder):
    task = Toy()
    with RunFolder(folder / "run", "toy").opened() as run:
        save_checkpoint(run, task, {"network": task.network.state_dict()})
    return run.path / "checkpoint.pt", lambda: load_checkpoint(run, task)


def run_json(folder):
    with RunFolder(folder / "run", "classify").opened() as run:
        run.write("checkpoint.pt", b"state")
        run.finish()
    return run.path / "run.json", lambda: command_of(run.path)


def image_model(folder):
    torch.manual_seed(0)
    write_model(folder, torch.nn.Linear(3, 2))
    return folder / "model.safetensors", lambda: load_state(folder, lambda s: torch.nn.Linear(3, 2))


def of_image_run(name):
    def made(folder):
        with RunFolder(folder / "run", "classify").opened() as run:
            run.write("config.yaml", b"training: {steps: 3}\n")
            run.write("split.csv", b"path,label,part\na.png,cat,train\n")
            write_json(run.path / "classes.json", {"classes": ["cat"]})
            write_model(run.path, torch.nn.Linear(3, 2))
            run.finish()

        def load():
            require_finished(run.path, "classes.json")
            assert read_split(run.path)

        return run.path / name, load

    return made


def of_recommender(name, *, copied=False):
    def made(folder):
        chosen, out = recommender_settings(), folder / "run"
        problem = prepared(two_kinds(), chosen)
        with torch.random.fork_rng(devices=[]), RunFolder(out, "recommend").opened() as run:
            write_json(out / "config.json", {"data": "a", "settings": chosen.model_dump()})
            write_recommender(out, problem, new_model(problem, chosen))
            run.finish()
        if copied:
            (out / "run.json").unlink()
        return out / name, lambda: load_run(out)

    return made


def index(folder):
    torch.manual_seed(0)
    chosen = retrieval_settings()
    found = make_index(make_network(chosen.network), images("test", 4), chosen.augmentations)
    path = write_index(folder / "index.npz", with_cells(found)[0])
    return path, lambda: read_index(path)


def table_model():
    made, X = ranker()
    about = {"target": "y", "positive": "1", "metric": "ap", "candidate": "linear"}
    from rankwise.data.reading import Reading, Rule

    reading = Reading(tuple(Rule(f"f{n}", "numeric") for n in range(3)))
    return Model((Member.of(made, X),), reading, about), X


def of_model(name):
    def made(folder):
        path = table_model()[0].save(folder / "model")
        return path / name, lambda: load_model(path)

    return made


def of_candidate(name):
    def made(folder):
        model, X = table_model()
        scores = model.scores(X)
        folds = (FoldScores(scores, scores, 0.5),)
        save_candidate(
            folder / "linear",
            Fitted(ONE, {}, 1, 1.0, [], folds, scores, scores, scores, model=model),
        )

        def load():
            if load_candidate(folder / "linear", ONE) is None:  # it is then fitted again
                raise ValueError("refused")

        return folder / "linear" / name, load

    return made


def of_comparison(name):
    def made(folder):
        with RunFolder(folder / "run", "compare").opened() as run:
            run.write("config.json", b'{"sha256": "0"}')
            write_json(run.path / "results.json", {"candidates": []})
            for each in ("parts.npz", "predictions.npz"):
                write_npz(run.path / each, {"test": np.arange(9)})
            run.finish()
        return run.path / name, lambda: require_run(run.path)

    return made


def of_memory(name):
    def made(folder):
        save_sharded(SOPRC(prior=0.1), folder)
        return folder / name, lambda: load_sharded(SOPRC(prior=0.1), folder)

    return made


def letor_cache(folder):
    (folder / "a.txt").write_text("2 qid:1 1:3 2:3.5\n0 qid:1 1:0 2:1\n")
    read_letor(folder / "a.txt", cache=folder / "cache")
    (path,) = (folder / "cache").iterdir()
    wanted = {"version": _cache._VERSION, **_cache._fingerprint(folder / "a.txt")}

    def load():
        if _cache._load(path, wanted) is None:  # the text is then parsed again
            raise ValueError("refused")

    return path, load


def table(name):
    def made(folder):
        y = np.arange(60) % 2
        write_frame(pl.DataFrame({"y": y, "score": y + np.sin(np.arange(60))}), folder / name)
        return folder / name, lambda: evaluate_scores(folder / name, target="y", score="score")

    return made


def trec(folder):
    write_run(folder / "run.txt", {"q1": {"d1": 0.25, "d2": 2.0}})
    return folder / "run.txt", lambda: read_run(folder / "run.txt")


KINDS = {
    "npz": npz,
    "estimator": estimator,
    "estimator checkpoint": estimator_checkpoint,
    "checkpoint.pt": checkpoint,
    "run.json": run_json,
    "model.safetensors": image_model,
    **{f"image run {n}": of_image_run(n) for n in ("config.yaml", "split.csv", "classes.json")},
    **{
        f"recommender {name}": of_recommender(name)
        for name in ("config.json", "ids.json", "model.safetensors", "pairs.safetensors")
    },
    "recommender copied model": of_recommender("model.safetensors", copied=True),
    "recommender copied pairs": of_recommender("pairs.safetensors", copied=True),
    "retrieval index": index,
    **{f"model {name}": of_model(name) for name in ("model.json", "0.ranker", "ranks.npz")},
    **{
        f"candidate {name}": of_candidate(name)
        for name in ("result.json", "scores.npz", "model/model.json", "model/0.ranker")
    },
    **{
        f"comparison {name}": of_comparison(name)
        for name in ("config.json", "results.json", "predictions.npz", "parts.npz")
    },
    **{
        f"memory {name}": of_memory(name)
        for name in ("memory.index.json", "memory-0-00000-of-00001.safetensors")
    },
    "LETOR cache": letor_cache,
    "predictions csv": table("scores.csv"),
    "predictions parquet": table("scores.parquet"),
    "predictions TREC": trec,
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_bit_is_refused_in_one_line(kind, tmp_path):
    path, load = KINDS[kind](tmp_path)
    load()
    whole = path.read_bytes()
    places = {0, 1, len(whole) - 1, *np.linspace(0, len(whole) - 1, 14).astype(int).tolist()}
    for place in sorted(places):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        path.write_bytes(changed)
        with pytest.raises(ValueError) as refused:  # noqa: PT011  (UsageError, and of estimators)
            load()
        assert "\n" not in str(refused.value), (place, str(refused.value))
    path.write_bytes(whole)
    load()


@pytest.mark.parametrize("kind", ["npz", "estimator", "model.safetensors", "predictions parquet"])
def test_every_single_bit_counts(kind, tmp_path):
    from rankwise.seals import SealError, require_seal

    whole = KINDS[kind](tmp_path)[0].read_bytes()
    require_seal(whole)
    for place in range(0, len(whole), max(1, len(whole) // 400)):
        for bit in range(8):
            changed = bytearray(whole)
            changed[place] ^= 1 << bit
            with pytest.raises(SealError):
                require_seal(bytes(changed))


@pytest.mark.parametrize("cut", [0, 1, 40, -1, -80])
@pytest.mark.parametrize("kind", ["npz", "estimator", "model.safetensors", "model model.json"])
def test_a_file_that_was_cut_is_refused(kind, cut, tmp_path):
    path, load = KINDS[kind](tmp_path)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(ValueError, match=r"SHA-256|empty"):
        load()


def test_a_moved_file_is_still_verified(tmp_path):
    path, _ = estimator(tmp_path)
    copy = shutil.copy(path, tmp_path / "copy.ranker")
    Ranker.load(copy)


def test_other_programs_read_sealed_files(tmp_path):
    import zipfile

    from safetensors.torch import load_file

    path, _ = npz(tmp_path)
    with np.load(path) as arrays:
        assert arrays["scores"].tolist() == list(range(40))
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
    path, _ = estimator_checkpoint(tmp_path)
    assert torch.load(path, weights_only=True)["state"]["step"] == 3
    image_model(tmp_path)
    assert load_file(tmp_path / "model.safetensors")["weight"].shape == (2, 3)
    path, _ = table("scores.parquet")(tmp_path)
    assert pl.read_parquet(path).height == 60


def test_a_table_that_was_changed_on_purpose_is_read_without_its_digest(tmp_path):
    path, load = table("scores.csv")(tmp_path)
    path.write_text(
        path.read_text().replace("score", "points").replace("points", "score") + "1,2\n"
    )
    with pytest.raises(ValueError, match=r"remove scores\.csv\.sha256 if the change is yours"):
        load()
    (tmp_path / "scores.csv.sha256").unlink()
    load()
