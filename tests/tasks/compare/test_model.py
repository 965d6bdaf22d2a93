from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.tasks.compare.stubs import problem, stubbed

from rankwise.data import DataError
from rankwise.files import write_npz
from rankwise.seals import read_sealed_json, sealed_json
from rankwise.serving.calibration import apply_ranks
from rankwise.tasks.compare.candidates import Candidate
from rankwise.tasks.compare.fit import fit_members, scored
from rankwise.tasks.compare.model import Model, load_model, rank_knots
from rankwise.tasks.compare.training_rows import TrainingRows

__all__ = [
    "stubbed",
]

pytestmark = pytest.mark.usefixtures("stubbed")


def model(here, seeds, candidate=Candidate("linear", "ap")):  # noqa: B008
    rows = here.plan.parts.development
    members = fit_members(candidate, {"alpha": 1.0}, here, rows, range(seeds))
    return Model(members, here.table.reading, {"metric": "ap"})


@pytest.mark.parametrize("seeds", [1, 2])
def test_a_model_survives_its_folder(tmp_path, seeds):
    here = problem(tmp_path)
    made, new = model(here, seeds), here.table.of(here.plan.parts.test)
    made.save(tmp_path / "run" / "model")
    for path in (tmp_path / "run", tmp_path / "run" / "model"):
        again = load_model(path)
        np.testing.assert_array_equal(again.scores(new), made.scores(new))
        np.testing.assert_array_equal(again.probabilities(new), made.probabilities(new))
        assert (again.reading, again.about) == (made.reading, made.about)
    assert [each.name for each in (tmp_path / "run").iterdir()] == ["model"]


def test_training_rows_survive_the_folder_and_must_be_whole(tmp_path):
    here = problem(tmp_path)
    rows = TrainingRows.of(here.table, here.plan)
    folder = replace(model(here, 1), training_rows=rows).save(tmp_path / "model")
    again = load_model(folder).training_rows
    assert again is not None
    np.testing.assert_array_equal(again.hashes, rows.hashes)
    assert again.hashes.dtype == np.uint64
    assert (again.held_out, again.repeated) == (rows.held_out, rows.repeated)
    assert (folder / "training_rows.npz").stat().st_size < 10 * len(rows.hashes) + 1_000
    write_npz(folder / "training_rows.npz", {"hashes": rows.hashes[1:]})
    with pytest.raises(DataError, match=r"training_rows\.npz was changed or damaged"):
        load_model(folder)
    (folder / "training_rows.npz").unlink()
    assert load_model(folder).training_rows is None  # given away without them


def test_one_member_keeps_its_scores_and_several_are_the_mean_of_their_ranks(tmp_path):
    here = problem(tmp_path)
    rows = here.plan.parts.test
    new = here.table.of(rows)
    single = model(here, 1)
    np.testing.assert_array_equal(single.scores(new), single.members[0].scores(new))
    pair = model(here, 2)
    ranks = [member.ranked(member.scores(new)) for member in pair.members]
    np.testing.assert_allclose(pair.scores(new), (ranks[0] + ranks[1]) / 2)
    scores, ranked = scored(pair.members, here, rows)
    np.testing.assert_array_equal(scores, pair.scores(new))
    np.testing.assert_array_equal(ranked, scores)
    probabilities = [member.probabilities(new) for member in pair.members]
    np.testing.assert_allclose(pair.probabilities(new), np.mean(probabilities, axis=0))


def test_a_file_of_an_estimator_is_a_model(tmp_path):
    here = problem(tmp_path, drop=("user", "day", "word", "b"))
    (member,) = model(here, 1).members
    member.ranker.save(tmp_path / "one.ranker")
    again = load_model(tmp_path / "one.ranker")
    new = here.table.of(here.plan.parts.test)
    assert again.reading.names == ("a", "c")
    np.testing.assert_array_equal(again.scores(new), member.scores(new))


def test_what_is_no_model(tmp_path):
    folder = model(problem(tmp_path), 1).save(tmp_path / "model")
    with pytest.raises(DataError, match="there is no such model"):
        load_model(tmp_path / "none")
    (tmp_path / "file").write_text("hello")
    (tmp_path / "empty").mkdir()
    header = read_sealed_json((folder / "model.json").read_bytes())
    for name in ("file", "empty", "table.csv"):
        with pytest.raises(DataError, match=r"model that|no model") as error:
            load_model(tmp_path / name)
        assert "\n" not in str(error.value)
    for change in ({"format": "other"}, {"version": 99}, {"version": 1}, {"members": 2}):
        (folder / "model.json").write_bytes(sealed_json({**header, **change}))
        with pytest.raises(DataError, match="holds no model that rankwise wrote"):
            load_model(folder)
    (folder / "model.json").write_bytes(sealed_json(header))
    for name in ("ranks.npz", "0.ranker"):
        kept = (folder / name).read_bytes()
        (folder / name).write_bytes(kept[: len(kept) // 2])
        with pytest.raises(DataError, match="holds no model that rankwise wrote"):
            load_model(folder)
        (folder / name).write_bytes(kept)
    assert load_model(folder)


def log_odds(share):
    return np.log(share / (1 - share))


def test_the_scores_of_the_reference_get_their_own_ranks():
    knots = rank_knots(np.array([5.0, 1.0, 3.0, 3.0]))
    found = apply_ranks(knots, np.array([1.0, 3.0, 5.0, 4.0]))
    # 1 is in the middle of the first quarter, both 3 of the second and third, 5 of the last.
    low, middle, high = log_odds(1 / 8), log_odds(1 / 2), log_odds(7 / 8)
    np.testing.assert_allclose(found, [low, middle, high, (middle + high) / 2], atol=1e-12)


@example([0.0, 1.1125369292536007e-308], [0, 1])  # scores that all but tie
@settings(max_examples=30)
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50),
    st.lists(st.integers(-2_000_000, 2_000_000), min_size=2, max_size=50, unique=True),
)
def test_the_order_of_scores_is_kept_beyond_the_reference_too(reference, scores):
    scores = np.sort(np.asarray(scores, dtype=float))
    found = apply_ranks(rank_knots(np.asarray(reference)), scores)
    assert np.isfinite(found).all()
    assert (np.diff(found) >= 0).all()


def test_beyond_the_reference_nothing_is_tied():
    found = apply_ranks(rank_knots(np.arange(10.0)), np.array([-9.0, -8.0, 20.0, 21.0]))
    assert (np.diff(found) > 0).all()
    assert len(np.unique(apply_ranks(rank_knots(np.array([2.0])), np.array([1.0, 2, 3])))) == 3


def test_a_large_reference_keeps_its_first_ranks():
    scores = np.random.default_rng(0).normal(size=200_000)
    knots = rank_knots(scores)
    assert knots.shape[1] <= 4096
    top = np.sort(scores)[-20:]
    share = (np.arange(199_980, 200_000) + 0.5) / 200_000
    np.testing.assert_allclose(apply_ranks(knots, top), log_odds(share), rtol=1e-6)
    middle = apply_ranks(knots, np.quantile(scores, [0.3, 0.5, 0.7]))
    np.testing.assert_allclose(middle, log_odds(np.array([0.3, 0.5, 0.7])), atol=0.01)


def test_scale_and_shift_of_a_model_do_not_matter():
    rng = np.random.default_rng(1)
    reference, new = rng.normal(size=100), rng.normal(size=30)
    assert apply_ranks(rank_knots(7 * reference + 3), 7 * new + 3) == pytest.approx(
        apply_ranks(rank_knots(reference), new)
    )
