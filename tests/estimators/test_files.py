from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from rankwise.estimators import LinearRanker, NeuralRanker
from rankwise.estimators.base import Ranker

SMALL = {"hidden": (4,), "epochs": 2, "warm_start_epochs": 1, "random_state": 0}


@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic", None])
@pytest.mark.parametrize("ranker", [LinearRanker(random_state=0), NeuralRanker(**SMALL)])
def test_a_saved_model_is_the_model(ranker, calibration, rows, tmp_path: Path) -> None:
    X, y = rows
    words = np.where(y == 1, "yes", "no")
    made = type(ranker)(**{**ranker.get_params(), "calibration": calibration})
    made.fit(X, words)
    path = made.save(tmp_path / "deep" / "model")
    for cls in (Ranker, type(ranker)):
        again = cls.load(path)
        assert type(again) is type(made)
        assert again.get_params() == made.get_params()
        np.testing.assert_array_equal(again.decision_function(X), made.decision_function(X))
        np.testing.assert_array_equal(again.predict_proba(X), made.predict_proba(X))
        np.testing.assert_array_equal(again.predict(X), made.predict(X))
        assert again.score(X, words) == made.score(X, words)
    assert [p.name for p in path.parent.iterdir()] == ["model"]


def test_names_and_categories_come_along(tmp_path: Path) -> None:
    table = pl.DataFrame({"a": [0.0, 1, 2, 3] * 5, "c": ["x", "y", None, "y"] * 5})
    made = NeuralRanker(**SMALL).fit(table, [0, 1, 0, 1] * 5)
    again = Ranker.load(made.save(tmp_path / "model"))
    assert again.feature_names_in_.tolist() == ["a", "c"]
    assert again.categories_[1].tolist() == ["x", "y"]
    np.testing.assert_array_equal(again.predict_proba(table), made.predict_proba(table))
    with pytest.raises(ValueError, match="feature names"):
        again.predict(table.rename({"a": "b"}))
    assert again.history_ == made.history_


def test_a_generator_is_not_saved(rows, tmp_path: Path) -> None:
    made = LinearRanker(random_state=np.random.RandomState(0)).fit(*rows)
    assert Ranker.load(made.save(tmp_path / "model")).random_state is None


def test_saving_leaves_the_old_file_where_it_fails(rows, tmp_path: Path, monkeypatch) -> None:
    path = LinearRanker().fit(*rows).save(tmp_path / "model")
    before = path.read_bytes()
    broken = LinearRanker().fit(*rows)
    monkeypatch.setattr(broken, "_state", lambda: {"bad": np.array([object()])})
    with pytest.raises(ValueError, match=r"[Oo]bject"):
        broken.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def _damaged(path: Path, change: str) -> None:
    content = path.read_bytes()
    if change == "empty":
        path.write_bytes(b"")
    elif change == "foreign":
        path.write_text("a,b\n1,2\n")
    elif change == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif change == "flipped":
        with zipfile.ZipFile(path) as file:
            start = file.getinfo("model.coef.npy").header_offset + 60
        path.write_bytes(content[:start] + b"\xff\x00\xff\x00" + content[start + 4 :])
    else:
        with zipfile.ZipFile(path, "a") as file:
            header = json.loads(file.read("ranker.json"))
        _rewritten(path, header, change)


def _rewritten(path: Path, header: dict, change: str) -> None:
    if change == "other zip":
        header["format"] = "sandwich"
    elif change == "newer":
        header["version"] = 99
    elif change == "unknown class":
        header["class"] = "os.system"
    elif change == "unknown option":
        header["params"]["color"] = "red"
    with zipfile.ZipFile(path) as old:
        parts = {n: old.read(n) for n in old.namelist() if n != "ranker.json"}
    if change == "part missing":
        del parts["model.coef.npy"]
    with zipfile.ZipFile(path, "w") as new:
        new.writestr("ranker.json", json.dumps(header))
        for name, content in parts.items():
            new.writestr(name, content)


@pytest.mark.parametrize(
    "change",
    [
        "empty",
        "foreign",
        "cut",
        "flipped",
        "other zip",
        "newer",
        "unknown class",
        "unknown option",
        "part missing",
    ],
)
def test_a_damaged_or_foreign_file_is_named_in_one_line(change, rows, tmp_path: Path) -> None:
    path = LinearRanker().fit(*rows).save(tmp_path / "model")
    _damaged(path, change)
    with pytest.raises(ValueError, match=r"is not a model that Ranker\.save wrote") as caught:
        Ranker.load(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_folder_and_the_model_of_another_class(rows, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is a folder"):
        Ranker.load(tmp_path)
    path = LinearRanker().fit(*rows).save(tmp_path / "model")
    with pytest.raises(ValueError, match="holds a LinearRanker, not a NeuralRanker"):
        NeuralRanker.load(path)
    with pytest.raises(FileNotFoundError):
        Ranker.load(tmp_path / "nothing")


def test_a_network_of_other_sizes_is_refused(rows, tmp_path: Path) -> None:
    path = NeuralRanker(**SMALL).fit(*rows).save(tmp_path / "model")
    with zipfile.ZipFile(path) as file:
        header = json.loads(file.read("ranker.json"))
    header["params"]["hidden"] = [5]
    _rewritten(path, header, "")
    with pytest.raises(ValueError, match="is not a model") as caught:
        Ranker.load(path)
    assert "\n" not in str(caught.value)


def test_what_is_not_fitted_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not fitted"):
        LinearRanker().save(tmp_path / "model")
    assert not any(tmp_path.iterdir())
