import inspect
import io
import math
import pickle

import numpy as np
import pytest
import torch
import torchmetrics

from rankwise import metrics as m

RNG = np.random.default_rng(0)
SCORES = torch.tensor(RNG.standard_normal(60)).round(decimals=1)
TARGET = torch.tensor(RNG.integers(0, 2, 60))
WEIGHT = torch.tensor(RNG.integers(0, 3, 60))
GROUPS = torch.tensor(RNG.permutation(np.repeat([4, 2, 9, 11], 15)))
CUTS = (slice(0, 7), slice(7, 40), slice(40, 60))


def filled(metric, **columns):
    for cut in CUTS:
        metric.update(SCORES[cut], TARGET[cut], **{name: x[cut] for name, x in columns.items()})
    return metric


def test_one_dimensional_updates_are_parts_of_one_list():
    for function, options in ((m.auroc, {"ties": "against"}), (m.ndcg, {"k": 10})):
        metric = filled(m.Metric(function, **options))
        assert metric.compute() == function(SCORES, TARGET, **options)


def test_weights_and_masks():
    metric = filled(m.Metric(m.average_precision), weight=WEIGHT, mask=WEIGHT != 1)
    expected = m.average_precision(SCORES, TARGET, weight=WEIGHT, mask=WEIGHT != 1)
    assert metric.compute() == expected


@pytest.mark.parametrize("average", ["macro", "micro", "none"])
def test_groups_are_collected_across_updates(average):
    metric = filled(m.Metric(m.average_precision, average=average), groups=GROUPS)
    expected = m.average_precision(SCORES, TARGET, groups=GROUPS, average=average)
    torch.testing.assert_close(metric.compute(), expected)


@pytest.mark.parametrize("average", ["macro", "micro", "none"])
def test_whole_lists(average):
    metric = m.Metric(m.auroc, average=average)
    scores, target = SCORES.reshape(6, 10), TARGET.reshape(6, 10)
    for rows in (slice(0, 1), slice(1, 6)):
        metric.update(scores[rows], target[rows])
    torch.testing.assert_close(metric.compute(), m.auroc(scores, target, average=average))
    # Whole lists are remembered by their values alone, unless they are pooled.
    assert set(metric.state_dict()) == (
        {"scores", "target", "weight"} if average == "micro" else {"values"}
    )


def test_pap_at_k_pools_by_its_own_words():
    scores, target = SCORES.reshape(4, 15), TARGET.reshape(4, 15)
    for average in ("micro", "macro"):
        metric = m.Metric(m.pap_at_k, k=2, average=average)
        metric.update(scores, target)
        assert metric.compute() == m.pap_at_k(scores, target, k=2, average=average)


def test_kinds_do_not_mix():
    metric = filled(m.Metric(m.auroc))
    with pytest.raises(
        ValueError, match=r"holds one-dimensional scores.* brings scores with groups"
    ):
        metric.update(SCORES, TARGET, groups=GROUPS)
    metric.reset()
    metric.update(SCORES, TARGET, groups=GROUPS)


def test_forward_accumulates_and_returns_the_batch():
    metric = m.Metric(m.auroc)
    for cut in CUTS:
        assert metric(SCORES[cut], TARGET[cut]) == m.auroc(SCORES[cut], TARGET[cut])
    assert metric.compute() == m.auroc(SCORES, TARGET)


@pytest.mark.parametrize("data", [{}, {"groups": GROUPS}, {"weight": WEIGHT, "mask": WEIGHT != 1}])
def test_value_takes_nothing_in(data):
    metric = m.Metric(m.ndcg, k=4, ties="against")
    metric.update(SCORES[:9], TARGET[:9])
    before = metric.compute()
    value = metric.value(SCORES, TARGET, **data)
    assert value == m.ndcg(SCORES, TARGET, k=4, ties="against", **data)
    assert metric.compute() == before
    assert isinstance(metric.value(SCORES.numpy(), TARGET.numpy()), np.ndarray | np.floating)


def test_value_warns_where_the_caller_is():
    with pytest.warns(RuntimeWarning, match="1 of 1 lists") as caught:
        m.Metric(m.auroc).value(SCORES, torch.ones_like(TARGET))
    assert caught[0].filename == __file__


def test_reset_and_empty():
    metric = filled(m.Metric(m.auroc))
    metric.reset()
    with pytest.warns(RuntimeWarning, match="compute before update"):
        assert math.isnan(metric.compute())


def test_merge_state_and_clone():
    first, second = m.Metric(m.auroc), m.Metric(m.auroc)
    first.update(SCORES[:20], TARGET[:20])
    second.update(SCORES[20:], TARGET[20:])
    alone = first.clone()
    first.merge_state(second)
    first.merge_state(m.Metric(m.auroc))  # an empty one changes nothing
    assert first.compute() == m.auroc(SCORES, TARGET)
    assert alone.compute() == m.auroc(SCORES[:20], TARGET[:20])
    with pytest.raises(ValueError, match="incoming_state must be of the same metric"):
        first.merge_state(m.Metric(m.auroc, ties="against"))


@pytest.mark.parametrize("data", [{}, {"groups": GROUPS}])
def test_state_dict_round_trip(data):
    metric = filled(m.Metric(m.average_precision), **data)
    file = io.BytesIO()
    torch.save(metric.state_dict(), file)
    file.seek(0)
    other = m.Metric(m.average_precision)
    other.load_state_dict(torch.load(file, weights_only=True))
    assert other.compute() == metric.compute()
    module = torch.nn.ModuleDict({"ap": filled(m.Metric(m.average_precision), **data)})
    fresh = torch.nn.ModuleDict({"ap": m.Metric(m.average_precision)})
    fresh.load_state_dict(module.state_dict())
    assert fresh["ap"].compute() == metric.compute()
    other.load_state_dict(m.Metric(m.average_precision).state_dict())
    with pytest.warns(RuntimeWarning, match="compute before update"):
        other.compute()


def test_state_moves_but_keeps_its_precision():
    metric = filled(m.Metric(m.auroc)).half()
    assert metric.state_dict()["scores"].dtype == torch.float64
    metric.to("meta")
    assert metric.device == metric.state_dict()["scores"].device == torch.device("meta")


def test_the_callers_buffer_may_be_reused():
    buffer, target = np.array([1.0, 2.0]), np.array([0, 1])
    metric = m.Metric(m.auroc)
    metric.update(buffer, target)
    buffer[:] = 0
    assert metric.compute() == 1


def test_bad_input_is_found_by_update():
    metric = m.Metric(m.auroc)
    with pytest.raises(ValueError, match="scores contains NaN"):
        metric.update(np.array([np.nan, 1.0]), np.array([0, 1]))
    with pytest.raises(ValueError, match="weight comes with the data"):
        m.Metric(m.auroc, weight=WEIGHT)


def test_pickles_and_prints():
    metric = pickle.loads(pickle.dumps(filled(m.Metric(m.ndcg, k=5))))
    assert metric.compute() == m.ndcg(SCORES, TARGET, k=5)
    assert repr(metric) == "ndcg(k=5)"
    assert repr(m.Metric(m.auprc, prior=np.float64(0.1), ties="against")) == (
        "auprc(prior=0.1, ties='against')"
    )
    assert repr(torch.nn.ModuleDict({"first": m.Metric(m.average_precision)})).split() == (
        ["ModuleDict(", "(first):", "ap", ")"]
    )


def test_contract_of_torchmetrics():
    contract = {name for name in dir(m.Metric) if not name.startswith("_")}
    own = contract - set(dir(torch.nn.Module))
    assert own >= {"update", "compute", "reset", "merge_state", "clone", "device"}
    assert own - {"value", "bounds"} <= set(dir(torchmetrics.Metric))
    for name in ("compute", "reset", "merge_state"):
        theirs = inspect.signature(getattr(torchmetrics.Metric, name)).parameters
        assert list(inspect.signature(getattr(m.Metric, name)).parameters) == list(theirs)


def test_bounded_memory_has_bounds_that_hold_the_value():
    for function, options in ((m.auroc, {}), (m.average_precision, {}), (m.recall_at_k, {"k": 9})):
        metric = filled(m.Metric(function, memory="bounded", **options))
        exact = float(function(SCORES, TARGET, **options))
        low, high = metric.bounds()
        assert low <= exact <= high
        assert low <= metric.compute() <= high
        assert metric.value(SCORES, TARGET) == exact
        assert set(metric.state_dict()) == {"counts"}


def test_bounded_parts_are_added_loaded_and_pooled():
    whole = filled(m.Metric(m.auroc, memory="bounded"))
    first, second = (m.Metric(m.auroc, memory="bounded") for _ in range(2))
    first.update(SCORES[:20], TARGET[:20])
    second.update(SCORES[20:], TARGET[20:], mask=torch.ones(40, dtype=torch.bool))
    alone = first.bounds()
    copy = first.clone()
    first.merge_state(second)
    assert first.bounds() == whole.bounds()
    assert copy.bounds() == alone
    loaded = m.Metric(m.auroc, memory="bounded")
    loaded.load_state_dict(whole.state_dict())
    loaded.update(SCORES, TARGET)
    assert (loaded.state_dict()["counts"] == 2 * whole.state_dict()["counts"]).all()
    pooled = m.Metric(m.auroc, memory="bounded", average="micro")
    pooled.update(SCORES.reshape(6, 10), TARGET.reshape(6, 10))
    assert pooled.bounds() == whole.bounds()
    whole.reset()
    with pytest.warns(RuntimeWarning, match="compute before update"):
        assert math.isnan(whole.compute())


def test_bounded_memory_is_for_one_list_of_two_classes():
    metric = m.Metric(m.auroc, memory="bounded")
    with pytest.raises(ValueError, match="without weights, got weight"):
        metric.update(SCORES, TARGET, weight=WEIGHT)
    for data in ((SCORES.reshape(6, 10), TARGET.reshape(6, 10), {}), (SCORES, TARGET, GROUPS)):
        groups = data[2] if isinstance(data[2], torch.Tensor) else None
        with pytest.raises(ValueError, match="got several lists"):
            metric.update(*data[:2], groups=groups)
    with pytest.raises(ValueError, match="is for metrics of two classes, got ndcg"):
        m.Metric(m.ndcg, memory="bounded")
    with pytest.raises(ValueError, match="memory must be"):
        m.Metric(m.auroc, memory="none")
    with pytest.raises(ValueError, match=r"compute\(\) is exact with 'all'"):
        m.Metric(m.auroc).bounds()
    with pytest.raises(ValueError, match="incoming_state must be of the same metric"):
        metric.merge_state(m.Metric(m.auroc))
