"""What holds for every metric: a new one gets all of it by a line in the table."""

import math
from functools import partial
from itertools import accumulate, pairwise, permutations, product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.compiling import BACKEND, quiet_compiler, watched

from rankwise import metrics as m

METRICS = {
    "average_precision": (m.average_precision, {}),
    "ap_at_k": (m.average_precision, {"k": 3}),
    "auprc": (m.auprc, {"prior": 0.2}),
    "auroc": (m.auroc, {}),
    "partial_auroc": (m.partial_auroc, {"min_fpr": 0.1, "max_fpr": 0.6}),
    "standardized": (m.partial_auroc, {"max_fpr": 0.4, "standardized": True}),
    "two_way": (m.two_way_partial_auroc, {"min_tpr": 0.4, "max_fpr": 0.5}),
    "pap_at_k": (m.pap_at_k, {"k": 1}),
    "precision_at_k": (m.precision_at_k, {"k": 3}),
    "recall_at_k": (m.recall_at_k, {"k": 3}),
    "hit_at_k": (m.hit_at_k, {"k": 2}),
    "r_precision": (m.r_precision, {}),
    "map_at_r": (m.map_at_r, {}),
    "mean_reciprocal_rank": (m.mean_reciprocal_rank, {}),
    "mrr_at_k": (m.mean_reciprocal_rank, {"k": 3}),
    "ndcg": (m.ndcg, {}),
    "ndcg_at_k": (m.ndcg, {"k": 3, "gain": "linear"}),
    "hierarchical_ap": (m.hierarchical_ap, {}),
    "precision_at_recall": (m.precision_at_recall, {"min_recall": 0.6}),
    "recall_at_precision": (m.recall_at_precision, {"min_precision": 0.6}),
    "tpr_at_fpr": (m.tpr_at_fpr, {"max_fpr": 0.3}),
    "fpr_at_tpr": (m.fpr_at_tpr, {"min_tpr": 0.7}),
    "err": (m.expected_reciprocal_rank, {"max_relevance": 1}),
    "err_at_k": (m.expected_reciprocal_rank, {"k": 3}),
    "rbp": (m.rank_biased_precision, {}),
    "rbp_at_k": (m.rank_biased_precision, {"p": 0.5, "k": 3}),
    "inst": (m.inst, {"wanted": 2}),
    "bpref": (m.bpref, {}),
    "inferred_ap": (m.inferred_average_precision, {}),
    "auprg": (m.auprg, {}),
    "pu_auroc": (m.pu_auroc, {"prior": 0.3}),
    "pu_ap": (m.pu_average_precision, {"prior": 0.3}),
    "pu_ap_of_population": (m.pu_average_precision, {"prior": 0.3, "population_prior": 0.5}),
}
WHOLE_WEIGHTS = {
    *("ap_at_k", "hit_at_k", "map_at_r", "mean_reciprocal_rank", "mrr_at_k"),
    *("err", "err_at_k", "inst", "bpref", "inferred_ap"),
}

every_metric = pytest.mark.parametrize("name", METRICS)
both_ties = pytest.mark.parametrize("ties", ["standard", "against"])
few = settings(max_examples=15)


@st.composite
def lists(draw, shortest=2, longest=9):
    """Scores with many ties, and a target with both classes."""
    n = draw(st.integers(shortest, longest))
    scores = draw(st.lists(st.integers(-2, 2), min_size=n, max_size=n))
    target = draw(
        st.lists(st.integers(0, 1), min_size=n, max_size=n).filter(lambda y: 0 < sum(y) < len(y))
    )
    return np.array(scores, dtype=float), np.array(target)


def test_the_table_has_every_metric():
    from rankwise.metrics._setting import _kernels

    assert {metric for metric, _ in METRICS.values()} == set(_kernels)


@every_metric
@pytest.mark.parametrize("shape", [(12, 1), (1, 1), (2, 6, 1)])
def test_a_column_of_scores_is_refused(name, shape):
    """The shape of ``nn.Linear(d, 1)`` is lists of one item, of which no metric is defined."""
    metric, options = METRICS[name]
    scores = torch.arange(math.prod(shape)).double().reshape(shape)
    target = (scores % 2).long()
    accumulated = m.Metric(metric, **options)
    for call in (partial(metric, **options), accumulated, accumulated.update, accumulated.value):
        with pytest.raises(ValueError, match=r"pass `scores.squeeze\(-1\)`"):
            call(scores, target)
    with pytest.raises(ValueError, match=r"pass `scores.squeeze\(-1\)`"):
        m.bootstrap_interval(metric, scores, target, **options)


@every_metric
def test_a_column_of_scores_is_one_list_where_all_items_are_pooled(name):
    metric, options = METRICS[name]
    scores, target = torch.randn(12, 1), torch.arange(12).reshape(12, 1) % 2
    pooled = {**options, "average": m._setting.setting_of(metric, options).kernel.pooled}
    expected = metric(scores.flatten(), target.flatten(), **options)
    assert metric(scores, target, **pooled) == expected
    accumulated = m.Metric(metric, **pooled)
    accumulated.update(scores, target)
    assert accumulated.compute() == expected


@every_metric
def test_one_item_alone_is_undefined_and_reported(name):
    metric, options = METRICS[name]
    with pytest.warns(RuntimeWarning, match="1 of 1 lists have") as told:
        assert metric(torch.zeros(1), torch.zeros(1), **options).isnan()
    assert told[0].filename == __file__  # where the metric was called


@every_metric
@quiet_compiler
def test_compiled_it_runs_in_eager_mode_quietly(name):
    metric, options = METRICS[name]
    accumulated = m.Metric(metric, **options)
    target = torch.arange(12) % 2

    def evaluate(scores):
        predicted = (scores + 1).sin()
        accumulated.update(predicted, target)
        return metric(predicted, target, **options)

    with watched() as seen:
        compiled = torch.compile(evaluate, backend=BACKEND)
        for seed in range(3):
            scores = torch.rand(12, generator=torch.Generator().manual_seed(seed))
            assert compiled(scores) == metric((scores + 1).sin(), target, **options)
        assert seen.counts() == (1, 2)  # the predictions
        assert seen.messages == []


def value(name, scores, target, **data):
    metric, options = METRICS[name]
    return float(metric(np.asarray(scores, dtype=float), target, **options, **data))


@every_metric
@both_ties
@few
@given(lists(), st.randoms(use_true_random=False))
def test_order_of_the_input_does_not_matter(name, ties, case, random):
    scores, target = case
    order = list(range(len(scores)))
    random.shuffle(order)
    before = value(name, scores, target, ties=ties)
    assert value(name, scores[order], target[order], ties=ties) == pytest.approx(before, abs=1e-12)


@every_metric
@few
@given(lists())
def test_only_the_ranking_matters(name, case):
    scores, target = case
    assert value(name, np.exp(3 * scores) - 5, target) == value(name, scores, target)


@every_metric
@both_ties
@few
@given(lists(), st.data())
def test_weight_is_how_often_an_item_counts(name, ties, case, data):
    scores, target = case
    weight = np.array(
        data.draw(st.lists(st.integers(0, 3), min_size=len(scores), max_size=len(scores)))
    )
    weight[target.argmax()] = weight[target.argmin()] = 2  # both classes stay
    repeated = value(name, scores.repeat(weight), target.repeat(weight), ties=ties)
    weighted = value(name, scores, target, weight=weight, ties=ties)
    assert weighted == pytest.approx(repeated, abs=1e-12)


@every_metric
@few
@given(lists())
def test_two_halves_are_one_item(name, case):
    scores, target = case
    halves = np.concatenate([scores, scores]), np.concatenate([target, target])
    weight = np.full(len(halves[0]), 0.5)
    if name in WHOLE_WEIGHTS:
        with pytest.raises(ValueError, match="weight must be whole"):
            value(name, *halves, weight=weight)
    elif name not in ("partial_auroc", "two_way"):  # these round counts, but not masses
        expected = value(name, scores, target)
        assert value(name, *halves, weight=weight) == pytest.approx(expected, abs=1e-12)


@every_metric
def test_masked_items_are_absent_whatever_stands_there(name):
    scores = np.array([0.3, np.nan, 0.1, 0.9, np.inf, 0.3])
    target = np.array([1, -100, 0, 0, 1, 0])
    mask = np.array([True, False, True, True, False, True])
    expected = value(name, scores[mask], target[mask])
    assert value(name, scores, target, mask=mask) == pytest.approx(expected, abs=1e-12)


@every_metric
def test_groups_rows_and_separate_calls_agree(name):
    metric, options = METRICS[name]
    rng = np.random.default_rng(0)
    target = np.array([[1, 0, 0, 1, 0, 0, 1], [0, 1, 0, 0, 0, 1, 0], [1, 1, 1, 1, 0, 1, 0]])
    scores = rng.integers(0, 4, target.shape).astype(float)
    scores[2] = rng.permutation(7)  # a list without ties beside lists with them
    separate = [value(name, s, y) for s, y in zip(scores, target, strict=True)]
    rows = metric(scores, target, average="none", **options)
    assert rows == pytest.approx(separate, abs=1e-12)
    ids = np.repeat([7, -3, 5], 7)
    shuffle = rng.permutation(21)
    grouped = metric(
        scores.ravel()[shuffle],
        target.ravel()[shuffle],
        groups=ids[shuffle],
        average="none",
        **options,
    )
    assert grouped == pytest.approx([separate[1], separate[2], separate[0]], abs=1e-12)  # −3, 5, 7
    cube = metric(scores.reshape(3, 1, 7), target.reshape(3, 1, 7), average="none", **options)
    assert cube.shape == (3, 1)


@every_metric
def test_macro_is_the_mean_and_micro_pools(name):
    metric, options = METRICS[name]
    rng = np.random.default_rng(1)
    target = rng.integers(0, 2, (4, 9))
    target[:, :2] = [0, 1]
    scores = rng.standard_normal((4, 9))
    mean, pooled = ("micro", "macro") if name == "pap_at_k" else ("macro", "micro")
    each = metric(scores, target, average="none", **options)
    assert metric(scores, target, **options) == pytest.approx(each.mean(), abs=1e-12)
    assert metric(scores, target, average=mean, **options) == pytest.approx(each.mean(), abs=1e-12)
    together = value(name, scores.ravel(), target.ravel())
    assert metric(scores, target, average=pooled, **options) == pytest.approx(together, abs=1e-12)


@every_metric
def test_lists_of_one_class_are_left_out_with_a_warning(name):
    metric, options = METRICS[name]
    scores = np.array([[3.0, 2.0, 1.0], [3.0, 2.0, 1.0]])
    target = np.array([[0, 1, 0], [0, 0, 0]])
    with pytest.warns(RuntimeWarning, match="1 of 2 lists have .* left out of the mean"):
        both = metric(scores, target, average="none", **options)
    assert math.isnan(both[1])
    with pytest.warns(RuntimeWarning, match="1 of 2 lists"):
        assert metric(scores, target, **options) == both[0]
    with pytest.warns(RuntimeWarning, match="1 of 1 lists"):
        assert math.isnan(value(name, scores[1], target[1]))


@every_metric
@pytest.mark.parametrize("size", [1e15, 1e30])
@pytest.mark.parametrize("scores", [[2.0, 1.0, 1.0, 0.0], [0.0] * 4])
def test_items_that_weigh_very_much_have_a_value_or_a_limit(name, size, scores):
    metric, options = METRICS[name]
    target, weight = torch.tensor([1, 0, 1, 0]), torch.full((4,), size, dtype=torch.float64)
    try:
        found = float(metric(torch.tensor(scores), target, weight=weight, **options))
    except ValueError as error:
        assert "weight must add up to at most" in str(error)  # noqa: PT017
    else:
        assert math.isfinite(found)


@every_metric
@pytest.mark.parametrize("shape", [(0,), (2, 0)])
def test_empty_lists_have_no_value(name, shape):
    metric, options = METRICS[name]
    with pytest.warns(RuntimeWarning, match="lists have"):
        assert math.isnan(metric(np.zeros(shape), np.zeros(shape), **options))


@every_metric
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.int32])
def test_torch_dtypes(name, dtype):
    metric, options = METRICS[name]
    scores = torch.tensor([3, -1, 2, 2, 0, 5])
    target = torch.tensor([1, 0, 0, 1, 0, 0])
    result = metric(scores.to(dtype), target, **options)
    assert isinstance(result, torch.Tensor)
    assert result.dtype == torch.float64
    strict = metric(scores.to(dtype), target, ties="against", **options)
    for kind in (torch.bool, torch.float32, torch.bfloat16, torch.uint8):
        assert metric(scores.to(dtype), target.to(kind), **options) == result
        assert metric(scores.to(dtype), target.to(kind), ties="against", **options) == strict
    assert float(result) == value(name, scores.numpy(), target.numpy())


def precision(ranked, k):
    return sum(ranked[:k]) / k


def discounted(ranked, k, gain):
    return sum(gain(y) / math.log2(2 + i) for i, y in enumerate(ranked[:k]))


def satisfied(ranked, k, best):
    value, reads = 0.0, 1.0
    for rank, y in enumerate(ranked[:k], start=1):
        stop = (2**y - 1) / 2**best
        value += reads * stop / rank
        reads *= 1 - stop
    return value


def biased(ranked, k, p):
    return (1 - p) * sum(y * p**i for i, y in enumerate(ranked[:k]))


def preferred(ranked):
    most = min(sum(ranked), len(ranked) - sum(ranked))
    above = [ranked[:i].count(0) for i, y in enumerate(ranked) if y]
    return sum(1 - min(count, most) / most for count in above) / sum(ranked)


# Each metric of a strict order, from the targets as they are ranked.
ORACLES = {
    "auroc": lambda r: (
        sum(r[i] > r[j] for i in range(len(r)) for j in range(i + 1, len(r)))
        / (sum(r) * (len(r) - sum(r)))
    ),
    "ap_at_k": lambda r: sum(y * precision(r, i + 1) for i, y in enumerate(r[:3])) / sum(r),
    "precision_at_k": lambda r: precision(r, 3),
    "recall_at_k": lambda r: sum(r[:3]) / sum(r),
    "hit_at_k": lambda r: float(any(r[:2])),
    "r_precision": lambda r: precision(r, sum(r)),
    "map_at_r": lambda r: sum(r[i] * precision(r, i + 1) for i in range(sum(r))) / sum(r),
    "mean_reciprocal_rank": lambda r: 1 / (r.index(1) + 1),
    "mrr_at_k": lambda r: 1 / (r.index(1) + 1) if any(r[:3]) else 0.0,
    "ndcg": lambda r: (
        discounted(r, len(r), lambda y: 2**y - 1)
        / discounted(sorted(r, reverse=True), len(r), lambda y: 2**y - 1)
    ),
    "ndcg_at_k": lambda r: discounted(r, 3, float) / discounted(sorted(r, reverse=True), 3, float),
    "err": lambda r: satisfied(r, len(r), 1),
    "err_at_k": lambda r: satisfied(r, 3, 4),
    "rbp": lambda r: biased(r, len(r), 0.8),
    "rbp_at_k": lambda r: biased(r, 3, 0.5),
    "bpref": preferred,
}


def tied_lists(n=5):
    """All lists of n items on one, two or three levels, with the targets of all their orders."""
    for sizes in [s for k in (1, 2, 3) for s in product(range(1, n + 1), repeat=k) if sum(s) == n]:
        for target in product((0, 1), repeat=n):
            if 0 < sum(target) < n:
                yield (
                    np.repeat(range(len(sizes), 0, -1), sizes),
                    target,
                    list(orders(target, sizes)),
                )


def orders(target, sizes):
    """The target with the items of every level in all orders."""
    ends = list(accumulate(sizes, initial=0))
    levels = [permutations(target[a:b]) for a, b in pairwise(ends)]
    for parts in product(*levels):
        yield [y for part in parts for y in part]


@pytest.mark.parametrize("name", ORACLES)
def test_ties_are_the_mean_or_the_worst_of_all_orders(name):
    metric, options = METRICS[name]
    scores, targets, cases = zip(*tied_lists(), strict=True)
    values = [[ORACLES[name](ranked) for ranked in case] for case in cases]
    scores, targets = np.stack(scores), np.array(targets)
    standard = metric(scores, targets, average="none", **options)
    np.testing.assert_allclose(standard, [np.mean(each) for each in values], atol=1e-12)
    against = metric(scores, targets, average="none", ties="against", **options)
    np.testing.assert_allclose(against, [min(each) for each in values], atol=1e-12)
