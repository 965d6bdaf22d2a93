"""Tests of the files of a run."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save
from tests.tasks.recommendation.cases import settings, two_kinds

from rankwise.data.interactions import FeatureTable
from rankwise.files import write_json
from rankwise.seals import METADATA, sealed
from rankwise.tasks.recommendation import (
    Evaluation,
    Settings,
    UsageError,
    load_run,
    prepared,
    results_table,
)
from rankwise.tasks.recommendation.network import Recommender
from rankwise.tasks.recommendation.results import (
    CONFIG,
    hits_of,
    sentence,
    users_section,
    write_model,
)
from rankwise.tasks.recommendation.training import Trained, new_model

DATA = two_kinds()
FILES = ["config.json", "ids.json", "model.safetensors", "pairs.safetensors"]
TOWERS = dict(model="two_tower", hidden=(5, 3))


def features(rows):
    values = np.random.default_rng(rows).normal(size=(rows, 2)).astype(np.float32)
    return FeatureTable(("a", "b"), values, 0, ())


def written(out, data=DATA, tables=(None, None), **options):
    chosen = settings(**options)
    problem = prepared(data, chosen, *tables)
    with torch.random.fork_rng(devices=[]):
        network = new_model(problem, chosen)
        torch.nn.init.normal_(network.offsets.weight)
    write_json(out / CONFIG, {"data": "kinds.csv", "settings": chosen.model_dump()})
    write_model(out, problem, network)
    return chosen, problem, network


@pytest.mark.parametrize(
    ("options", "tables"),
    [
        ({"threshold": 3.0}, (None, None)),
        (TOWERS, (None, None)),
        (TOWERS, (features(20), None)),
        (TOWERS, (features(20), features(16))),
    ],
    ids=["factors", "towers", "features of users", "features of both"],
)
def test_everything_that_is_learned_comes_back(tmp_path, options, tables):
    chosen, problem, network = written(tmp_path, tables=tables, **options)
    found, again, loaded = load_run(tmp_path)
    assert found == chosen
    assert again.fingerprint() == problem.fingerprint()
    assert (again.users, again.items) == (DATA.users, DATA.items)
    assert again.positive.dtype == np.bool_
    assert again.user.dtype == again.item.dtype == np.int64
    codes = torch.arange(16)
    for ours, theirs in zip(loaded.vectors(), network.vectors(), strict=True):
        assert torch.equal(ours(codes), theirs(codes))
    assert not loaded.training
    assert sorted(path.name for path in tmp_path.iterdir()) == FILES


def test_low_ratings_are_kept_as_seen_but_not_as_positives(tmp_path):
    written(tmp_path, threshold=3.0)
    _, problem, _ = load_run(tmp_path)
    low = int((DATA.value < 3).sum())
    assert low > 0
    assert int((~problem.positive).sum()) == low
    every = (0, 1, 2)
    assert len(problem.pairs(every, positive=False).items) == len(DATA.value)
    assert len(problem.pairs(every).items) == len(DATA.value) - low


def test_the_config_says_what_it_was_trained_on(tmp_path):
    written(tmp_path, hidden=(7,))
    known = json.loads((tmp_path / "config.json").read_text())
    assert known["data"] == "kinds.csv"
    assert known["settings"]["hidden"] == [7]
    assert known["settings"]["metric"] == "ndcg@3"


def test_ids_of_any_letters(tmp_path):
    users = ("ü 1", 'a"b', "c\\d", "", *DATA.users[4:])
    written(tmp_path, replace(DATA, users=users))
    assert load_run(tmp_path)[1].users == users


def test_reading_uses_nobodys_random_numbers(tmp_path):
    written(tmp_path)
    torch.manual_seed(5)
    state = torch.get_rng_state()
    load_run(tmp_path)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("name", FILES)
def test_the_file_that_is_missing_is_named(tmp_path, name):
    written(tmp_path)
    (tmp_path / name).unlink()
    why = "is not a run" if name == "config.json" else "is not finished: train it on with --resume"
    with pytest.raises(UsageError) as caught:
        load_run(tmp_path)
    assert str(caught.value) == f"{tmp_path}: {why} ({name} is missing)"


def _changed(out, name, change):
    path = out / name
    if name.endswith("json"):
        known = json.loads(path.read_text())
        change(known)
        path.write_text(json.dumps(known))
    else:
        known = load_file(path)
        change(known)
        path.write_bytes(sealed(save(known, METADATA)))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("config.json", lambda k: k.pop("settings"), "'settings'"),
        (
            "config.json",
            lambda k: k["settings"].update(dimensions=4),
            "dimensions: there is no such setting",
        ),
        ("config.json", lambda k: k["settings"].update(dimension=5), "size mismatch for users"),
        ("ids.json", lambda k: k.pop("items"), "'items'"),
        ("ids.json", lambda k: k["users"].pop(), "has the users 0 to 19, ids.json 19 names"),
        ("ids.json", lambda k: k["users"].append("one more"), "size mismatch for users"),
        ("model.safetensors", lambda k: k.pop("offsets.weight"), "Missing key.*offsets"),
        ("pairs.safetensors", lambda k: k.pop("part"), "'part'"),
        ("pairs.safetensors", lambda k: k["item"].add_(99), "has the items .* ids.json"),
        ("config.json", lambda k: k["settings"].update(dimension=0), "dimension must be"),
    ],
)
def test_files_that_do_not_go_together_are_one_line(tmp_path, name, change, message):
    written(tmp_path)
    _changed(tmp_path, name, change)
    with pytest.raises(UsageError, match=f"is not a run that can be read: .*{message}") as caught:
        load_run(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path}: ")
    assert "\n" not in str(caught.value)


def test_a_file_that_was_cut_off_is_no_run(tmp_path):
    written(tmp_path)
    for name in FILES:
        whole = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(whole[: len(whole) // 2])
        with pytest.raises(UsageError, match="is not a run that can be read"):
            load_run(tmp_path)
        (tmp_path / name).write_bytes(whole)
    load_run(tmp_path)


@pytest.mark.parametrize("name", ["config.json", "ids.json"])
def test_text_that_is_not_utf8_is_no_run(tmp_path, name):
    written(tmp_path)
    (tmp_path / name).write_bytes(b"\xff\xfe{}")
    with pytest.raises(UsageError, match="is not a run that can be read"):
        load_run(tmp_path)


NETWORK = Recommender(2, 2, Settings(dimension=1))


def trained(values, warm):
    rows = [
        {"epoch": n + 1, "warm_start": float(n < warm), "loss": 1.0, "ndcg@10": value}
        for n, value in enumerate(values)
    ]
    chosen = Settings(objective="ap")
    return Trained(NETWORK, rows, 1 + values.index(max(values)), settings=chosen)


def test_a_row_for_each_metric():
    one = Evaluation({"mrr": torch.tensor([1.0, 0.5]).double()}, 0, 0, 1)
    two = Evaluation({"mrr": torch.tensor([1.0, torch.nan]).double()}, 1, 0, 1)
    table = results_table({"popularity": one, "model": two})
    assert table.header == ("metric", "popularity", "model")
    assert list(map(str, table.rows[0])) == ["mrr", "0.7500 ± 0.4900", "1.0000"]
    assert "Means over 2 users" in table.caption


def test_it_says_where_the_objective_was_no_help():
    helped = trained([0.1, 0.2, 0.3], warm=2).course()
    assert "epoch 3 has the best validation ndcg@10, 0.3000, and is" in helped
    assert "The first 2 epochs were a warm start with softmax." in helped
    assert "did not" not in helped
    ended = trained([0.1, 0.3, 0.2], warm=2).course()
    assert ended.endswith("ap did not improve it on validation.")
    assert "warm" not in trained([0.1, 0.3], warm=0).course()


def test_the_sentence_counts_users_with_a_hit_and_shares_of_ties():
    hits = [[1.0, 0.5, 0.5, 0.0, float("nan")], [1.0, 1.0, 1.0, 1.0, float("nan")]]
    found = {
        name: Evaluation({"hit@5": torch.tensor(values).double()}, 0, 0, 5)
        for name, values in zip(("popularity", "model"), hits, strict=True)
    }
    assert sentence("hit@5", found) == (
        "4 of 4 users get an item that they went on to like among their first 5, 2 more than with "
        "the most popular items; the difference may be chance."
    )
    assert (hits_of("ndcg@5"), hits_of("mrr")) == ("hit@5", "hit@10")


def test_example_users_have_what_they_liked_and_new_recommendations(tmp_path):
    _, problem, network = written(tmp_path)
    (table,) = users_section(problem, network.scores()).tables
    assert table.header == ("user", "liked", "recommended, best first", "went on to like")
    assert len(table.rows) == 6
    train, test = problem.pairs((0, 1)), problem.pairs((2,))

    def names(cell):
        return [re.search(r">(.*?)(?: ✓)?<", each)[1] for each in cell if "more" not in each]

    for user, liked, recommended, wanted in table.rows:
        row = problem.users.index(user)
        had, later = (
            {problem.items[i] for i in pairs.items[pairs.start[row] : pairs.start[row + 1]]}
            for pairs in (train, test)
        )
        assert set(names(liked)) <= had
        assert not set(names(recommended)) & had
        assert set(names(wanted)) <= later
        marked = {
            name for name, each in zip(names(recommended), recommended, strict=True) if "✓" in each
        }
        assert marked == set(names(recommended)) & later
