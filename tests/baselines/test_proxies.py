from __future__ import annotations

import math

import pytest
import torch
from tests.baselines.cases import PROXIES, arcface, normalized_softmax, proxy_anchor

from rankwise.baselines import ArcFace, NormalizedSoftmax, ProxyAnchor

EACH = [
    (ProxyAnchor, proxy_anchor),
    (NormalizedSoftmax, normalized_softmax),
    (ArcFace, arcface),
]


def embeddings(seed=0, items=12, dimension=4):
    return torch.randn(items, dimension, generator=torch.manual_seed(seed), dtype=torch.float64)


def test_proxy_anchor_worked_by_hand():
    """pytorch-metric-learning's equation: two embeddings of class 0, proxies at right angles."""
    loss = ProxyAnchor(num_classes=3, dimension=3)
    loss.proxies.data.copy_(5 * torch.eye(3))
    value = loss(torch.tensor([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0]]), torch.tensor([0, 0]))
    pulled = math.log1p(math.exp(-32 * (1 - 0.1)) + math.exp(-32 * (0.6 - 0.1)))
    of_first = 0.0  # no embedding of another class
    of_second = math.log1p(math.exp(32 * 0.1) + math.exp(32 * (0.8 + 0.1)))
    of_third = math.log1p(2 * math.exp(32 * 0.1))
    expected = pulled / 1 + (of_first + of_second + of_third) / 3
    assert value.item() == pytest.approx(expected, rel=1e-5)


def test_normalized_softmax_worked_by_hand():
    loss = NormalizedSoftmax(num_classes=3, dimension=3)
    loss.proxies.data.copy_(5 * torch.eye(3))
    value = loss(torch.tensor([[2.0, 0.0, 0.0], [0.6, 0.8, 0.0]]), torch.tensor([0, 0]))
    first = math.log(math.exp(20) + 2) - 20
    second = math.log(math.exp(12) + math.exp(16) + 1) - 12
    assert value.item() == pytest.approx((first + second) / 2, rel=1e-5)


def test_normalized_softmax_is_proxy_nca_of_pytorch_metric_learning():
    """Cross-entropy of −3 times the squared distances of normalized embeddings and proxies."""
    points, labels = embeddings(), torch.arange(12) % 4
    loss = NormalizedSoftmax(4, 4, temperature=1 / (2 * 3)).double()
    units = (torch.nn.functional.normalize(each) for each in (points, loss.proxies))
    expected = torch.nn.functional.cross_entropy(-3 * torch.cdist(*units) ** 2, labels)
    torch.testing.assert_close(loss(points, labels), expected)


def test_arcface_worked_by_hand():
    loss = ArcFace(num_classes=3, dimension=3, margin=0.3, scale=4.0)
    loss.proxies.data.copy_(5 * torch.eye(3))
    value = loss(torch.tensor([[2.0, 0.0, 0.0], [0.6, 0.8, 0.0]]), torch.tensor([0, 0]))
    first = math.log(math.exp(4 * math.cos(0.3)) + 2) - 4 * math.cos(0.3)
    own = 4 * math.cos(math.acos(0.6) + 0.3)
    second = math.log(math.exp(own) + math.exp(3.2) + 1) - own
    assert value.item() == pytest.approx((first + second) / 2, rel=1e-5)


def test_arcface_without_a_margin_is_normalized_softmax():
    points, labels = embeddings(), torch.arange(12) % 4
    loss, plain = ArcFace(4, 4, margin=0.0, scale=20.0), NormalizedSoftmax(4, 4, 0.05)
    plain.proxies.data.copy_(loss.proxies.data)
    torch.testing.assert_close(loss(points, labels), plain(points, labels))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("margin", [0.1, 0.5, math.pi / 2])
def test_arcface_rises_with_the_angle_and_its_gradient_is_finite_everywhere(dtype, margin):
    angle = torch.linspace(0, math.pi, 721, dtype=dtype)  # 0, π and the kink between them
    points = torch.stack([angle.cos(), angle.sin()], 1).requires_grad_()
    loss = ArcFace(2, 2, margin, 1.0, reduction="none").to(dtype)
    loss.proxies.data.copy_(torch.tensor([[1.0, 0.0], [0.0, -1.0]]))
    values = loss(points[:, None], torch.zeros(721, 1, dtype=torch.long))
    gradient, proxies = torch.autograd.grad(values.sum(), (points, loss.proxies))
    assert gradient.isfinite().all()
    assert proxies.isfinite().all()
    own = loss._with_margin(torch.linspace(1, -1, 4001, dtype=torch.float64))
    assert (own.diff() < 0).all()


@pytest.mark.parametrize(("make", "dense"), EACH)
def test_the_gradient_of_the_proxies_is_that_of_the_formula(make, dense, monkeypatch):
    loss = make(4, 4).double()
    loss.proxies.data.copy_(PROXIES)
    points, labels = embeddings(), torch.arange(12) % 4
    (gradient,) = torch.autograd.grad(loss(points, labels), loss.proxies)
    leaf = PROXIES.double().requires_grad_()
    monkeypatch.setattr("tests.baselines.cases.PROXIES", leaf)
    (expected,) = torch.autograd.grad(dense(points, labels), leaf)
    torch.testing.assert_close(gradient, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("make", "_"), EACH)
def test_absent_embeddings_do_not_reach_the_proxies(make, _):
    loss, points = make(4, 4), embeddings().float()
    mask = torch.arange(12) > 3
    points[:4] = torch.inf
    loss(points, torch.arange(12) % 4, mask=mask).backward()
    assert loss.proxies.grad.isfinite().all()
    assert loss.proxies.grad.abs().sum() > 0


@pytest.mark.parametrize(("make", "_"), EACH)
def test_training_the_proxies_alone_classifies_separable_embeddings(make, _):
    torch.manual_seed(0)
    labels = torch.arange(40) % 4
    points = torch.eye(4)[labels] + 0.1 * torch.randn(40, 4)
    loss = make(4, 4)
    optimizer = torch.optim.Adam(loss.parameters(), lr=0.05)
    for _step in range(60):
        optimizer.zero_grad()
        loss(points, labels).backward()
        optimizer.step()
    nearest = torch.nn.functional.cosine_similarity(
        points[:, None], loss.proxies.detach()[None], dim=-1
    ).argmax(1)
    assert (nearest == labels).all()


def test_the_published_start_of_the_proxies():
    torch.manual_seed(0)
    assert ProxyAnchor(200, 128).proxies.std().item() == pytest.approx(math.sqrt(2 / 200), rel=0.05)
    assert NormalizedSoftmax(200, 128).proxies.abs().max() <= 1 / math.sqrt(128)
    assert ArcFace(200, 128).proxies.std().item() == pytest.approx(0.01, rel=0.05)
    assert ProxyAnchor(200, 128).rate_factor == 100


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ProxyAnchor(1, 4), "num_classes must be at least 2, got 1"),
        (lambda: ProxyAnchor(3, 0), "dimension must be a whole number >= 1, got 0"),
        (lambda: ProxyAnchor(3, 4, alpha=0.0), "alpha must be a finite number > 0, got 0.0"),
        (lambda: ProxyAnchor(3, 4, float("nan")), "margin must be a finite number, got nan"),
        (lambda: ProxyAnchor(3, 4, rate_factor=0.0), "rate_factor must be a finite number > 0"),
        (lambda: NormalizedSoftmax(3, 4, 0.0), "temperature must be a finite number > 0, got 0.0"),
        (lambda: ArcFace(3, 4, -0.1), "margin must be a finite number >= 0, got -0.1"),
        (
            lambda: ArcFace(3, 4, math.pi),
            r"margin must be an angle in \[0, π/2\]",
        ),
        (lambda: ArcFace(3, 4, scale=0.0), "scale must be a finite number > 0, got 0.0"),
        (lambda: ProxyAnchor(3, 4)(torch.ones(5, 3), torch.ones(5).long()), r"items, 4\), got"),
        (lambda: ProxyAnchor(3, 4)(torch.ones(5, 4), torch.full((5,), 3)), "class ids from 0 to 2"),
    ],
)
def test_bad_options_and_arguments_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
