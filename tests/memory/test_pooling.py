"""Poolings of bags against their formulas, and what their memory does for small samples."""

from __future__ import annotations

import copy
import math

import pytest
import torch
from torch import Tensor

from rankwise.memory import AttentionPooling, SmoothMaxPooling
from rankwise.objectives import AveragePrecision, CompositionalAUC, MinMaxAUC, PairwiseAUC

TAU = 0.5
BOTH = pytest.mark.parametrize("kind", ["smooth", "attention"])


def make(kind: str, num_bags: int | None, ema_rate: float = 0.9) -> torch.nn.Module:
    if kind == "smooth":
        return SmoothMaxPooling(num_bags, TAU, ema_rate=ema_rate)
    return AttentionPooling(num_bags, ema_rate=ema_rate)


def pooled(pool: torch.nn.Module, scores: Tensor, logits: Tensor, *ids: Tensor, **mask) -> Tensor:
    given = (scores, logits) if isinstance(pool, AttentionPooling) else (scores,)
    return pool(*given, *ids, **mask)


def plain(kind: str, scores: Tensor, logits: Tensor) -> Tensor:
    """The formula of one bag."""
    if kind == "smooth":
        return TAU * (scores / TAU).exp().mean().log()
    return (logits.softmax(0) * scores).sum()


def instances(bags: int = 4, size: int = 5, seed: int = 0) -> tuple[Tensor, Tensor]:
    rng = torch.Generator().manual_seed(seed)
    both = torch.randn(2, bags, size, dtype=torch.float64, generator=rng)
    return both[0], both[1]


@BOTH
@pytest.mark.parametrize("num_bags", [None, 10])
def test_whole_bags_have_the_plain_pooled_score(kind, num_bags):
    scores, logits = instances()
    expected = torch.stack([plain(kind, *bag) for bag in zip(scores, logits, strict=True)])
    rows = pooled(make(kind, num_bags), scores, logits, torch.tensor([7, 2, 9, 0]))
    torch.testing.assert_close(rows, expected, rtol=1e-6, atol=1e-7)
    ids = torch.tensor([7, 2, 9, 0]).repeat_interleave(5)
    mixed = torch.randperm(20, generator=torch.Generator().manual_seed(1))
    flat = [t.flatten()[mixed] for t in (scores, logits)]
    result = pooled(make(kind, num_bags), *flat, ids[mixed])
    torch.testing.assert_close(result, expected[[3, 1, 0, 2]], rtol=1e-6, atol=1e-7)


@BOTH
def test_a_mask_leaves_instances_out(kind):
    scores, logits = instances(2, 4)
    mask = torch.tensor([[True, True, True, False], [True, False, True, True]])
    expected = torch.stack(
        [plain(kind, s[m], g[m]) for s, g, m in zip(scores, logits, mask, strict=True)]
    )
    hidden = scores.masked_fill(~mask, torch.nan), logits.masked_fill(~mask, torch.inf)
    torch.testing.assert_close(pooled(make(kind, None), *hidden, mask=mask), expected)
    ids = torch.tensor([[3] * 4, [1] * 4])
    result = pooled(make(kind, None), *hidden, ids, mask=mask)
    torch.testing.assert_close(result, expected.flip(0))


@BOTH
def test_first_gradients_are_those_of_finite_differences(kind):
    scores, logits = (t.requires_grad_() for t in instances(2, 3))

    def value(scores, logits):
        return pooled(make(kind, None), scores, logits)

    torch.autograd.gradcheck(value, (scores, logits))
    torch.autograd.gradgradcheck(value, (scores, logits))
    first = make(kind, 5)  # a first visit is the plain score, and has its gradient
    ids = torch.tensor([4, 1])
    (got,) = torch.autograd.grad(pooled(first, scores, logits, ids).sum(), scores)
    (expected,) = torch.autograd.grad(value(scores, logits).sum(), scores)
    torch.testing.assert_close(got, expected)


def test_the_second_visit_of_the_smoothed_maximum_by_hand():
    pool = SmoothMaxPooling(3, TAU, ema_rate=0.25)
    ids = torch.tensor([2])
    before, now = torch.tensor([[0.3, -1.0]]), torch.tensor([[1.0, 0.2]], requires_grad=True)
    pool(before, ids)
    u = 0.75 * (before / TAU).exp().mean() + 0.25 * (now / TAU).exp().mean()
    value = pool(now, ids)
    torch.testing.assert_close(value, TAU * u.log().detach().reshape(1))
    value.backward()  # τ ∇ĝ/u
    torch.testing.assert_close(now.grad, (now / TAU).exp().detach() / 2 / u.detach())


def test_the_second_visit_of_attention_by_hand():
    pool, rate, ids = AttentionPooling(1, ema_rate=0.25), 0.25, torch.tensor([0])
    before = [t.float() for t in instances(1, 3, seed=1)]
    scores, logits = (t.float().requires_grad_() for t in instances(1, 3, seed=2))
    pool(*before, ids)

    def means(scores, logits):
        return (logits.exp() * scores).mean(), logits.exp().mean()

    n, d = means(scores, logits)
    old_n, old_d = means(*before)
    u_n, u_d = ((1 - rate) * old + rate * new.detach() for old, new in ((old_n, n), (old_d, d)))
    value = pool(scores, logits, ids)
    torch.testing.assert_close(value, (u_n / u_d).reshape(1))
    expected = torch.autograd.grad(n / u_d - u_n / u_d**2 * d, (scores, logits))
    got = torch.autograd.grad(value.sum(), (scores, logits))
    for one, other in zip(got, expected, strict=True):
        torch.testing.assert_close(one, other)


@BOTH
def test_several_parts_of_a_bag_in_one_call_are_averaged(kind):
    scores, logits = instances(2, 4)
    apart, joined = make(kind, 1, 0.5), make(kind, 1, 0.5)
    pooled(apart, scores, logits, torch.tensor([0, 0]))
    pooled(joined, scores.reshape(1, 8), logits.reshape(1, 8), torch.tensor([0]))
    torch.testing.assert_close(apart.average.value, joined.average.value)


@BOTH
def test_midam_of_libauc_has_the_same_gradient(kind):
    """Its loss is written out with the memories, a, b and α of LibAUC, whose α stands for 2α."""
    rng = torch.Generator().manual_seed(3)
    before, now = (torch.randn(2, 6, 3, generator=rng) for _ in range(2))
    a, b, alpha, rate, y = 0.4, -0.2, 0.6, 0.9, torch.tensor([1, 1, 0, 0, 0, 1])
    ids, pool, loss = torch.arange(6), make(kind, 6), MinMaxAUC()
    with torch.no_grad():
        loss.a.fill_(a), loss.b.fill_(b), loss.alpha.fill_(alpha / 2)
    pooled(pool, *before, ids)
    now = now.requires_grad_()
    h = pooled(pool, *now, ids)
    h = h if kind == "smooth" else torch.sigmoid(h)
    (got,) = torch.autograd.grad(loss(h, y), now)

    def inner(values):
        scores, logits = values
        if kind == "smooth":
            return [(scores / TAU).exp().mean(1)]
        return [(logits.exp() * scores).mean(1), logits.exp().mean(1)]

    new = inner(now)
    u = [(1 - rate) * o + rate * n.detach() for o, n in zip(inner(before), new, strict=True)]
    if kind == "smooth":
        h, slope = TAU * u[0].log(), TAU * new[0] / u[0]
    else:
        h = torch.sigmoid(u[0] / u[1])
        slope = h * (1 - h) * (new[0] / u[1] - u[0] / u[1] ** 2 * new[1])
    p, n = y == 1, y == 0
    theirs = (2 * (h[p] - a) * slope[p]).mean() + (2 * (h[n] - b) * slope[n]).mean()
    theirs = theirs + alpha * (slope[n].mean() - slope[p].mean())
    (expected,) = torch.autograd.grad(theirs, now)
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-6)


def drawn(bags: int, size: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Bags of which the positive ones have 5% of positive instances; scores, logits, labels."""
    rng = torch.Generator().manual_seed(seed)
    y = torch.arange(bags) % 2
    scores = torch.randn(bags, size, generator=rng)
    scores[:, : size // 20] += 3.0 * y[:, None]
    return scores, scores * 2 + torch.randn(bags, size, generator=rng) * 0.3, y


@BOTH
def test_samples_with_memory_approach_whole_bags_and_without_are_biased(kind):
    scores, logits, _ = drawn(40, 100, seed=0)
    whole = torch.stack([plain(kind, *bag) for bag in zip(scores, logits, strict=True)])
    ids, rng = torch.arange(40), torch.Generator().manual_seed(1)
    remembers, forgets, sums = make(kind, 40, 0.02), make(kind, None), torch.zeros(40)
    steps = 400
    for _ in range(steps):
        some = torch.rand(40, 100, generator=rng).argsort(1)[:, :4]
        both = scores.gather(1, some), logits.gather(1, some)
        value = pooled(remembers, *both, ids)
        sums += pooled(forgets, *both, ids) / steps
    bias = (sums - whole).mean()
    left = (value - whole).mean()
    assert bias < -0.15  # of four instances few have a positive one, and the score is too low
    assert abs(left) < abs(bias) / 4
    assert (value - whole).abs().mean() < (sums - whole).abs().mean() / 2


@pytest.mark.parametrize("objective", [CompositionalAUC(), PairwiseAUC(), AveragePrecision()])
@BOTH
def test_any_objective_takes_the_bags(kind, objective):
    scores, logits, y = drawn(8, 20, seed=2)
    scores.requires_grad_()
    objective(pooled(make(kind, 8), scores, logits, torch.arange(8)), 1 - y).backward()
    assert scores.grad.isfinite().all()
    assert scores.grad.abs().sum() > 0


@BOTH
def test_a_resumed_memory_goes_on_bit_for_bit(kind):
    ids, first = torch.tensor([3, 1, 4, 0]), make(kind, 6)
    pooled(first, *instances(seed=4), ids)
    second = make(kind, 6)
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    values = [pooled(pool, *instances(seed=5), ids) for pool in (first, second)]
    assert torch.equal(*values)
    assert all(torch.equal(first.state_dict()[k], v) for k, v in second.state_dict().items())


@BOTH
def test_evaluation_uses_the_instances_alone_and_learns_nothing(kind):
    pool = make(kind, 4)
    pooled(pool, *instances(seed=6), torch.arange(4))
    before = copy.deepcopy(pool.state_dict())
    scores, logits = instances(seed=7)
    pool.eval()
    value = pooled(pool, scores, logits, torch.tensor([90, 91, 92, 93]))  # bags of a test set
    expected = torch.stack([plain(kind, *bag) for bag in zip(scores, logits, strict=True)])
    torch.testing.assert_close(value, expected)
    pool.train()
    with torch.no_grad():
        pooled(pool, scores, logits, torch.arange(4))
    assert all(torch.equal(before[k], v) for k, v in pool.state_dict().items())


@BOTH
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_large_scores_and_other_dtypes(kind, dtype):
    pool, scores = make(kind, 2), torch.tensor([[1e4, -1e4], [-1e4, -1e4]], dtype=dtype)
    scores.requires_grad_()
    for _ in range(2):
        value = pooled(pool, scores, scores.detach(), torch.tensor([0, 1]))
        wide = scores.double()
        top = wide[0, 0] + (TAU * math.log(0.5) if kind == "smooth" else 0)
        expected = torch.stack([top, wide[1, 0]])
        torch.testing.assert_close(value.double(), expected, rtol=1e-5, atol=0)
    value.sum().backward()
    assert scores.grad.isfinite().all()


@BOTH
@pytest.mark.parametrize("size", [1e4, -1e4])
def test_large_scores_and_logits_of_flat_instances(kind, size):
    scores = torch.tensor([size, size, size])
    value = pooled(make(kind, None), scores, scores, torch.tensor([5, 5, 6]))
    torch.testing.assert_close(value, torch.tensor([size, size]))


@BOTH
def test_one_flat_instance_is_a_bag(kind):
    one = torch.tensor([2.0])
    assert pooled(make(kind, 3), one, one, torch.tensor([1])).tolist() == [2.0]


@BOTH
def test_bags_may_have_several_dimensions(kind):
    scores, logits = instances(4, 5)
    ids = torch.tensor([[7, 2], [9, 0]])
    expected = pooled(make(kind, 10), scores, logits, ids.flatten())
    found = pooled(make(kind, 10), scores.view(2, 2, 5), logits.view(2, 2, 5), ids)
    assert torch.equal(found, expected.view(2, 2))


@BOTH
def test_second_derivatives_through_the_memory_are_refused(kind):
    scores, logits = (t.requires_grad_() for t in instances(2, 3))
    value = pooled(make(kind, 2), scores, logits, torch.tensor([0, 1])).square().sum()
    (slope,) = torch.autograd.grad(value, scores, create_graph=True)
    with pytest.raises((RuntimeError, NotImplementedError), match="second derivative"):
        slope.sum().backward()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((torch.zeros(4, 1), torch.zeros(4).long()), r"pass `scores.squeeze\(-1\)`"),
        ((torch.zeros(4, 2),), "bag_ids is needed: SmoothMaxPooling remembers 3 bags"),
        ((torch.zeros(2, 2), torch.tensor([0, 3])), "bag_ids must lie between 0 and 2"),
        ((torch.zeros(2, 2), torch.tensor([0, 1, 2])), "bag_ids must have one id per bag"),
        ((torch.zeros(2, 2), torch.zeros(2)), "bag_ids must be integers"),
        ((torch.zeros(2, 2).long(), torch.arange(2)), "scores must be"),
        ((torch.full((2, 2), torch.nan), torch.arange(2)), "NaN"),
        ((torch.tensor(1.0), torch.tensor(0)), "scores must have at least one dimension"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        SmoothMaxPooling(3)(*arguments)


def test_no_bags_are_pooled_to_nothing_but_a_bag_needs_an_instance():
    assert SmoothMaxPooling(None)(torch.zeros(0, 0)).shape == (0,)
    with pytest.raises(ValueError, match="every bag must have an instance"):
        SmoothMaxPooling(None)(torch.zeros(2, 0))


def test_wrong_masks_attention_and_options():
    mask = torch.tensor([[True, True], [False, False]])
    with pytest.raises(ValueError, match="every bag must have an instance"):
        SmoothMaxPooling(None)(torch.zeros(2, 2), mask=mask)
    with pytest.raises(ValueError, match="attention must be a floating-point tensor"):
        AttentionPooling(None)(torch.zeros(2, 2), torch.zeros(2, 2).long())
    with pytest.raises(ValueError, match="attention must have the shape"):
        AttentionPooling(None)(torch.zeros(2, 2), torch.zeros(2))
    with pytest.raises(ValueError, match="temperature"):
        SmoothMaxPooling(3, 0.0)
    with pytest.raises(ValueError, match="ema_rate must be in"):
        AttentionPooling(3, ema_rate=0.0)
    assert "num_bags=3, temperature=0.2" in repr(SmoothMaxPooling(3, 0.2))


@pytest.mark.parametrize("num_bags", [None, 6])
@pytest.mark.parametrize("made", [SmoothMaxPooling, AttentionPooling])
def test_torch_func_and_the_meta_device_are_refused_in_one_sentence(made, num_bags):
    pool, bag_ids = made(num_bags), torch.arange(24) // 4

    def value(scores):
        both = (scores, scores) if made is AttentionPooling else (scores,)
        return pool(*both, bag_ids.to(scores.device)).sum()

    scores = torch.randn(24)
    with pytest.raises(RuntimeError, match="which rankwise has no rules for"):
        torch.func.grad(value)(scores)
    with pytest.raises(RuntimeError, match="which rankwise has no rules for"):
        torch.func.vmap(value)(torch.stack([scores, scores]))
    with pytest.raises(ValueError, match="must hold values, got a tensor on the meta device"):
        value(scores.to("meta"))
