"""The contract: what holds for every objective, one row of the table each."""

from __future__ import annotations

import copy
import inspect
import io
import pickle

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.compiling import check_compiled_loss, check_compiled_step, quiet_compiler
from tests.objectives.contract import all_rows, call

import rankwise
from rankwise import no_checks
from rankwise.pairs import Surrogate

ROWS = all_rows()
every_objective = pytest.mark.parametrize("row", ROWS, ids=str)
WITH_SURROGATE = [
    row
    for row in ROWS
    if isinstance(row.options.get("surrogate"), Surrogate)
    and "str" in inspect.signature(row.make).parameters["surrogate"].annotation
]
NOTHING_TO_RANK = "no list of this batch has (both classes|items of two relevances)"


@every_objective
@pytest.mark.parametrize("seed", range(3))
def test_value_and_gradient_equal_the_dense_oracle(row, seed):
    scores, target = row.data(seed=seed)
    scores.requires_grad_()
    value, expected = call(row.objective(), scores, target), row.dense(scores, target)
    near = row.tolerance
    torch.testing.assert_close(value, expected, rtol=near, atol=near / 20)
    (a,), (b,) = torch.autograd.grad(value, scores), torch.autograd.grad(expected, scores)
    torch.testing.assert_close(a, b, rtol=10 * near, atol=near / 20)


@every_objective
@given(seed=st.integers(0, 1000))
@settings(max_examples=10)
def test_permutation_and_shift_change_nothing(row, seed):
    scores, target = row.data(seed=seed)
    value = call(row.objective(), scores, target)
    order = torch.randperm(len(scores), generator=torch.Generator().manual_seed(seed))
    torch.testing.assert_close(call(row.objective(), scores[order], target[order]), value)
    if row.shifts:
        shifted = call(row.objective(), scores + 3, target)
        torch.testing.assert_close(shifted, value, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("row", WITH_SURROGATE, ids=str)
def test_a_surrogate_is_itself_or_its_name(row):
    named = row.make(**{**row.options, "surrogate": repr(row.options["surrogate"])})
    scores, target = row.data()
    expected = call(row.objective(), scores, target)
    torch.testing.assert_close(call(named, scores, target), expected, rtol=0, atol=0)
    again = rankwise.objective(repr(named))
    torch.testing.assert_close(call(again, scores, target), expected, rtol=0, atol=0)
    with pytest.raises(
        ValueError, match=r'surrogate must be the name of a surrogate, got "hinges": did you'
    ):
        row.make(**{**row.options, "surrogate": "hinges"})
    with pytest.raises(
        ValueError, match=r"surrogate must be one of rankwise\.pairs or its name, got 3"
    ):
        row.make(**{**row.options, "surrogate": 3})


@pytest.mark.parametrize("row", [row for row in ROWS if row.scaled], ids=str)
@pytest.mark.parametrize("scale", [1e-2, 1e2])
def test_the_automatic_scale_follows_the_scores(row, scale):
    scores, target = row.data()
    value = call(row.rescaled(), scores, target)
    scaled = call(row.rescaled(), scale * scores, target)
    torch.testing.assert_close(scaled, value, rtol=1e-4, atol=1e-5)


@every_objective
def test_tied_scores_are_finite(row):
    target = torch.arange(20) < 5
    for scores in (torch.zeros(20), torch.arange(20.0) // 7):
        scores.requires_grad_()
        for objective in (row.objective(), row.rescaled()):
            value = call(objective, scores, target)
            (gradient,) = torch.autograd.grad(value, scores)
            assert torch.isfinite(value)
            assert torch.isfinite(gradient).all()


@every_objective
@pytest.mark.parametrize("shape", [(0,), (1,), (6,), (3, 0), (2, 6)])
@pytest.mark.parametrize("fill", [0, 1])
def test_lists_of_one_class_give_zero_with_a_graph(row, shape, fill):
    scores = torch.randn(shape, requires_grad=True)
    with pytest.warns(RuntimeWarning, match=NOTHING_TO_RANK):
        value = call(row.objective(), scores, torch.full(shape, fill))
    assert value.item() == 0
    (gradient,) = torch.autograd.grad(value, scores)
    assert (gradient == 0).all()


@every_objective
def test_a_batch_of_one_class_is_reported_once_per_objective_with_its_counts(row):
    scores, target = torch.randn(2, 16), torch.zeros(2, 16, dtype=torch.long)
    counts = r"2 lists, 0 (positives|relevant items), 30 (negatives|other items)"
    weight = torch.ones(2, 16)
    weight[:, 3] = 0  # not there
    for _ in range(2):  # every objective reports its own
        objective = row.objective()
        name = type(objective).__name__
        with pytest.warns(RuntimeWarning, match=rf"{name}: {NOTHING_TO_RANK} \({counts}\)") as told:
            call(objective, scores, target, weight=weight)
        assert told[0].filename == call.__code__.co_filename  # where the loss was called
        call(objective, scores, target)  # a warning would be an error here
        call(pickle.loads(pickle.dumps(objective)), scores, target)
        assert row.objective().state_dict().keys() == objective.state_dict().keys()


@every_objective
@pytest.mark.parametrize("shape", [(32, 1), (1, 1), (2, 8, 1)])
def test_a_column_of_scores_is_refused(row, shape):
    """The shape of ``nn.Linear(d, 1)``: lists of one item would give loss 0 and gradient 0."""
    scores, target = torch.randn(shape), torch.arange(32)[: shape[0]].reshape(-1, 1) % 2
    target = target.reshape(-1, *[1] * (len(shape) - 1)).expand(shape)
    for objective in (row.objective(), row.rescaled()):
        with pytest.raises(ValueError, match=r"pass `scores.squeeze\(-1\)`"):
            call(objective, scores, target)
        # Where no item is present it is an empty batch, as of one embedding without others.
        absent = torch.zeros(shape, dtype=torch.bool)
        with pytest.warns(RuntimeWarning, match=NOTHING_TO_RANK):
            assert call(objective, scores, target, mask=absent).item() == 0


@every_objective
@pytest.mark.parametrize("dtype", [torch.long, torch.bool])
def test_labels_in_place_of_scores_are_refused(row, dtype):
    _, target = row.data()
    for objective in (row.objective(), row.rescaled()):
        before = copy.deepcopy(objective.state_dict())
        with pytest.raises(ValueError, match="scores must be a floating-point tensor"):
            call(objective, target.to(dtype), target)
        for name, value in objective.state_dict().items():
            assert torch.equal(value, before[name])


@every_objective
def test_a_batch_without_items_teaches_nothing(row):
    objective = row.rescaled()
    before = copy.deepcopy(objective.state_dict())
    empty, ids = torch.zeros(0, requires_grad=True), torch.zeros(0, dtype=torch.long)
    with pytest.warns(RuntimeWarning, match=NOTHING_TO_RANK):
        assert call(objective, empty, torch.zeros(0)).item() == 0
    assert call(objective, empty, torch.zeros(0), groups=ids).item() == 0
    masked = torch.zeros(5, requires_grad=True)
    assert call(objective, masked, torch.zeros(5), mask=torch.zeros(5, dtype=torch.bool)) == 0
    for name, value in objective.state_dict().items():
        assert torch.equal(value, before[name])


@every_objective
def test_a_refused_batch_teaches_nothing(row):
    objective = row.rescaled()
    scores, target = row.data()
    call(objective, scores.requires_grad_(), target)
    before = copy.deepcopy(objective.state_dict())
    with pytest.raises(ValueError, match="scores contains NaN"):
        call(objective, torch.full_like(scores, torch.nan).requires_grad_(), target)
    for name, value in objective.state_dict().items():
        assert torch.equal(value, before[name])


@every_objective
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_half_precision_and_autocast(row, dtype):
    scores, target = row.data()
    expected = call(row.objective(), scores.to(dtype).double(), target)
    narrow = scores.to(dtype).requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value = call(row.objective(), narrow, target)
    torch.testing.assert_close(value.double(), expected, rtol=2e-2, atol=2e-3)
    (gradient,) = torch.autograd.grad(value, narrow)
    assert gradient.dtype == dtype
    assert torch.isfinite(gradient).all()


@every_objective
def test_huge_scores_are_finite(row):
    scores = torch.tensor([1e4, -1e4, 0.0, 1e4, -1e4, 5.0], requires_grad=True)
    target = torch.tensor([1, 1, 0, 0, 0, 1])
    value = call(row.objective(), scores, target)
    (gradient,) = torch.autograd.grad(value, scores)
    assert torch.isfinite(value)
    assert torch.isfinite(gradient).all()


@every_objective
def test_lists_are_independent_in_all_three_forms(row):
    parts = [row.data(20, seed=s) for s in range(3)]
    scores, target = (torch.stack(t) for t in zip(*parts, strict=True))
    item_ids = torch.arange(60).reshape(3, 20)
    options = {"num_lists": 3} if row.objective().memory_by == "list" else {}
    beside = {"list": {"list_ids": torch.arange(3)}, "item": {"item_ids": item_ids}, None: {}}
    kind = row.objective().memory_by
    expected = torch.stack([row.dense(s, t) for s, t in parts]).mean()
    value = call(row.objective(**options), scores, target, **beside[kind])
    torch.testing.assert_close(value, expected, rtol=1e-5, atol=1e-6)
    padded = torch.cat([scores, torch.full((3, 4), torch.nan)], dim=1)
    mask = torch.arange(24).expand(3, 24) < 20
    wide = torch.cat([target, torch.ones(3, 4, dtype=torch.bool)], dim=1)
    more = beside[kind]
    if kind == "item":
        more = {"item_ids": torch.cat([item_ids, torch.zeros(3, 4, dtype=torch.long)], dim=1)}
    value = call(row.objective(**options), padded, wide, mask=mask, **more)
    torch.testing.assert_close(value, expected, rtol=1e-5, atol=1e-6)
    groups = torch.tensor([5, -2, 9]).repeat_interleave(20)
    order = torch.randperm(60)
    more = {"list": {"list_ids": torch.tensor([1, 0, 2])}, "item": {"item_ids": order}, None: {}}[
        kind
    ]
    value = call(
        row.objective(**options),
        scores.flatten()[order],
        target.flatten()[order],
        groups=groups[order],
        **more,
    )
    torch.testing.assert_close(value, expected, rtol=1e-5, atol=1e-6)


@every_objective
def test_blocks_with_the_gradient_in_the_forward_pass_equal_the_whole(row, monkeypatch):
    scores, target = (
        torch.stack(t) for t in zip(*[row.data(30, seed=s) for s in range(7)], strict=True)
    )
    target[3] = False
    results = []
    for limit in (1 << 22, 70):
        monkeypatch.setattr("rankwise.objectives.base._BLOCK_ITEMS", limit)
        objective, leaf = row.objective(), scores.clone().requires_grad_()
        for step in range(2):  # the second step uses the memory of the first
            value = call(objective, leaf + 0.1 * step, target)
        (gradient,) = torch.autograd.grad(2 * value, leaf)
        results.append((value.detach(), gradient, objective.state_dict()))
    whole, blocks = results
    torch.testing.assert_close(blocks[0], whole[0])
    torch.testing.assert_close(blocks[1], whole[1])
    assert blocks[2].keys() == whole[2].keys()
    for name, value in blocks[2].items():
        torch.testing.assert_close(value, whole[2][name])


@every_objective
def test_evaluation_changes_nothing(row):
    objective = row.objective()
    scores, target = row.data()
    call(objective, scores.requires_grad_(), target)
    before = copy.deepcopy(objective.state_dict())
    objective.eval()
    call(objective, 2 * scores, target)
    objective.train()
    with torch.no_grad():
        call(objective, 2 * scores, target)
    for name, value in objective.state_dict().items():
        assert torch.equal(value, before[name])


@every_objective
def test_a_killed_run_resumes_to_the_same_bit(row):
    def train(objective, weights, steps):
        for step in steps:
            x, target = torch.randn(50, 4, generator=torch.Generator().manual_seed(step)), None
            target = x[:, 0] + 0.5 * x[:, 1] > 1
            loss = call(objective, x @ weights, target)
            (gradient,) = torch.autograd.grad(loss, weights)
            weights = (weights - 0.1 * gradient).detach().requires_grad_()
        return weights

    start = torch.randn(4, generator=torch.Generator().manual_seed(9), requires_grad=True)
    straight = train(row.rescaled(), start, range(8))
    first = row.rescaled()
    weights = train(first, start, range(5))
    file = io.BytesIO()
    torch.save({"loss": first.state_dict(), "weights": weights.detach()}, file)
    file.seek(0)
    saved = torch.load(file, weights_only=True)
    second = row.rescaled()
    second.load_state_dict(saved["loss"])
    resumed = train(second, saved["weights"].requires_grad_(), range(5, 8))
    assert torch.equal(resumed, straight)


@every_objective
def test_weight_zero_is_absent(row):
    scores, target = row.data(40)
    weight = (torch.arange(40) < 30).double()
    value = call(row.objective(), scores, target, weight=weight)
    torch.testing.assert_close(value, row.dense(scores[:30], target[:30]), rtol=1e-5, atol=1e-6)


@every_objective
def test_unchecked_changes_nothing_for_good_input(row):
    scores, target = row.data()
    mask = torch.arange(len(scores)) < 50
    scores[50:], target = torch.nan, target.double()
    target[50:] = torch.nan  # what is not there may hold anything
    value = call(row.objective(), scores, target, mask=mask)
    with no_checks():
        assert torch.equal(call(row.objective(), scores, target, mask=mask), value)


@every_objective
def test_copies_are_independent_and_equal(row):
    objective = row.objective()
    scores, target = row.data()
    call(objective, scores.requires_grad_(), target)
    other = copy.deepcopy(objective)
    assert torch.equal(call(other, scores, target), call(objective, scores, target))


@every_objective
@quiet_compiler
def test_compiled_it_runs_in_eager_mode_quietly(row):
    scores, target = row.data()
    ids = {"item_ids": torch.arange(60)} if row.objective().memory_by == "item" else {}
    check_compiled_loss(row.rescaled, scores, target, **ids)
    check_compiled_step(row.rescaled, scores, target, **ids)


@every_objective
@pytest.mark.parametrize(
    ("scores", "target", "beside", "message"),
    [
        ([float("nan"), 1.0], [0, 1], {}, "scores contains NaN"),
        (
            [0.0, 1.0],
            [0, -1],
            {},
            "target must (contain only 0 and 1|lie between 0 and 1|not be negative)",
        ),
        ([0.0, 1.0], [0, 1, 1], {}, r"target \(3,\) and scores \(2,\)"),
        ([0.0, 1.0], [0, 1], {"weight": [1.0]}, r"weight \(1,\) and scores \(2,\)"),
        ([0.0, 1.0], [0, 1], {"groups": [0.5, 1.5]}, "groups must hold integers"),
        ([0.0, 1.0], [0, 1], {"mask": [1, 0]}, "mask must be boolean, got torch.int64"),
        ([0.0, 1.0], [0, 1], {"weight": [1.0, float("nan")]}, "weight contains NaN"),
        ([0.0, 1.0], [0, 1], {"weight": [-1.0, 1.0]}, "weight must not be negative, got -1"),
    ],
)
def test_bad_input_is_named(row, scores, target, beside, message):
    beside = {name: torch.tensor(value) for name, value in beside.items()}
    if row.objective().memory_by == "item":
        beside["item_ids"] = torch.arange(2)
    with pytest.raises(ValueError, match=message):
        row.objective()(torch.tensor(scores), torch.tensor(target), **beside)


@every_objective
def test_bad_ids_are_named(row):
    scores, target = row.data(6)
    kind = row.objective().memory_by
    if kind == "list":
        with pytest.raises(ValueError, match=r"list_ids is needed: \w+ remembers 4 lists"):
            row.objective(num_lists=4)(scores, target)
        with pytest.raises(ValueError, match="list_ids must lie between 0 and 3"):
            row.objective(num_lists=4)(scores[None], target[None], list_ids=torch.tensor([4]))
        with pytest.raises(ValueError, match=r"one id per list, shape \(1,\), got \(6,\)"):
            row.objective(num_lists=4)(scores[None], target[None], list_ids=torch.arange(6))
    elif kind == "item":
        with pytest.raises(ValueError, match=r"item_ids is needed: \w+ remembers \d+ items"):
            row.objective()(scores, target)
    else:
        assert torch.isfinite(row.objective()(scores, target))


@every_objective
def test_reductions_agree_in_all_forms(row):
    parts = [row.data(20, seed=s) for s in range(3)]
    scores, target = (torch.stack(t) for t in zip(*parts, strict=True))
    target[1] = target[1, 0]  # one class: cannot be ranked, and is 0
    item_ids = torch.arange(60).reshape(3, 20)

    def value(reduction, *data, **arguments):
        loss = row.objective(reduction=reduction)
        return call(loss, *data, **arguments)

    scores.requires_grad_()
    each = value("none", scores, target, item_ids=item_ids)
    pointwise = row.objective().pointwise
    assert each.shape == (3,)
    assert pointwise or each[1] == 0
    torch.testing.assert_close(value("sum", scores, target, item_ids=item_ids), each.sum())
    mean = value("mean", scores, target, item_ids=item_ids)
    torch.testing.assert_close(mean, each.sum() / (3 if pointwise else 2))
    (a,) = torch.autograd.grad(each.sum(), scores)
    (b,) = torch.autograd.grad(value("sum", scores, target, item_ids=item_ids), scores)
    torch.testing.assert_close(a, b)
    groups = torch.tensor([9, -2, 4]).repeat_interleave(20)  # in ascending order: 1, 2, 0
    flat = value(
        "none", scores.flatten(), target.flatten(), groups=groups, item_ids=item_ids.flatten()
    )
    torch.testing.assert_close(flat, each[[1, 2, 0]], rtol=1e-5, atol=1e-6)
    one = value("none", scores[0], target[0], item_ids=item_ids[0])
    assert one.shape == ()


@every_objective
def test_reductions_agree_block_by_block(row, monkeypatch):
    scores, target = (
        torch.stack(t) for t in zip(*(row.data(20, seed=s) for s in range(4)), strict=True)
    )
    target[2] = target[2, 0]
    scores.requires_grad_()
    whole = call(row.objective(reduction="none"), scores, target)
    monkeypatch.setattr("rankwise.objectives.base._BLOCK_ITEMS", 40)
    blocks = call(row.objective(reduction="none"), scores, target)
    torch.testing.assert_close(blocks, whole)
    weights = torch.tensor([1.0, -2.0, 3.0, 0.5], dtype=whole.dtype)
    (a,), (b,) = (torch.autograd.grad((weights * v).sum(), scores) for v in (whole, blocks))
    torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-7)
