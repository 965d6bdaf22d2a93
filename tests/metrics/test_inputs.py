import numpy as np
import pytest
import torch

from rankwise import metrics as m
from rankwise.metrics.inputs import to_tensor

SCORES = np.array([0.2, 0.9, 0.4])
TARGET = np.array([0, 1, 0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": np.array([0.1, np.nan, 0.3])}, "scores contains NaN"),
        ({"scores": np.float64(0.5)}, "scores must have at least one dimension"),
        ({"target": np.array([0, 2, 1])}, "target must contain only 0 and 1"),
        ({"target": np.array([0, 0.5, 1])}, "target must contain only 0 and 1"),
        (
            {"target": np.array(["no", "yes", "no"])},
            r"target must hold numbers or truth values, got <U3 such as \['no'\]; convert them",
        ),
        ({"target": np.array([0, 1])}, r"target \(2,\) and scores \(3,\)"),
        ({"mask": np.array([[True]])}, r"mask \(1, 1\) and scores \(3,\)"),
        ({"mask": np.array([1, 0, 1])}, "mask must be boolean"),
        ({"weight": np.array([1.0, -1.0, 1.0])}, "weight must be finite and >= 0"),
        ({"weight": np.array([1.0, np.nan, 1.0])}, "weight must be finite and >= 0"),
        ({"groups": np.array([0.0, 1.0, 1.0])}, "groups must be integer ids"),
        ({"ties": "random"}, "ties must be one of"),
        ({"average": "weighted"}, "average must be one of"),
    ],
)
def test_bad_input_names_the_argument(change, message):
    arguments = {"scores": SCORES, "target": TARGET} | change
    with pytest.raises(ValueError, match=message):
        m.auroc(**arguments)


def test_groups_are_for_flat_scores():
    with pytest.raises(ValueError, match="groups is for one-dimensional scores"):
        m.auroc(SCORES[None], TARGET[None], groups=np.zeros((1, 3), dtype=int))


def test_mixed_devices():
    with pytest.raises(ValueError, match="target is on meta but scores is on cpu"):
        m.auroc(torch.tensor(SCORES), torch.tensor(TARGET, device="meta"))


def test_relevances_are_not_negative():
    with pytest.raises(ValueError, match="target must be finite and >= 0"):
        m.ndcg(SCORES, np.array([0, -1, 3]))


@pytest.mark.parametrize("k", [0, -1, 2.0, True])
@pytest.mark.parametrize(
    "metric", [m.precision_at_k, m.recall_at_k, m.hit_at_k, m.pap_at_k, m.ndcg]
)
def test_k_is_a_count(metric, k):
    with pytest.raises(ValueError, match="k must be a whole number >= 1"):
        metric(SCORES, TARGET, k=k)


def test_infinite_scores_are_ranked():
    assert m.auroc(np.array([-np.inf, np.inf, 0.0]), TARGET) == 1
    assert m.auroc(np.array([np.inf, np.inf, 0.0]), TARGET) == (0.5 + 1) / 2


def test_gradients_are_not_needed():
    scores = torch.tensor(SCORES, requires_grad=True)
    assert not m.auroc(scores, torch.tensor(TARGET)).requires_grad


def test_arrays_are_shared_where_possible():
    array = np.arange(3.0)
    assert to_tensor(array).data_ptr() == array.ctypes.data


def test_numpy_in_numpy_out():
    scores = np.array([3, 1, 2], dtype=np.uint16)[::-1]  # negative strides
    scores.flags.writeable = False
    result = m.auroc(scores, np.array([1, 0, 0]))
    assert isinstance(result, np.float64)
    assert result.dtype == np.float64
    assert result == 1 / 2
