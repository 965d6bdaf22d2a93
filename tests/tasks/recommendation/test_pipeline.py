from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from tests.tasks.recommendation.cases import settings, two_kinds

from rankwise.data import DataError
from rankwise.data.interactions import FeatureTable
from rankwise.tasks.recommendation import (
    UsageError,
    evaluate_run,
    load_run,
    prepared,
    recommend,
    run,
)

DATA = two_kinds()
METRICS = ["ndcg@3", "pap@2", "mrr"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    out = tmp_path_factory.mktemp("run") / "small"
    chosen = settings(objective="pap@2", model="two_tower", hidden=(4,))
    table = FeatureTable(("even",), (np.arange(16)[:, None] % 2 == 0).astype(np.float32), 0, ())
    problem = prepared(DATA, chosen, None, table)
    return out, run(problem, chosen, out, metrics=METRICS, source="kinds")


def test_what_is_in_the_folder(finished):
    out, done = finished
    assert {p.name for p in out.iterdir()} == {
        "config.json", "model.safetensors", "ids.json", "pairs.safetensors", "results.json",
        "index.html", "metrics.csv", "checkpoint.pt", "run.json",
    }  # fmt: skip
    found = json.loads((out / "results.json").read_text())
    assert set(found["test"]) == {"popularity", "model"}
    assert set(found["test"]["model"]) == {*METRICS, "hit@3"}  # of which the verdict is made
    assert (
        found["test"]["model"]["ndcg@3"]["value"] == done.results["model"].means()["ndcg@3"].value
    )
    assert found["counts"]["users"] == 20
    page = (out / "index.html").read_text()
    assert "users without test positives" in page
    assert "warm start with softmax" in page
    assert done.verdict.sentence in page
    assert done.verdict.sentence.startswith(
        f"{done.results['model'].values['hit@3'].nansum():.0f} of 20 users get an item"
    )


def test_the_model_is_read_back_the_same(finished):
    out, done = finished
    settings_read, problem, network = load_run(out)
    assert settings_read.hidden == (4,)
    assert problem.users == DATA.users
    again = evaluate_run(out, metrics=METRICS)
    for name in METRICS:
        assert again["model"].means()[name] == done.results["model"].means()[name]
    assert not network.training


def test_recommendations_are_new_to_the_user_and_in_order(finished):
    out, _ = finished
    found = recommend(out, k=3)
    assert found.columns == ["user", "rank", "item", "score", "source"]
    assert set(found["source"]) == {"model"}
    assert found.height == 20 * 3
    had = {(DATA.users[u], DATA.items[i]) for u, i in zip(DATA.user, DATA.item, strict=True)}
    assert not had & set(zip(found["user"], found["item"], strict=True))
    for user in ("u0", "u7"):
        own = found.filter(found["user"] == user)
        assert own["rank"].to_list() == [1, 2, 3]
        assert own["score"].to_list() == sorted(own["score"], reverse=True)
    assert recommend(out, k=100, users=["u3"]).height == 16 - 6
    assert recommend(out, k=100, users=["u3"], seen=True).height == 16


def test_unknown_users_get_the_items_with_the_most_positives(finished):
    out, _ = finished
    found = recommend(out, k=4, users=["u99", "u1", "u99", "u98"])
    assert found["user"].to_list() == [user for user in ("u99", "u1", "u98") for _ in range(4)]
    assert found["source"].to_list() == ["popular"] * 4 + ["model"] * 4 + ["popular"] * 4
    counts = Counter(DATA.items[item] for item in DATA.item)
    own = found.filter(user="u99")
    assert own["rank"].to_list() == [1, 2, 3, 4]
    assert own["score"].to_list() == sorted(counts.values(), reverse=True)[:4]
    assert [counts[item] for item in own["item"]] == own["score"].to_list()
    assert own["item"].to_list() == found.filter(user="u98")["item"].to_list()
    assert found.filter(user="u1").equals(recommend(out, k=4, users=["u1"]))
    assert recommend(out, k=100, users=["u99"]).height == 16
    assert recommend(out, k=2, users=["u99"])["source"].to_list() == ["popular"] * 2


def test_what_cannot_be_recommended(finished):
    with pytest.raises(UsageError, match="users must name at least one user, got none"):
        recommend(finished[0], users=[])
    with pytest.raises(UsageError, match="k must be a whole number >= 1, got 0"):
        recommend(finished[0], k=0)


def test_later_interactions(finished):
    out, _ = finished
    first = recommend(out, k=1)
    item = [DATA.items.index(name) for name in first["item"]]
    later = replace(DATA, user=np.arange(20), item=np.array(item), value=np.ones(20), time=None)
    found = evaluate_run(out, metrics=["hit@1"], data=later)
    assert found["model"].means()["hit@1"].value == 1
    with pytest.raises(DataError, match="no positive that the run had not seen"):
        evaluate_run(out, data=DATA)
    with pytest.raises(DataError, match="unknown item id: 'new'"):
        evaluate_run(out, data=replace(later, items=(*DATA.items[:-1], "new")))


def test_a_folder_with_a_run_is_not_overwritten(finished):
    out, _ = finished
    chosen = settings()
    with pytest.raises(UsageError, match="already holds a run; pass --resume"):
        run(prepared(DATA, chosen), chosen, out)


def test_folders_that_hold_no_finished_run(tmp_path, finished):
    with pytest.raises(UsageError, match=r"is not a run \(config.json is missing\)"):
        load_run(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UsageError, match="is not finished: train it on with --resume"):
        load_run(tmp_path)
    for name in ("config.json", "ids.json", "pairs.safetensors"):
        (tmp_path / name).write_bytes((finished[0] / name).read_bytes())
    (tmp_path / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(UsageError, match="is not a run that can be read"):
        load_run(tmp_path)
