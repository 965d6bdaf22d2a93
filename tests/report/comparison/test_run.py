from __future__ import annotations

import gc
import json
import math
import warnings
import zipfile
from fractions import Fraction

import numpy as np
import pytest
from tests.report.comparison.sample import BASELINE, RECOMMENDED, seal, write_run

from rankwise.report.comparison.run import Estimate, number
from rankwise.report.comparison.run_files import missing, read_object, read_predictions, read_run


@pytest.fixture
def saved(tmp_path):
    """Writes arrays as the predictions of a run."""

    def save(**arrays):
        path = tmp_path / "predictions.npz"
        np.savez(path, **arrays)
        seal(path)
        return path

    return save


@pytest.mark.parametrize(
    ("value", "wanted"), [(3, 3.0), (-0.25, -0.25), (0, 0.0), (np.float64(0.5), 0.5)]
)
def test_a_number_is_a_float(value, wanted):
    found = number(value)
    assert type(found) is float
    assert found == wanted


@pytest.mark.parametrize(
    "value", [None, True, False, "1", [1.0], {}, math.inf, -math.inf, math.nan, Fraction(1, 2)]
)
def test_what_is_no_number_is_nan(value):
    assert math.isnan(number(value))


def test_what_is_missing_is_named_with_what_would_be_right(tmp_path):
    error = missing(tmp_path / "results.json", "candidates", "a list of objects")
    assert isinstance(error, ValueError)
    assert str(error) == (
        f"{tmp_path / 'results.json'} must hold 'candidates', a list of objects; "
        "write it with `rankwise compare`"
    )


def test_an_object_is_read_as_utf_8(tmp_path):
    path = tmp_path / "config.json"
    path.write_bytes('{"target": "größe", "seeds": 5}'.encode())
    assert read_object(path) == {"target": "größe", "seeds": 5}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not JSON of a run: Expecting value"),
        (
            b'{"a": 1' + b"0" * 400 + b"}",
            "is not JSON of a run: it has an integer of 401 digits",
        ),
        (
            b'{"a": -9223372036854775808}',
            "is not JSON of a run: it has an integer of 20 digits",
        ),
        (b'{"a": 1', "is not JSON of a run: Expecting ',' delimiter"),
        (b'{"a": "\xff"}', "is not JSON of a run: 'utf-8' codec"),
        (b'{"a": ' * 100_000, "is not JSON of a run: maximum recursion depth"),
        (b"[1]", "must hold a JSON object, got list"),
        (b"null", "must hold a JSON object, got NoneType"),
        (b'"a"', "must hold a JSON object, got str"),
    ],
)
def test_a_file_that_holds_no_object_is_told_in_one_line(tmp_path, content, message):
    path = tmp_path / "config.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"config\.json {message}") as broken:
        read_object(path)
    assert "\n" not in str(broken.value)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ValueError, match=r"config\.json is missing: not a whole run"):
        read_object(tmp_path / "config.json")
    with pytest.raises(ValueError, match=r"predictions\.npz is missing: not a whole run"):
        read_predictions(tmp_path / "predictions.npz", 1)


def test_a_folder_in_the_place_of_a_file_is_told_in_one_line(tmp_path):
    with pytest.raises(ValueError, match="cannot be read: ") as broken:
        read_object(tmp_path)
    assert str(broken.value).startswith(f"{tmp_path} ")
    with pytest.raises(ValueError, match="is not a file of plain arrays: "):
        read_predictions(tmp_path, 1)


def test_arrays_are_floats_by_the_number_of_their_candidate(saved):
    path = saved(
        target=[True, False, True],
        score_0=np.array([3, 2, 1], dtype=np.int8),
        score_2=np.array([0.5, -math.inf, math.inf], dtype=np.float32),
        probability_2=[0.25, 0.5, 0.75],
        row=[10, 20, 30],
    )
    found = read_predictions(path, 3)
    assert found.target.tolist() == [1, 0, 1]
    assert found.weight.tolist() == [1, 1, 1]
    assert found.group is None
    assert {n: each.tolist() for n, each in found.scores.items()} == {
        0: [3, 2, 1],
        2: [0.5, -math.inf, math.inf],
    }
    assert {n: each.tolist() for n, each in found.probabilities.items()} == {2: [0.25, 0.5, 0.75]}
    every = [found.target, found.weight, *found.scores.values(), *found.probabilities.values()]
    assert {each.dtype for each in every} == {np.dtype(np.float64)}


def test_scores_of_candidates_that_the_results_do_not_have_are_left(saved):
    path = saved(target=[0, 1], score_0=[1.0, 2.0], score_1=[2.0, 1.0])
    assert list(read_predictions(path, 1).scores) == [0]


def test_weights_are_kept_and_may_be_zero_for_some_rows(saved):
    path = saved(target=[0, 1, 1], weight=[2, 0, 0.5])
    assert read_predictions(path, 0).weight.tolist() == [2, 0, 0.5]


@pytest.mark.parametrize("weight", [[0, 0, 1, 1], [1, 1, 0, 0]])
def test_a_class_without_weight_is_refused(saved, weight):
    path = saved(target=[0, 0, 1, 1], weight=weight)
    with pytest.raises(ValueError, match="weight must be ≥ 0, and above 0 somewhere in each class"):
        read_predictions(path, 0)


@pytest.mark.parametrize("lists", [{}, {"group": [0, 0, 1, 1]}])
@pytest.mark.parametrize(("wrong", "shown"), [(-1, "-1.0"), (math.inf, "inf"), (-math.inf, "-inf")])
def test_a_weight_that_cannot_be_one_is_refused(saved, lists, wrong, shown):
    path = saved(target=[0, 0, 1, 1], weight=[1, 1, wrong, 1], **lists)
    with pytest.raises(ValueError, match=rf"npz: weight must be finite and ≥ 0, got {shown}$"):
        read_predictions(path, 0)


@pytest.mark.parametrize("lists", [{}, {"group": [0, 0, 1, 1]}])
@pytest.mark.parametrize("wrong", [-0.125, 1.0000001, math.inf])
def test_a_probability_outside_0_to_1_is_refused(saved, lists, wrong):
    path = saved(target=[0, 0, 1, 1], probability_1=[0, wrong, 0.5, 1], **lists)
    wanted = rf"npz: probability_1 must be from 0 to 1, got {wrong}$"
    with pytest.raises(ValueError, match=wanted):
        read_predictions(path, 2)


@pytest.mark.parametrize("group", [["b", "b", "a", "c"], [70, 70, -5, 300]])
def test_groups_of_any_kind_are_numbered_from_zero(saved, group):
    found = read_predictions(saved(target=[0, 0, 0, 0], group=group), 0)
    assert found.group is not None
    assert found.group.dtype == np.int64
    assert found.group.tolist() == [1, 1, 0, 2]


def test_with_groups_the_target_may_be_graded_or_of_one_class(saved):
    assert read_predictions(saved(target=[3, 0, 1.5], group=[0, 0, 1]), 0).target.max() == 3
    assert read_predictions(saved(target=[1, 1], group=[0, 1]), 0).target.tolist() == [1, 1]


@pytest.mark.parametrize("target", [[0, 0, 0], [1, 1, 1], [0, 1, 2], [-1, 1, 1], [0.5, 0, 1]])
def test_without_groups_the_target_must_have_zeros_and_ones(saved, target):
    with pytest.raises(ValueError, match="target must hold zeros and ones, both of them"):
        read_predictions(saved(target=target), 0)


@pytest.mark.parametrize("arrays", [{"score_0": [1.0]}, {"target": []}, {"target": [[0, 1]]}])
def test_without_a_column_of_truth_nothing_can_be_read(saved, arrays):
    wanted = "must hold 'target', one value for each row of the test part; write it with"
    with pytest.raises(ValueError, match=wanted):
        read_predictions(saved(**arrays), 1)


@pytest.mark.parametrize("name", ["score_0", "probability_0", "weight"])
@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([0.5, 0.5], r"must have the 3 rows of target, got \(2,\)"),
        ([[0.5], [0.5], [0.5]], r"must have the 3 rows of target, got \(3, 1\)"),
        (["a", "b", "c"], "must hold numbers, got <U1"),
        ([1j, 0j, 0j], "must hold numbers, got complex128"),
        ([0.5, math.nan, 0.5], "must not hold NaN"),
    ],
)
def test_a_column_that_does_not_fit_is_named(saved, name, column, message):
    path = saved(**{"target": [0, 1, 1], name: column})
    with pytest.raises(ValueError, match=rf"predictions\.npz: {name} {message}"):
        read_predictions(path, 1)


def test_groups_must_be_as_many_as_rows(saved):
    with pytest.raises(ValueError, match=r"group must have the 3 rows of target, got \(2,\)"):
        read_predictions(saved(target=[0, 1, 1], group=[0, 1]), 0)


class Opened:
    """An object that would be called if a file were unpickled."""

    seen = False

    def __reduce__(self):
        return setattr, (Opened, "seen", True)


def test_pickled_objects_are_refused_and_never_opened(saved):
    path = saved(target=[0, 1], score_0=np.array([Opened(), Opened()]))
    with pytest.raises(ValueError, match="is not a file of plain arrays: Object arrays") as refused:
        read_predictions(path, 1)
    assert "\n" not in str(refused.value)
    assert not Opened.seen


@pytest.mark.parametrize("content", [b"", b"not an archive", b"\x93NUMPY\x01"])
def test_a_file_that_is_no_archive_is_told_in_one_line(tmp_path, content):
    path = tmp_path / "predictions.npz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is not a file of plain arrays: ") as broken:
        read_predictions(path, 1)
    assert "\n" not in str(broken.value)


def test_one_array_in_the_place_of_an_archive_is_told(tmp_path):
    path = tmp_path / "predictions.npz"
    with path.open("wb") as file:
        np.save(file, np.arange(3))
    with pytest.raises(ValueError, match="is not a file of plain arrays: it has no SHA-256"):
        read_predictions(path, 1)


def test_what_is_no_array_is_refused_by_its_name(saved):
    path = saved(target=[0, 1])
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = b""
        archive.writestr("score_0", b"1, 2")
    seal(path)
    with pytest.raises(ValueError, match="plain arrays: 'score_0' is not an array"):
        read_predictions(path, 1)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_a_damaged_byte_is_told_in_one_line_wherever_it_is(tmp_path, save):
    path = tmp_path / "predictions.npz"
    save(path, target=[0, 1], score_0=[0.5, 0.25])
    seal(path)
    read_predictions(path, 1)
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        with pytest.raises(ValueError, match="SHA-256") as refused:
            read_predictions(path, 1)
        assert "\n" not in str(refused.value)


def test_a_file_that_was_cut_off_is_closed(saved):
    path = saved(target=[0, 1], score_0=[0.5, 0.25])
    path.write_bytes(path.read_bytes()[:-30])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with pytest.raises(ValueError, match="is not a file of plain arrays: "):
            read_predictions(path, 1)
        gc.collect()
    assert [str(each.message) for each in told] == []


def test_what_is_read(tmp_path, held, found):
    run = read_run(write_run(tmp_path, held, found))
    assert run.recommended.name == "boosted, ap"
    assert run.baseline is run.candidates[BASELINE]
    assert run.baseline.difference is None
    assert run.recommended.difference.p == found["candidates"][RECOMMENDED]["difference"]["p"]
    assert len(run.drawn) == 6
    assert not run.grouped
    assert (run.predictions.weight == 1).all()
    assert np.array_equal(run.predictions.scores[0], held["score_0"])


def test_what_is_not_known_is_nan_and_not_an_error(tmp_path, held):
    rows = [{"name": "a", "baseline": True, "test": {"value": None}}, {"seconds": "long"}]
    run = read_run(write_run(tmp_path, held, {"candidates": rows, "recommended": 0}))
    assert math.isnan(run.recommended.test.value)
    assert math.isnan(run.candidates[1].seconds)
    assert run.candidates[1].name == "candidate 2"
    assert run.candidates[1].trials is None
    assert run.candidates[1].curve == ()


@pytest.mark.parametrize(
    ("low", "high", "known"),
    [(0.1, 0.2, True), (math.nan, 0.2, False), (0.1, math.nan, False), (math.nan, math.nan, False)],
)
def test_an_interval_has_two_ends(low, high, known):
    assert Estimate(0.15, low, high).has_interval is known


@pytest.mark.parametrize("name", ["results.json", "config.json", "predictions.npz"])
def test_a_missing_or_broken_file_is_named(tmp_path, held, found, name):
    path = write_run(tmp_path, held, found) / name
    path.write_bytes(b"\x00{")
    with pytest.raises(ValueError, match=rf"{name} is not") as broken:
        read_run(tmp_path)
    assert "\n" not in str(broken.value)
    path.unlink()
    with pytest.raises(ValueError, match=rf"{name} is missing"):
        read_run(tmp_path)


def test_no_folder(tmp_path):
    with pytest.raises(ValueError, match="folder must be that of a run"):
        read_run(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"candidates": []}, "must hold 'candidates', a list of objects"),
        ({"candidates": [1]}, "must hold 'candidates', a list of objects"),
        ({"recommended": 6}, "must hold 'recommended', a number from 0 to 5"),
        ({"recommended": None}, "must hold 'recommended'"),
    ],
)
def test_results_that_do_not_fit(tmp_path, held, found, change, message):
    write_run(tmp_path, held, {**found, **change})
    with pytest.raises(ValueError, match=message):
        read_run(tmp_path)


def test_results_that_are_no_object(tmp_path, held, found):
    write_run(tmp_path, held, found)
    (tmp_path / "results.json").write_text(json.dumps([1]))
    with pytest.raises(ValueError, match="must hold a JSON object, got list"):
        read_run(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": np.zeros(0)}, "must hold 'target'"),
        ({"target": np.zeros(5000)}, "zeros and ones, both of them"),
        ({"target": np.arange(5000)}, "zeros and ones, both of them"),
        ({"score_2": np.zeros(4)}, r"score_2 must have the 5000 rows of target, got \(4,\)"),
        ({"score_2": np.full(5000, np.nan)}, "score_2 must not hold NaN"),
        ({"score_2": np.full(5000, "a")}, "score_2 must hold numbers"),
        ({"group": np.zeros(3)}, "group must have the 5000 rows"),
        ({"weight": np.zeros(5000)}, "weight must be ≥ 0, and above 0 somewhere in each class"),
        ({"score_3": None}, "must hold 'score_3', that of the recommended"),
        ({"score_0": np.array([{}] * 5000)}, "not a file of plain arrays: Object arrays"),
    ],
)
def test_predictions_that_do_not_fit(tmp_path, held, found, change, message):
    changed = {k: v for k, v in {**held, **change}.items() if v is not None}
    with pytest.raises(ValueError, match=message):
        read_run(write_run(tmp_path, changed, found))
