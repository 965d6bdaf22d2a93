"""scikit-learn's own checks, all of them, without a single expected failure.

At the default rule, the best F1, ``predict`` is not the larger of the two probabilities, which one
of the checks wants; a threshold of 0.5 is the rule that is.
"""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from rankwise.estimators import LinearRanker, NeuralRanker

ESTIMATORS = [
    LinearRanker(threshold=0.5, max_iter=30),
    NeuralRanker(
        threshold=0.5,
        hidden=(8,),
        epochs=25,
        warm_start_epochs=15,
        batch_size=256,
        learning_rate=0.03,
        random_state=0,
    ),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    check(estimator)
