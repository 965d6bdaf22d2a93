"""Lemma 1 and Theorem 2 of SOPRC as numbers."""

from __future__ import annotations

import numpy as np
import pytest

from rankwise.theory import soprc_lambda, soprc_lemma_1, soprc_theorem_2

SIZES = {"n_positives": 50, "n_negatives": 400, "batch_positives": 8}


def test_the_recurrence_is_the_product_of_the_matrices():
    smoothness, scale, beta = 3.0, 0.2, 0.125
    product = {"+": np.array([0.0, 0, 1]), "-": np.array([0.0, 0, 1])}
    for step in range(1, 41):
        eta = scale / step
        for sign, push, memory in (("+", 1 / 50, 1 / 50), ("-", 8 / 400, 0)):
            matrix = [
                [2 * smoothness * eta, smoothness * (1 - beta) * eta / 50, smoothness * eta * push],
                [smoothness * beta, 0, memory],
                [0, 0, 0],
            ]
            product[sign] = (np.eye(3) + np.array(matrix)) @ product[sign]
    found = soprc_lemma_1(40, smoothness=smoothness, scale=scale, ema_rate=beta, **SIZES)
    assert (found.positive, found.memory_positive) == pytest.approx(tuple(product["+"][:2]))
    assert (found.negative, found.memory_negative) == pytest.approx(tuple(product["-"][:2]))


def test_more_data_make_the_bound_smaller_and_more_steps_larger():
    def bound(steps=20, n=50):
        sizes = SIZES | {"n_positives": n, "n_negatives": 8 * n}
        return soprc_lemma_1(steps, smoothness=2.0, scale=0.1, ema_rate=0.1, **sizes)

    assert bound(n=100).positive < bound().positive < bound(steps=40).positive
    assert bound(n=100).negative < bound().negative < bound(steps=40).negative


def test_lambda_is_the_largest_eigenvalue():
    for beta in (0.05, 0.5, 1.0):
        matrix = 2.5 * 0.4 * np.array([[2, 1 - beta], [beta, 0]])
        found = soprc_lambda(2.5, 0.4, beta)
        assert found == pytest.approx(max(np.linalg.eigvals(matrix).real))


def test_theorem_2_by_hand():
    assert soprc_theorem_2(30, 8, 600, lam=3.0) == pytest.approx(240**0.75 / 600)
    assert soprc_theorem_2(30, 8, 600, lam=0.0) == pytest.approx(1 / 600)


def test_errors_name_the_argument():
    with pytest.raises(ValueError, match=r"^steps must"):
        soprc_lemma_1(0, smoothness=1.0, scale=1.0, ema_rate=0.1, **SIZES)
    with pytest.raises(ValueError, match=r"^scale must"):
        soprc_lemma_1(1, smoothness=1.0, scale=0.0, ema_rate=0.1, **SIZES)
    with pytest.raises(ValueError, match=r"^total must"):
        soprc_theorem_2(3, 2, 0, lam=1.0)
