"""Small statements of the papers that no other test covers, by brute force or by hand.

The rows of ``docs/papers.md`` name these tests as their commands.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations, product

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from rankwise.functional import stable_weights
from rankwise.memory import MovingAverage
from rankwise.metrics import average_precision, pap_at_k
from rankwise.objectives import PApAtK
from rankwise.pairs import OneSidedHuber, ZeroOne
from rankwise.training import MomentumSGD

Array = NDArray[np.float64]


def draws(count: int, seed: int = 0) -> list[tuple[Array, Array, int]]:
    """Scores of positives and of negatives, with a k of at most n⁻."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        positives, negatives = rng.normal(size=rng.integers(1, 6)), rng.normal(size=5)
        found.append((positives, negatives, int(rng.integers(1, 5))))
    return found


def joined(positives: Array, negatives: Array) -> tuple[torch.Tensor, torch.Tensor]:
    scores = torch.from_numpy(np.concatenate([positives, negatives]))
    return scores, torch.arange(len(scores)) < len(positives)


class TestSOPRC:
    @pytest.mark.parametrize("beta", [0.05, 0.3])
    def test_proposition_1(self, beta):
        """Mean and variance of v after T updates, over independent lists with a fixed model."""
        lists, steps = 20_000, 120
        vector = MovingAverage(lists, ema_rate=beta)
        generator = torch.Generator().manual_seed(0)
        for _ in range(steps):
            drawn = 2 + torch.randn(lists, 1, generator=generator)
            vector.update(torch.arange(lists), drawn.requires_grad_())
        assert float(vector.value.mean()) == pytest.approx(2, abs=0.01)
        # The bound is reached as T grows; the variance of φ is 1.
        assert float(vector.value.var()) == pytest.approx(beta / (2 - beta), rel=0.05)

    def test_lemma_3(self):
        """An example is in one of t₀ batches with probability at most t₀n⁺/N⁺, by counting."""
        total, batch, steps = 12, 3, 4
        batches = list(combinations(range(total), batch))
        missed = sum(0 not in chosen for chosen in batches) / len(batches)
        assert missed == pytest.approx(1 - batch / total)
        assert 1 - missed**steps <= steps * batch / total

    def test_the_spectrum_of_theorem_2(self):
        """Eq. 63–66: the eigenvalues of M are LC(1 ± √(1 + β − β²)) and 0."""
        for beta, size in ((0.05, 40), (0.3, 1000)):
            matrix = [[2, 1 - beta, 1 / size], [beta, 0, 1 / size], [0, 0, 0]]
            root = math.sqrt(1 + beta - beta**2)
            found = sorted(np.linalg.eigvals(np.array(matrix)).real)
            assert found == pytest.approx([1 - root, 0, 1 + root], abs=1e-12)

    @pytest.mark.parametrize("lam", [0.5, 1.0, 2.0, 10.0])
    def test_the_steps_of_theorem_4_balance_with_another_exponent(self, lam):
        """n⁺/T = n⁺(Tn⁺)^(λ/(λ+1))/N⁺ gives the printed bound, with (n⁺)^(−λ/(2λ+1)) in T.

        The printed exponent −1/(2λ+1) of T agrees with it for λ = 1 only.
        """
        total, batch = 1e6, 20.0

        def errors(exponent: float) -> tuple[float, float]:
            steps = total ** ((lam + 1) / (2 * lam + 1)) * batch**exponent
            return batch / steps, batch * (steps * batch) ** (lam / (lam + 1)) / total

        bound = total ** (-(lam + 1) / (2 * lam + 1)) * batch ** ((3 * lam + 1) / (2 * lam + 1))
        assert errors(-lam / (2 * lam + 1)) == pytest.approx((bound, bound))
        printed = max(errors(-1 / (2 * lam + 1)))
        assert printed == pytest.approx(bound) if lam == 1 else printed > 1.1 * bound

    def test_the_steps_of_theorem_3_have_the_constant_2_over_mu(self):
        """Remark 3: η_t = (2t+1)/(μ(t+1)²) ≤ C/t holds with C = 2/μ, so λ ≈ 2LC = 4L/μ."""
        t = np.arange(1, 10_000)
        ratio = t * (2 * t + 1) / (t + 1) ** 2
        assert ratio.max() < 2
        assert ratio.max() > 1.99


class TestPApAtK:
    def test_theorem_1(self):
        """Eq. 5: the largest over negatives of the smallest over positives, in either order."""
        for positives, negatives, k in draws(30):
            beta = min(len(positives), k)
            above = (positives[:, None] <= negatives).astype(float)
            upper = list(combinations(range(len(positives)), beta))
            lower = list(combinations(range(len(negatives)), k))
            value = np.array([[above[np.ix_(i, j)].mean() for j in lower] for i in upper])
            scores, target = joined(positives, negatives)
            risk = 1 - float(pap_at_k(scores, target, k=k))
            assert value.min(0).max() == pytest.approx(risk)
            assert value.max(1).min() == pytest.approx(risk)

    def test_ramp_and_average_by_their_subsets(self):
        """Eq. 6 and 10, with the maximum over orderings taken entry by entry (Eq. 4)."""
        for positives, negatives, k in draws(30, seed=1):
            beta = min(len(positives), k)
            hinge = np.maximum(0, 1 - positives[:, None] + negatives)
            upper = list(combinations(range(len(positives)), beta))
            lower = list(combinations(range(len(negatives)), k))
            ramp = max(min(hinge[np.ix_(i, j)].mean() for i in upper) for j in lower)
            mean = np.maximum(0, 1 - positives.mean() + negatives)
            average = max(mean[list(j)].mean() for j in lower)
            scores, target = joined(positives, negatives)
            for form, expected in (("ramp", ramp), ("avg", average)):
                found = float(PApAtK(k, form, score_scale=1)(scores, target))
                assert found == pytest.approx(expected)

    def test_the_risk_is_that_of_all_positives_less_the_lowest(self):
        """Eq. 12 and 13: all positives against the top k, less the worst n⁺ − β of them."""
        for positives, negatives, k in draws(30, seed=2):
            beta = min(len(positives), k)
            lower = list(combinations(range(len(negatives)), k))
            rest = list(combinations(range(len(positives)), len(positives) - beta))
            wrong = (positives[:, None] <= negatives).astype(float)
            value = max(
                min(wrong[:, j].sum() - wrong[np.ix_(i, j)].sum() for i in rest) for j in lower
            )
            scores, target = joined(positives, negatives)
            risk = 1 - float(pap_at_k(scores, target, k=k))
            assert value / (beta * k) == pytest.approx(risk)

    def test_ramp_is_convex_with_at_most_k_positives(self):
        """Proposition 2; for more positives see ``test_not_convex`` of the objective."""
        rng = np.random.default_rng(3)
        target = torch.arange(12) < 4
        for k in (4, 7):
            loss = PApAtK(k, "ramp", score_scale=1)
            for _ in range(50):
                a, b = torch.from_numpy(rng.normal(size=(2, 12)))
                assert loss((a + b) / 2, target) <= (loss(a, target) + loss(b, target)) / 2 + 1e-12


class TestStableAP:
    def test_lemma_2(self):
        """√((1+x)x)/(a+x) ≤ ½(a − a²)^(−1/2) for a ≤ ½, and ≤ (1+B)/(a+B) above."""
        largest = 7.0
        x = np.linspace(1e-6, largest, 20_000)
        for a in np.linspace(0.01, 1, 100):
            value = np.sqrt((1 + x) * x) / (a + x)
            bound = 0.5 * (a - a**2) ** -0.5 if a <= 0.5 else (1 + largest) / (a + largest)
            assert value.max() <= bound + 1e-9
        # At x = a/(1 − 2a) the first bound is reached.
        assert math.sqrt(1.5 * 0.5) / 0.75 == pytest.approx(0.5 * (0.25 - 0.25**2) ** -0.5)

    def test_the_chain_of_equations_1_to_3(self):
        """1 − AP = (1) ≤ (2) ≤ (3): a surrogate above the step, then Jensen's inequality."""
        huber = OneSidedHuber(0.5)
        for positives, negatives, _ in draws(60, seed=4):
            scores, target = joined(positives, negatives)
            upper, lower = scores[target], scores[~target]
            r = ZeroOne().value(upper[:, None] - upper).mean(1)
            rho = len(negatives) / len(positives)

            def saturating(x: torch.Tensor) -> torch.Tensor:
                return x / (1 + x)

            exact = saturating(rho / r * ZeroOne().value(upper[:, None] - lower).mean(1)).mean()
            errors = huber.value(upper[:, None] - lower).mean(1)
            assert float(exact) == pytest.approx(1 - float(average_precision(scores, target)))
            middle = saturating(rho / r * errors).mean()
            assert exact <= middle + 1e-12
            assert middle <= saturating((rho / r * errors).mean()) + 1e-12

    def test_the_mean_of_the_printed_weights_is_bounded_and_that_of_1_over_r_is_not(self):
        """Property 2, and Lemma 3 for ranks 1 … n⁺: why (3) is replaced by Theorem 1."""
        bound = 10.0  # ρB
        limit = math.pi / 4 + (1 + bound) / (1 + 2 * bound)
        harmonic = []
        for n in (10, 1_000, 100_000):
            r = np.arange(1, n + 1) / n
            low = 0.5 * np.maximum(r - r**2, 1e-300) ** -0.5
            weights = np.where(r <= 0.5, low, (1 + bound) / (r + bound))
            assert 1 <= weights.mean() <= limit
            harmonic.append((1 / r).mean())
        assert np.diff(harmonic) == pytest.approx([math.log(100)] * 2, abs=0.05)

    @pytest.mark.parametrize("s", [0.0, 0.4, 1.0])
    def test_lemma_12(self, s):
        """z_{k+1} = z_k − α/(1−β) g_k, and Lemma 14's update rule, for any gradients."""
        rng = np.random.default_rng(5)
        rate, beta = 0.1, 0.8
        gradients = torch.from_numpy(rng.normal(size=(12, 3)))
        theta = torch.nn.Parameter(torch.from_numpy(rng.normal(size=3)))
        optimizer = MomentumSGD([theta], lr=rate, momentum=beta, s=s)
        path = [theta.detach().clone()]
        for gradient in gradients:
            theta.grad = gradient.clone()
            optimizer.step()
            path.append(theta.detach().clone())
        z = [path[0]]
        for k in range(1, len(path)):
            moved = path[k] - path[k - 1] + s * rate * gradients[k - 1]
            z.append(path[k] + beta / (1 - beta) * moved)
        for k, gradient in enumerate(gradients):
            torch.testing.assert_close(z[k + 1], z[k] - rate / (1 - beta) * gradient)
            if k:
                expected = beta * (path[k] - path[k - 1]) - rate * (1 + s * beta) * gradient
                expected = expected + s * rate * beta * gradients[k - 1]
                torch.testing.assert_close(path[k + 1] - path[k], expected)

    def test_lemma_11(self):
        """T_f − T_f̃ is sub-Gaussian, by all signs, with the change of μ⁺ in the constant.

        The proof leaves out that μ⁺ differs between f and f̃, so φ_w̃ is doubled here.
        """
        huber, a, t, width = OneSidedHuber(1.0), 0.5, 1.0, 4.0
        largest = float(huber.maximum(-width, width))
        slope = 2.0  # of ℓ, φ_ℓ
        bound = ((1 + a) / a) ** t  # of w̃
        steep = t * (1 + a) ** t / a ** (t + 1) * slope / largest  # of w̃ in the score
        rng = np.random.default_rng(6)
        signs = torch.tensor(list(product((-1.0, 1.0), repeat=7)), dtype=torch.float64)
        for _ in range(20):
            first = torch.from_numpy(rng.uniform(-1, 1, size=7))
            second = first + torch.from_numpy(rng.uniform(-0.3, 0.3, size=7))
            sums = []
            for scores in (first, second):
                positives, negatives = scores[:3], scores[3:]
                gap = positives - positives.mean()
                weights = stable_weights(huber, gap, width, a, t)
                pairs = weights[:, None] * huber.value(positives[:, None] - negatives)
                both = signs[:, :3, None] + signs[:, None, 3:]
                sums.append((both * pairs).sum((1, 2)) / (2 * 3 * 4))
            constant = (2 * bound * slope + 2 * largest * steep) / 2 * math.sqrt(1 / 3 + 1 / 4)
            apart = float((first - second).abs().max())
            for lam in (0.5, 2.0, 8.0):
                moment = torch.exp(lam * (sums[0] - sums[1])).mean()
                assert float(moment) <= math.exp((constant * lam * apart) ** 2 / 2)


def outer(x: Array) -> Array:
    """h of StableAP for ε = .1."""
    return np.sqrt(0.01 + x / (1 + x))


class TestConcentration:
    """The classical inequalities that the proofs cite, by all outcomes of fair coins."""

    @pytest.mark.parametrize("function", [lambda x: x, outer], ids=["mean", "h of the mean"])
    def test_of_bounded_differences(self, function: Callable[[Array], Array]):
        """StableAP, Lemmas 4, 6 and 7; SOPRC, Lemma 5."""
        n = 10
        coins = np.array(list(product((0.0, 1.0), repeat=n)))
        values = function(coins.mean(1))
        flipped = [np.where(np.arange(n) == k, 1 - coins, coins) for k in range(n)]
        squares = sum(np.abs(function(other.mean(1)) - values).max() ** 2 for other in flipped)
        centered = values - values.mean()
        assert values.var() <= squares / 4 + 1e-12  # Efron–Stein
        for lam in (0.5, 2.0, 8.0):
            assert np.log(np.exp(lam * centered).mean()) <= lam**2 * squares / 8  # sub-Gaussian
        for delta in (0.5, 0.1, 0.01):
            limit = math.sqrt(math.log(1 / delta) * squares / 2)
            assert (centered > limit).mean() <= delta  # McDiarmid

    def test_of_the_largest(self):
        """StableAP, Lemma 5: E max ≤ √(2v log n) for n sub-Gaussian variables, here v = 1."""
        signs = np.array(list(product((-1.0, 1.0), repeat=10)))
        rng = np.random.default_rng(0)
        for n in (2, 8, 64):
            directions = rng.normal(size=(10, n))
            directions /= np.linalg.norm(directions, axis=0)
            assert (signs @ directions).max(1).mean() <= math.sqrt(2 * math.log(n))

    @pytest.mark.parametrize("epsilon", [0.5, 0.1, 0.03])
    def test_covers_of_linear_functions(self, epsilon):
        """StableAP, Definitions 3 and 4: {x ↦ wx, |w| ≤ 1} on [−1, 1] has ⌈1/ε⌉ balls.

        So log N ≤ A log(b/ε) with A = 1 and b = 2, the form that Theorem 5 (2) asks for.
        """
        balls = math.ceil(1 / epsilon)
        centers = -1 + (2 * np.arange(balls) + 1) / balls
        functions = np.linspace(-1, 1, 2_001)
        assert np.abs(functions[:, None] - centers).min(1).max() <= epsilon + 1e-12
        assert 2 * epsilon * (balls - 1) < 2  # fewer balls are not wide enough
        assert math.log(balls) <= math.log(2 / epsilon)
