"""The objective of a run by its name, and how it wants its lists."""

from __future__ import annotations

import torch

from rankwise.errors import UsageError
from rankwise.naming import objective
from rankwise.objectives import Objective
from rankwise.tasks.recommendation.pairs import Pairs
from rankwise.tasks.recommendation.settings import Settings

# Names that rankwise.objective does not have: what recommenders call these two.
_NAMES = {
    "softmax": "listnet(target_distribution=uniform)",
    "bpr": "auc(surrogate=logistic)",  # Rendle et al. 2009
}


def by_interaction(objective: str, lists: str) -> bool:
    """Whether a list is one positive of a user, rather than all of them."""
    return objective in _NAMES if lists == "auto" else lists == "interaction"


def warm_starts(settings: Settings) -> bool:
    """Whether softmax comes first: metrics start flat, where no item is yet in the first ranks."""
    return settings.warm_start > 0 and settings.objective not in _NAMES


def loss_of(name: str, positives: Pairs) -> Objective:
    """The objective for these positives to be learned from.

    Users are the lists that it may remember, positive pairs the items.
    """
    written = _NAMES.get(name, name)
    users, pairs, items = positives.n_users, len(positives), positives.n_items
    try:
        try:
            made = objective(written, num_items=max(1, pairs), num_lists=users)
        except ValueError:  # maybe for want of the prior, which for others is that of each list
            prior = min(max(pairs / (users * items), 1e-9), 0.5)
            made = objective(written, num_items=max(1, pairs), num_lists=users, prior=prior)
    except ValueError as error:
        unknown = str(error).startswith("no objective")
        hint = f"; there are also {' and '.join(_NAMES)}" if unknown else ""
        raise UsageError(f"{error}{hint}") from None
    if not isinstance(made, Objective):
        raise UsageError(f"objective {name!r} is not one of lists of scores")
    _try(name, made)
    return made


def _try(name: str, loss: Objective) -> None:
    """One small list: an objective of classes or of embeddings cannot rank it."""
    scores = torch.tensor([[0.3, -0.2, 0.1, 0.0]])
    target = torch.tensor([[1, 0, 0, 0]])
    trained = loss.training
    try:
        loss.eval()(
            scores,
            target,
            weight=torch.ones(1, 4),
            list_ids=torch.zeros(1, dtype=torch.long),
            item_ids=torch.zeros(1, 4, dtype=torch.long),
        )
    except (ValueError, TypeError, RuntimeError, IndexError) as error:
        why = " ".join(str(error).split())
        raise UsageError(f"objective {name!r} does not rank lists of scores: {why}") from None
    finally:
        loss.train(trained)
