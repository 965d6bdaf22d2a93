"""The part that all metrics share: from a kernel on ranked lists to a function of scores."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypedDict, TypeVar, get_type_hints

import torch
from torch import Tensor

from rankwise.checks import require_count, require_one_of, warn_caller
from rankwise.eager import eager_only
from rankwise.metrics.inputs import Array, Average, Items, NumpyArray, Ties, from_tensor, read_items
from rankwise.metrics.intervals import mean_over_lists
from rankwise.metrics.ranking import Ranking, rank_items
from rankwise.pairs.ragged import size_classes

F = TypeVar("F", bound=Callable[..., object])

BLOCK = 2**22  # items worked on at a time: bounds the memory of the intermediate results
BIG = 50_000  # items from which counting without a full sort pays


@dataclass(frozen=True)
class Kernel:
    """The computation of a metric on lists that are already ranked."""

    function: Callable[..., Tensor]  # (ranking, **options) -> (rows,) values
    check: Callable[..., None] | None = None  # (**options): raises, before there are any data
    graded: bool = False  # targets are relevances >= 0 rather than classes
    pairs: bool = True  # compares positives with negatives, so it needs both
    name: str | None = None  # for `rankwise.metric`, where it is not that of the function
    pooled: Average = "micro"  # the word by which a caller asks for one list of all items
    shortcut: Callable[[NumpyArray, NumpyArray, Ties], float] | None = None
    depth: Callable[..., float] | None = None  # (ranking, **options): the last rank that matters
    # Whether its derivative by the masses is that of the metric. Not where a threshold is chosen
    # among levels: it moves with the masses, by steps.
    smooth: bool = True
    higher_is_better: bool = True
    # (ranking, apart, **options): a lower bound where positives of these levels may not be tied,
    # for a metric that gains by their being tied
    worst: Callable[..., Tensor] | None = None
    least: float = 0.0  # the smallest value there is, −inf where it may be far below 0
    unlabeled: bool = False  # items may have no label: a target below 0
    every_item: bool = False  # works rank by rank, so a long list cannot be a few counts
    # Whether the worst and the best order of tied items bound it, inside of [least, 1].
    ordered: bool = True

    @property
    def takes_counts(self) -> bool:
        """Whether counts of two classes on each level are all that the value depends on."""
        return not (self.graded or self.unlabeled or self.every_item)

    @property
    def takes_buckets(self) -> bool:
        """Whether orders inside a bucket of scores bound it: not where a threshold is chosen."""
        return self.takes_counts and self.smooth and self.ordered

    def checked(self, items: Items) -> Items:
        """Return the items with every value checked for this metric."""
        return items.checked(graded=self.graded, unlabeled=self.unlabeled)

    @property
    def per_list(self) -> Average:
        """The word by which a caller asks for the mean over lists."""
        return "macro" if self.pooled == "micro" else "micro"

    def __call__(
        self, ranking: Ranking, *, positives_alone: bool = False, **options: object
    ) -> Tensor:
        """Return one value per list, NaN for a list of only one class (or no relevant item).

        With ``positives_alone`` a list of positives alone has a value, unless ``pairs``.
        """
        if ranking.levels == 0:
            return ranking.weight.new_full((len(ranking.weight),), math.nan)
        values = self.function(ranking, **options)
        if self.graded:
            return values
        if self.unlabeled:
            n_positives = ranking.of_target(1).sum(-1, keepdim=True)
            n_negatives = ranking.mass.sum(-1, keepdim=True) - n_positives
        else:
            n_positives, n_negatives = ranking.n_positives, ranking.n_negatives
        undefined = n_positives == 0
        if self.pairs or not positives_alone:
            undefined = undefined | (n_negatives == 0)
        return values.masked_fill(undefined.squeeze(-1), math.nan)


class Shared(TypedDict, Generic[Array], total=False):
    """The arguments that all metrics share, described in :mod:`rankwise.metrics`."""

    mask: Array | None
    groups: Array | None
    weight: Array | None
    ties: Ties
    average: Average


_kernels: dict[Callable[..., object], Kernel] = {}


def computed_by(kernel: Kernel) -> Callable[[F], F]:
    """Register the kernel of a public metric, and show the shared arguments in its signature."""

    def register(metric: F) -> F:
        _kernels[metric] = kernel
        defaults = {"ties": "standard", "average": kernel.per_list}
        shared = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=defaults.get(name), annotation=hint
            )
            for name, hint in get_type_hints(Shared).items()
        ]
        signature = inspect.signature(metric)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        vars(metric)["__signature__"] = signature.replace(parameters=[*own, *shared])
        del metric.__annotations__["shared"]
        metric.__annotations__.update(get_type_hints(Shared))
        return metric

    return register


def evaluate(
    metric: Callable[..., object],
    scores: Array,
    target: Array,
    shared: Shared[Array],
    **options: object,
) -> Array:
    """Return the value of a metric with its own ``options`` and the ``shared`` arguments."""
    unknown = shared.keys() - Shared.__annotations__.keys()
    if unknown:
        name = metric.__name__
        raise TypeError(f"{name}() got an unexpected keyword argument {min(unknown)!r}")
    kernel = _kernels[metric]
    ties, average = shared.get("ties", "standard"), shared.get("average", kernel.per_list)
    data = (shared.get("mask"), shared.get("groups"), shared.get("weight"))
    return Setting(kernel, ties, average, options)(scores, target, *data)


def require_k(k: int) -> None:
    """Check the options of a metric whose only option is the number of first ranks."""
    require_count("k", k)


def require_cut(k: int | None) -> None:
    """Check the last rank that counts; with None all ranks count."""
    if k is not None:
        require_count("k", k)


@dataclass(frozen=True)
class Setting:
    """A metric with all its options chosen."""

    kernel: Kernel
    ties: Ties
    average: Average
    options: dict[str, Any]
    positives_alone: bool = False  # trec_eval's rule: every list with a positive has a value

    def __post_init__(self) -> None:
        require_one_of("ties", self.ties, ("standard", "against"))
        require_one_of("average", self.average, ("macro", "micro", "none"))
        if self.kernel.check is not None:
            self.kernel.check(**self.options)

    @eager_only
    def __call__(self, scores: Array, target: Array, *data: Array | None) -> Array:
        """Return the value of the metric; ``data`` are mask, groups and weight."""
        values = self.values(read_items(scores, target, *data, pooled=self.pools))
        return from_tensor(self.summary(values), scores)

    @property
    def pools(self) -> bool:
        """Whether all items are pooled into one list."""
        return self.average == self.kernel.pooled

    def values(self, items: Items) -> Tensor:
        """Return one value per list: shape ``scores.shape[:-1]``, or by ascending group id."""
        if self.pools:
            items = items.pooled()
        plain = items.mask is None and items.groups is None and items.weight is None
        whole = all(value is None for value in self.options.values())  # no cut
        big = plain and whole and items.scores.ndim == 1 and len(items.scores) >= BIG
        if big and self.kernel.shortcut is not None and items.scores.device.type == "cpu":
            target = items.target.float() if items.target.dtype == torch.bfloat16 else items.target
            value = self.kernel.shortcut(items.scores.numpy(), target.numpy(), self.ties)
            if not math.isnan(value):  # else the checks below say what is wrong
                return torch.tensor(value, dtype=torch.float64)
        items = self.kernel.checked(items)
        if items.groups is None:
            return self._rows(items).reshape(items.scores.shape[:-1])
        lists = len(torch.unique(items.groups))
        values = torch.empty(lists, dtype=torch.float64, device=items.groups.device)
        weight = torch.ones_like(items.scores) if items.weight is None else items.weight
        # Lists of similar length are rows of one tensor, padded with items of weight zero.
        for places, (side,) in size_classes(items.groups):
            scores, target = side.take(items.scores, -torch.inf), side.take(items.target)
            values[places] = self._rows(Items(scores, target, weight=side.take(weight)))
        return values

    def summary(self, values: Tensor) -> Tensor:
        """Return the mean over lists, or the values, with a warning for undefined ones."""
        mean = mean_over_lists(values)
        if mean.left_out:
            lists = f"{mean.left_out} of {values.numel()} lists"
            why = "no relevant item" if self.kernel.graded else "only one class"
            warn_caller(f"{lists} have {why} and are left out of the mean")
        return values if self.average == "none" else values.new_tensor(mean.mean)

    def _rows(self, items: Items) -> Tensor:
        *leading, length = items.scores.shape
        shape = (math.prod(leading), length)
        scores, target = items.scores.reshape(shape), items.target.reshape(shape)
        weight = None if items.weight is None else items.weight.reshape(shape)
        values = scores.new_empty(shape[0], dtype=torch.float64)
        step = max(1, BLOCK // max(1, length))
        for start in range(0, shape[0], step):
            rows = slice(start, start + step)
            present = None if weight is None else weight[rows]
            ranking = rank_items(scores[rows], target[rows], present, self.ties)
            values[rows] = self.kernel(
                ranking, positives_alone=self.positives_alone, **self.options
            )
        return values


def setting_of(metric: Callable[..., object], options: dict[str, object]) -> Setting:
    """Return a public metric with the given options and the defaults of the others."""
    if metric not in _kernels:
        from rankwise import metrics  # noqa: PLC0415  (the package that this module is part of)

        # A metric is registered when it is first loaded: ask for all of them.
        names = [name for name in metrics.__all__ if getattr(metrics, name) in _kernels]
        known = ", ".join(names)
        raise ValueError(f"metric must be one of rankwise.metrics: {known}; got {metric!r}")
    chosen = inspect.signature(metric).bind(None, None, **options)
    chosen.apply_defaults()
    own, given = chosen.arguments, ("scores", "target", *Shared.__annotations__)
    only_its = {name: value for name, value in own.items() if name not in given}
    return Setting(_kernels[metric], own["ties"], own["average"], only_its)
