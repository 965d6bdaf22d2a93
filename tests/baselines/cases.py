"""Every baseline with its formula, written out densely and without the library."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from rankwise.baselines import (
    LDAM,
    ArcFace,
    AUCHuber,
    AUCSigmoid,
    BlackBoxAP,
    ClassBalanced,
    Contrastive,
    CrossEntropy,
    FastAP,
    Focal,
    HistogramAP,
    MultiClassAUC,
    MultiSimilarity,
    NormalizedSoftmax,
    ProxyAnchor,
    SmoothAP,
    SoDeepAP,
    Triplet,
)

COUNTS = (500, 100, 20, 5)  # items by class


@dataclass(frozen=True)
class Case:
    name: str
    make: Callable[[], nn.Module]
    dense: Callable[[Tensor, Tensor], Tensor]  # the loss of one list
    classes: int | None = None  # logits of so many classes, else scores with 0/1 targets
    one_class_counts: bool = False
    copies: bool = True  # weight 2 is the item twice
    orderless: bool = True
    tolerance: float = 1e-9  # of double precision

    def sample(self, *shape: int, seed: int = 0) -> tuple[Tensor, Tensor]:
        """Scores in (−1, 1), as cosines are, and targets of the given shape."""
        generator = torch.Generator().manual_seed(seed)
        if self.classes is None:
            scores = torch.rand(shape, generator=generator, dtype=torch.float64) * 1.98 - 0.99
            return scores, torch.rand(shape, generator=generator) < 0.4
        logits = torch.randn((*shape, self.classes), generator=generator, dtype=torch.float64)
        return logits, torch.randint(0, self.classes, shape, generator=generator)


def differences(scores, target):
    """(positives, negatives) s_i − s_j."""
    return scores[target][:, None] - scores[~target]


def smooth_ap(scores, target):
    precisions = []
    for i in range(len(scores)):
        if target[i]:
            others = torch.arange(len(scores)) != i
            above = torch.sigmoid((scores - scores[i]) / 0.01)
            right = 1 + above[others & target].sum()
            precisions.append(right / (right + above[others & ~target].sum()))
    return 1 - torch.stack(precisions).mean()


def histogram_ap(nodes):
    def dense(scores, target):
        centers = torch.linspace(1, -1, nodes, dtype=scores.dtype)
        pulse = (1 - (scores - centers[:, None]).abs() / (2 / (nodes - 1))).clamp_min(0)
        positives = pulse[:, target].sum(1)
        ap = 0
        for m in range(nodes):
            reached = pulse[: m + 1].sum()
            if reached > 0:
                ap = ap + positives[: m + 1].sum() / reached * positives[m]
        return 1 - ap / target.sum()

    return dense


def blackbox_ap(scores, target):
    lam, margin = 4.0, 0.02
    shifted = scores.detach() - margin / 2 * torch.where(target, 1.0, -1.0)

    def ranks(s):
        return (s >= s[:, None]).double().mean(1)

    rank, among = ranks(shifted), ranks(shifted[target]) * target.sum() / len(scores)
    slope = torch.zeros_like(shifted)
    slope[target] = among / rank[target] ** 2 / target.sum()
    gradient = (ranks(shifted + lam * slope) - rank) / lam
    value = 1 - (among / rank[target]).mean()
    return value + (gradient * (scores - scores.detach())).sum()


def sodeep_ap(scores, target):
    """The LSTM by its equations (gates i, f, g, o), both directions, then the linear layer."""
    weights = {name: value.double() for name, value in SoDeepAP().sorter.state_dict().items()}
    items = torch.cat([scores[target], scores[~target]])
    items = (items - items.mean().detach()) / items.std(unbiased=False).detach()
    read = torch.tanh(items[:, None] * weights["steps.weight"][:, 0] + weights["steps.bias"])
    length = torch.full_like(items, len(items)).log()[:, None]

    def direction(sequence, suffix):
        w, u, b, c = (
            weights[f"lstm.{kind}_l0{suffix}"]
            for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        hidden = cell = torch.zeros(u.shape[1], dtype=torch.float64)
        states = []
        for x in sequence:
            i, f, g, o = (w @ x + b + u @ hidden + c).chunk(4)
            cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
            hidden = o.sigmoid() * cell.tanh()
            states.append(hidden)
        return torch.stack(states)

    sequence = torch.cat([read, length], dim=1)
    forth, back = direction(sequence, ""), direction(sequence.flip(0), "_reverse").flip(0)
    ranks = torch.cat([forth, back, read], dim=1) @ weights["out.weight"][0] + weights["out.bias"]
    return ranks[: int(target.sum())].mean()


def auc_sigmoid(scores, target):
    return (1 / (1 + torch.exp(2 * differences(scores, target)))).mean()


def auc_huber(scores, target):
    x, tau = differences(scores, target), 0.3
    inside = ((1 - x / tau) ** 2).where(x < tau, torch.zeros_like(x))
    return torch.where(x < 0, 1 - 2 * x / tau, inside).mean()


def contrastive(scores, target):
    near = (scores[~target] - 0.5).clamp_min(0)
    return torch.cat([1 - scores[target], near]).mean()


def triplet(scores, target):
    return (0.1 - differences(scores, target)).clamp_min(0).mean()


def triplet_violating(scores, target):
    slack = 0.1 - differences(scores, target)
    violating = slack[slack > 0]
    return violating.mean() if len(violating) else 0 * slack.sum()


def multi_similarity(epsilon):
    def dense(scores, target):
        positives, negatives = scores[target], scores[~target]
        if epsilon is not None:
            hard = positives < negatives.max() + epsilon, negatives > positives.min() - epsilon
            positives, negatives = positives[hard[0]], negatives[hard[1]]
        pulled = torch.log(1 + torch.exp(-2 * (positives - 0.5)).sum()) / 2
        return pulled + torch.log(1 + torch.exp(50 * (negatives - 0.5)).sum()) / 50

    return dense


def item_losses(loss):
    """The mean over items of a loss of the probability of the right answer."""

    def dense(scores, target):
        p = 1 / (1 + torch.exp(-scores))
        return loss(torch.where(target, p, 1 - p), target).mean()

    return dense


def class_balanced(p, target):
    effective = torch.tensor([(1 - 0.99**n) / (1 - 0.99) for n in (900, 100)], dtype=p.dtype)
    weights = (1 / effective) / (1 / effective).sum() * 2
    return -weights[target.long()] * p.log()


def focal(p, target):
    return -torch.where(target, 0.25, 0.75) * (1 - p) ** 2 * p.log()


def ldam(reweighted):
    def dense(logits, target):
        counts = torch.tensor(COUNTS).double()
        margins = 1 / counts.sqrt().sqrt()
        margins = margins * (0.5 / margins.max())
        weights = (1 - 0.9999) / (1 - 0.9999**counts)
        weights = weights / weights.sum() * len(counts)
        hot = nn.functional.one_hot(target, len(counts))
        shifted = 30 * (logits - hot * margins)
        return nn.functional.cross_entropy(shifted, target, weights if reweighted else None)

    return dense


def deferred():
    loss = LDAM(COUNTS, defer=160)
    loss.set_epoch(160)
    return loss


def multi_class_auc(softmax):
    def dense(logits, target):
        f = logits.exp() / logits.exp().sum(1, keepdim=True) if softmax else logits
        pairs = []
        for a in target.unique():
            for b in target.unique():
                if a != b:
                    x = f[target == a, a][:, None] - f[target == b, a]
                    pairs.append(((1 - x) ** 2).mean())
        return torch.stack(pairs).mean()

    return dense


PROXIES = torch.tensor(
    [[2.0, 0.3, 0.0, -0.1], [0.0, 0.5, 0.1, 0.0], [0.2, 0.0, 1.0, 0.1], [-0.3, 0.0, 0.2, 1.5]]
)


def with_proxies(make, **options):
    """A loss of embeddings of dimension 4 and the 4 proxies above."""

    def made():
        loss = make(4, 4, **options)
        loss.proxies.data.copy_(PROXIES)
        return loss

    return made


def proxy_cosine(embedding, proxy):
    proxy = proxy.to(embedding.dtype)
    return (embedding * proxy).sum() / (embedding.square().sum() * proxy.square().sum()).sqrt()


def proxy_anchor(embeddings, labels):
    pulls, pushes = [], []
    for number, proxy in enumerate(PROXIES):
        near, far = [], []
        for embedding, label in zip(embeddings, labels, strict=True):
            cosine = proxy_cosine(embedding, proxy)
            if label == number:
                near.append(torch.exp(-32 * (cosine - 0.1)))
            else:
                far.append(torch.exp(32 * (cosine + 0.1)))
        pulls += [torch.log(1 + sum(near))] if near else []
        pushes += [torch.log(1 + sum(far)) if far else torch.zeros((), dtype=embeddings.dtype)]
    return sum(pulls) / len(pulls) + sum(pushes) / 4


def normalized_softmax(embeddings, labels):
    losses = []
    for embedding, label in zip(embeddings, labels, strict=True):
        logits = [proxy_cosine(embedding, proxy) / 0.05 for proxy in PROXIES]
        losses.append(torch.log(sum(logit.exp() for logit in logits)) - logits[int(label)])
    return sum(losses) / len(losses)


def arcface(embeddings, labels):
    losses = []
    for embedding, label in zip(embeddings, labels, strict=True):
        cosines = [proxy_cosine(embedding, proxy) for proxy in PROXIES]
        angle = torch.acos(cosines[int(label)])
        beyond = angle + 0.5 >= math.pi
        line = cosines[int(label)] - 0.5 * math.sin(0.5)
        cosines[int(label)] = line if beyond else torch.cos(angle + 0.5)
        logits = [64 * cosine for cosine in cosines]
        losses.append(torch.stack(logits).logsumexp(0) - logits[int(label)])
    return sum(losses) / len(losses)


CASES = [
    Case("SmoothAP", SmoothAP, smooth_ap, tolerance=1e-6),
    Case("FastAP", FastAP, histogram_ap(11)),
    Case("HistogramAP", HistogramAP, histogram_ap(20)),
    Case("BlackBoxAP", BlackBoxAP, blackbox_ap),
    Case("SoDeepAP", SoDeepAP, sodeep_ap, copies=False, orderless=False, tolerance=1e-5),
    Case("AUCSigmoid", lambda: AUCSigmoid(2.0), auc_sigmoid, tolerance=1e-6),
    Case("AUCHuber", lambda: AUCHuber(0.3), auc_huber),
    Case("Contrastive", Contrastive, contrastive),
    Case("Triplet", Triplet, triplet),
    Case("Triplet, violating", lambda: Triplet(violating_only=True), triplet_violating),
    Case("MultiSimilarity", MultiSimilarity, multi_similarity(0.1)),
    Case("MultiSimilarity, all", lambda: MultiSimilarity(epsilon=None), multi_similarity(None)),
    Case("CrossEntropy", CrossEntropy, item_losses(lambda p, _: -p.log()), one_class_counts=True),
    Case(
        "ClassBalanced",
        lambda: ClassBalanced((900, 100), 0.99),
        item_losses(class_balanced),
        one_class_counts=True,
    ),
    Case("Focal", lambda: Focal(alpha=0.25), item_losses(focal), one_class_counts=True),
    Case("LDAM", lambda: LDAM(COUNTS), ldam(False), classes=4, one_class_counts=True),
    Case("LDAM, DRW", deferred, ldam(True), classes=4, one_class_counts=True),
    Case(
        "ProxyAnchor",
        with_proxies(ProxyAnchor),
        proxy_anchor,
        classes=4,
        one_class_counts=True,
        tolerance=1e-6,
    ),
    Case(
        "NormalizedSoftmax",
        with_proxies(NormalizedSoftmax),
        normalized_softmax,
        classes=4,
        one_class_counts=True,
        tolerance=1e-6,
    ),
    Case(
        "ArcFace",
        with_proxies(ArcFace),
        arcface,
        classes=4,
        one_class_counts=True,
        tolerance=1e-6,
    ),
    Case("MultiClassAUC", MultiClassAUC, multi_class_auc(True), classes=4),
    Case(
        "MultiClassAUC, logits",
        lambda: MultiClassAUC(softmax=False),
        multi_class_auc(False),
        classes=4,
    ),
]
