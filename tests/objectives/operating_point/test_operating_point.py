"""The objectives of one operating point against their metrics, and what training on them gains."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwise import metric, objective
from rankwise.baselines import CrossEntropy

NAMES = ("tpr_at_fpr", "fpr_at_tpr", "precision_at_recall", "recall_at_precision")
each = pytest.mark.parametrize("name", NAMES)


def tied_list(seed, n=40):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randint(-6, 7, (n,), generator=generator).double()
    target = torch.rand(n, generator=generator) < 0.3
    target[:2] = torch.tensor([True, False])
    return scores, target


def error(name, rate, scores, target, **data):
    """What the loss stands for: 1 − the metric, or the metric where lower is better."""
    value = float(metric(f"{name}({rate})").value(scores, target, **data))
    return value if name == "fpr_at_tpr" else 1 - value


@each
@settings(max_examples=60)
@given(seed=st.integers(0, 2**31), rate=st.sampled_from([0.01, 0.1, 0.25, 0.3, 0.5, 0.8, 0.97]))
def test_with_the_zero_one_loss_it_is_the_metric(name, seed, rate):
    scores, target = tied_list(seed)
    loss = objective(f"{name}({rate}, surrogate=zero_one)")(scores, target).item()
    expected = error(name, rate, scores, target)
    if name == "precision_at_recall":  # the metric also counts lower thresholds
        assert loss >= expected - 1e-12
    else:
        assert loss == pytest.approx(expected, abs=1e-12)


@each
def test_without_ties_precision_is_that_of_the_highest_threshold_with_the_recall(name):
    scores, target = torch.arange(8, 0, -1.0), torch.tensor([1, 0, 1, 1, 0, 1, 0, 0])
    losses = {"precision_at_recall": 1 / 4, "recall_at_precision": 1 / 4}
    # Recall .7 is reached with three positives of the first four; FPR .25 allows one negative.
    losses |= {"tpr_at_fpr": 1 / 4, "fpr_at_tpr": 1 / 4}
    rate = {"tpr_at_fpr": 0.25}.get(name, 0.7)
    loss = objective(f"{name}({rate}, surrogate=zero_one)")(scores, target)
    assert loss.item() == pytest.approx(losses[name])


def test_the_threshold_of_one_negative_is_its_score():
    scores, target = torch.tensor([2.0, 3.0, 5.0]), torch.tensor([1, 0, 1])
    assert objective("tpr_at_fpr(0.5, surrogate=zero_one)")(scores, target).item() == 1 / 2


@each
@settings(max_examples=30)
@given(seed=st.integers(0, 2**31))
def test_a_surrogate_above_the_zero_one_loss_bounds_the_metric(name, seed):
    scores, target = tied_list(seed)
    for rate in (0.1, 0.5, 0.9):
        loss = objective(f"{name}({rate}, surrogate=hinge)")(scores, target).item()
        assert loss >= error(name, rate, scores, target) - 1e-9


@each
@pytest.mark.parametrize("kind", ["counts", "masses"])
def test_weights_are_those_of_the_metric(name, kind):
    if name == "precision_at_recall":
        pytest.skip("the metric also counts lower thresholds")
    generator = torch.Generator().manual_seed(0)
    for seed in range(20):
        scores, target = tied_list(seed)
        weight = torch.randint(1, 4, (40,), generator=generator).double()
        if kind == "masses":
            weight = weight + 0.37
        loss = objective(f"{name}(.3, surrogate=zero_one)")(scores, target, weight=weight)
        expected = error(name, 0.3, scores, target, weight=weight)
        assert loss.item() == pytest.approx(expected, abs=1e-9)


def test_the_threshold_has_the_gradient_of_its_item():
    scores = torch.tensor([3.5, 1.0, 3.0, 2.0, 0.5], dtype=torch.double, requires_grad=True)
    target = torch.tensor([1, 1, 0, 0, 0])
    objective("tpr_at_fpr(.34, surrogate=hinge, score_scale=1)")(scores, target).backward()
    # q = 2: only the positive at 1 is within the margin, with a share of one half.
    assert scores.grad.tolist() == [0, -0.5, 0, 0.5, 0]
    scores.grad = None
    objective("fpr_at_tpr(.9, surrogate=hinge, score_scale=1)")(scores, target).backward()
    # q = 1: 1 − (1 − 3), 1 − (1 − 2) and 1 − (1 − .5) are above 0, a third each.
    assert scores.grad.tolist() == pytest.approx([0, -1, 1 / 3, 1 / 3, 1 / 3])


def test_tied_thresholds_share_the_gradient():
    scores = torch.tensor([0.5, 2.0, 2.0, 0.0], dtype=torch.double, requires_grad=True)
    objective("tpr_at_fpr(.1, surrogate=hinge, score_scale=1)")(
        scores, torch.tensor([1, 0, 0, 0])
    ).backward()
    assert scores.grad.tolist() == [-1, 0.5, 0.5, 0]


def test_a_precision_that_every_row_has_is_met():
    scores, target = torch.randn(10, requires_grad=True), torch.arange(10) < 8
    loss = objective("recall_at_precision(.5)")(scores, target)
    assert loss.item() == 0
    loss.backward()
    assert not scores.grad.any()


@pytest.mark.parametrize("name", ["precision_at_recall", "recall_at_precision"])
def test_the_prior_of_the_data_set_is_that_of_repeated_negatives(name):
    scores, target = tied_list(3)
    n_positives, n_negatives = int(target.sum()), int((~target).sum())
    weight = torch.where(target, 1.0, 5.0).double()
    prior = n_positives / (n_positives + 5 * n_negatives)
    made = objective(f"{name}(.3, score_scale=1)", prior=prior)
    plain = objective(f"{name}(.3, score_scale=1)")
    assert plain.prior is None
    assert made(scores, target).item() == pytest.approx(
        plain(scores, target, weight=weight).item(), rel=1e-9
    )
    with pytest.raises(ValueError, match=r"prior must be in \(0, 1\), got 1.5"):
        objective(f"{name}(.3)", prior=1.5)


@each
@pytest.mark.parametrize("rate", [0, 1, -0.5, True])
def test_a_limit_outside_is_refused(name, rate):
    with pytest.raises(ValueError, match="must be between 0 and 1"):
        objective(f"{name}({rate})")


def misspecified(rows, seed):
    """A table on which no line is right: one column decides for most rows, one at the top."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, 3, generator=generator)
    logit = -4 + 1.4 * x[:, 1] + 6 * (x[:, 0] - 1.4).clamp_min(0)
    return x, torch.rand(rows, generator=generator) < torch.sigmoid(logit)


def trained(loss, x, y, start, steps):
    weight, bias = start.clone().requires_grad_(), torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.Adam([weight, bias], lr=0.03)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(x @ weight + bias, y).backward()
        optimizer.step()
    return weight.detach()


@pytest.mark.parametrize(
    ("name", "rate"),
    [
        ("tpr_at_fpr", 0.005),
        ("recall_at_precision", 0.6),
        ("precision_at_recall", 0.2),
        ("fpr_at_tpr", 0.2),
    ],
)
def test_a_linear_model_gains_over_log_loss_where_no_line_is_right(name, rate):
    gains = []
    for seed in range(2):
        x, y = misspecified(6_000, seed)
        new_x, new_y = misspecified(20_000, 100 + seed)
        plain = trained(CrossEntropy(), x, y, torch.zeros(3), 250)
        made = trained(objective(f"{name}({rate})"), x, y, plain, 100)
        before, after = (error(name, rate, new_x @ w, new_y) for w in (plain, made))
        gains.append((before - after) / before)
    assert min(gains) > 0.05
