"""The arms of every task: a new arm is one line of its table.

Reference losses first; the best of them on validation is what the finalists are compared with.
``log`` is log(1 + x) of the odds x of a positive, ``ap`` is x/(1 + x), ``log_to_ap`` goes from the
first to the second in half of the training. ``auto`` divides the scores by their spread.
"""

from __future__ import annotations

from reproductions.outer.problem import REFERENCE, Arm

RECOMMENDATION, RETRIEVAL, LONG_TAIL, TABLES, RANKING = (
    "recommendation",
    "retrieval",
    "longtail",
    "tables",
    "ranking",
)

_OUTER = {"ap": "", "log": ", outer=log", "log_to_ap": ", outer=log_to_ap, outer_steps={steps}"}
_SURROGATES = {
    "huber": "one_sided_huber(.3)",
    "squared hinge": "squared_hinge(1)",
    "logistic": "logistic",
    "exponential": "exponential",
}


def _ap(surrogate: str, outer: str, scale: str = "auto", **more: str) -> str:
    """AP of the batch with a surrogate, an outer function and a scale of the scores."""
    given = "".join(f", {name}={value}" for name, value in more.items())
    inner = _SURROGATES.get(surrogate, surrogate)
    return f"ap(false_positives={inner}{_OUTER[outer]}, score_scale={scale}{given})"


def _precision(scale: str, outer: str = "log") -> str:
    """−log precision: exponentials, ranks among the positives counted, the gain as printed."""
    return _ap("exponential", outer, scale, true_positives="zero_one", gain="fixed")


def _grid() -> list[Arm]:
    """Surrogate × outer function with automatic scale, for every task."""
    some = [("huber", _OUTER), ("squared hinge", ("ap", "log")), ("logistic", ("ap", "log"))]
    return [
        Arm(f"{surrogate}, {outer}", surrogate, _ap(surrogate, outer))
        for surrogate, outers in some
        for outer in outers
    ]


def _published(soprc: str, stable: str) -> list[Arm]:
    """The two published losses, and the same with other outer functions."""
    losses = {"SOPRC": soprc, "StableAP": stable}
    forms = [("SOPRC", "log"), ("SOPRC", "log_to_ap"), ("StableAP", "log")]
    first = [Arm(name, name, text) for name, text in losses.items()]
    first += [
        Arm(f"{name}, annealed", name, text.replace("gain=fixed", "gain=annealed"))
        for name, text in losses.items()
    ]
    return first + [
        Arm(f"{name}, {outer}", name, losses[name][:-1] + _OUTER[outer] + ")")
        for name, outer in forms
    ]


# NDCG by exponentials, every relevant item with a list of its own.
_NDCG = "ndcg(surrogate=exponential, competitors=negatives{})"

PLAIN = ("softmax", "SupCon", "cross-entropy", "listnet")
"""How the names of the usual losses begin that the goal compares with, one for each task."""

PUBLISHED = ("SOPRC", "StableAP")
"""Arms that are always among the finalists."""

# As their papers have them, for cosines; for logits with the widths of the study longtail.
_COSINES = _published(
    "soprc(score_scale=1, tau_fpr=.1, tau_tpr=.001, gain=fixed, semi_variance=[1, 5])",
    "stable_ap(score_scale=1, width=2, tau=.1, gain=fixed)",
)
_LOGITS = _published("soprc(tau_fpr=1, gain=fixed)", "stable_ap(tau=.5, gain=fixed)")


def _recommendation() -> list[Arm]:
    softmax, own = "softmax", _precision("1")
    arms = [Arm(f"softmax, τ = {t:g}", REFERENCE, softmax, t) for t in (0.2, 0.25, 0.3)]
    arms += [Arm("softmax, users, τ = 0.2", REFERENCE, softmax, 0.2, "users")]
    arms += [Arm(f"−log precision, τ = {t:g}", "exponential", own, t) for t in (0.2, 0.25, 0.3)]
    arms += [Arm("−log precision, users, τ = 0.2", "exponential", own, 0.2, "users")]
    for outer in ("ap", "log_to_ap"):
        arms += [Arm(f"exponential, {outer}, τ = 0.2", "exponential", _precision("1", outer), 0.2)]
    arms += [Arm(f"NDCG, τ = {t:g}", "ndcg", _NDCG.format(""), t) for t in (0.2, 0.25, 0.3)]
    arms += [Arm("NDCG, log, τ = 0.25", "ndcg", _NDCG.format(", outer=log"), 0.25)]
    return [*arms, *_grid(), *_COSINES]


def _retrieval() -> list[Arm]:
    arms = [Arm(f"SupCon, τ = {t}", REFERENCE, f"sup_con(temperature={t})") for t in (".1", ".2")]
    arms += [
        Arm(f"−log precision, τ = {t}", "exponential", _precision(t)) for t in (".05", ".1", ".2")
    ]
    for outer in ("ap", "log_to_ap"):
        arms += [Arm(f"exponential, {outer}, τ = .1", "exponential", _precision(".1", outer))]
    arms += [Arm("−log precision, auto", "exponential", _precision("auto"))]
    batch = _precision(".1")[:-1] + ", prior=None)"
    arms += [Arm("−log precision, τ = .1, share of the batch", "exponential", batch)]
    for outer in _OUTER:
        own = _ap("one_sided_huber(.1)", outer, "1")
        arms += [Arm(f"huber, {outer}, cosines", "huber", own)]
    arms += [Arm("logistic, log, τ = .1", "logistic", _ap("logistic", "log", ".1"))]
    return [*arms, *_grid(), *_COSINES]


def _classification(scores: str) -> list[Arm]:
    """What long tails and tables share: two classes, logits; ``scores`` names the fixed scale."""
    arms = [Arm("cross-entropy", REFERENCE, "cross_entropy")]
    arms += [Arm(f"−log precision, {scores}", "exponential", _precision("1"))]
    arms += [Arm("−log precision, auto", "exponential", _precision("auto"))]
    for outer in ("ap", "log_to_ap"):
        name = f"exponential, {outer}, {scores}"
        arms += [Arm(name, "exponential", _precision("1", outer))]
    arms += [Arm("exponential, log, annealed gain", "exponential", _ap("exponential", "log", "1"))]
    arms += [Arm(f"logistic, log, {scores}", "logistic", _ap("logistic", "log", "1"))]
    return [*arms, *_grid(), *_LOGITS]


def _long_tail() -> list[Arm]:
    arms = _classification("logits")
    cosine = [
        Arm("cross-entropy, cosine head", REFERENCE, "cross_entropy", head="cosine"),
        Arm("−log precision, cosine head", "exponential", _precision("1"), head="cosine"),
        Arm("huber, log, cosine head", "huber", _ap("huber", "log"), head="cosine"),
    ]
    focal = [Arm(name, REFERENCE, name) for name in ("focal", "class_balanced")]
    return [*arms[:1], *focal, *cosine, *arms[1:]]


def _tables() -> list[Arm]:
    focal = [Arm("focal", REFERENCE, "focal")]
    wide = _precision("auto").replace("exponential", "exponential(2)")
    own = [*focal, Arm("−log precision, auto / 2", "exponential", wide)]
    arms = _classification("logits")
    return [*arms[:1], *own, *arms[1:]]


def _ranking() -> list[Arm]:
    names = ("listnet", "lambda_loss", "lambda_loss@10", "listmle")
    arms = [Arm(name, REFERENCE, name) for name in names]
    uniform = "listnet(target_distribution=uniform, competitors=negatives)"
    arms += [Arm("softmax over negatives", REFERENCE, uniform)]
    ndcg = {
        "ndcg": "ndcg",
        "ndcg@10": "ndcg@10",
        "ndcg, squared hinge": "ndcg(surrogate=squared_hinge(1))",
        "ndcg, exponential": "ndcg(surrogate=exponential)",
        "ndcg, exponential, log": "ndcg(surrogate=exponential, outer=log)",
        "ndcg, exponential, negatives": _NDCG.format(""),
        "ndcg, exponential, negatives, log": _NDCG.format(", outer=log"),
    }
    arms += [Arm(name, "ndcg", text) for name, text in ndcg.items()]
    arms += [Arm("−log precision, scores", "exponential", _precision("1"))]
    arms += [Arm("−log precision, auto", "exponential", _precision("auto"))]
    return [*arms, *_grid(), *_LOGITS]


ARMS: dict[str, tuple[Arm, ...]] = {
    RECOMMENDATION: tuple(_recommendation()),
    RETRIEVAL: tuple(_retrieval()),
    LONG_TAIL: tuple(_long_tail()),
    TABLES: tuple(_tables()),
    RANKING: tuple(_ranking()),
}
"""The arms of every task, by their names; at most 28 of a task."""
