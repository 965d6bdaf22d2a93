"""From a kernel on rankings to a metric on what people have: the part all metrics share."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.checks import require_count, require_one_of, warn_caller
from rankwise.eager import eager_only
from rankwise.metrics.inputs import Array, Average, Items, Ties, from_tensor, read_items, to_tensor
from rankwise.metrics.ranking import Ranking, rank_items
from rankwise.pairs.ragged import size_classes

__all__ = [
    "Kernel",
    "ListMean",
    "Setting",
    "computed_by",
    "mean_over_lists",
    "require_k",
    "setting_of",
]

F = TypeVar("F", bound=Callable[..., Any])

BLOCK = 2**22  # items worked on at a time: bounds the memory of the intermediate results
BIG = 50_000  # items from which counting without a full sort pays


def _any_options(**_: Any) -> None:
    """There are none, or all are right."""


@dataclass(frozen=True)
class Kernel:
    """How a metric is computed for lists that are already ranked."""

    function: Callable[..., Tensor]  # (ranking, **options) -> (rows,) values
    check: Callable[..., None] = _any_options  # (**options): raises, before there are any data
    graded: bool = False  # targets are relevances >= 0 rather than classes
    pairs: bool = True  # compares positives with negatives, so it needs both
    pooled: Average = "micro"  # the word by which a caller asks for one list of all items
    shortcut: Callable[[NDArray[Any], NDArray[Any], Ties], float] | None = None

    def __call__(
        self, ranking: Ranking, *, positives_alone: bool = False, **options: Any
    ) -> Tensor:
        """One value per list, NaN where the list has only one class (or no relevant item).

        With ``positives_alone`` a list of positives alone has a value, unless ``pairs``.
        """
        if ranking.levels == 0:
            return ranking.weight.new_full((len(ranking.weight),), math.nan)
        values = self.function(ranking, **options)
        if self.graded:
            return values
        undefined = ranking.n_positives == 0
        if self.pairs or not positives_alone:
            undefined = undefined | (ranking.n_negatives == 0)
        return values.masked_fill(undefined.squeeze(-1), math.nan)


@dataclass(frozen=True)
class ListMean:
    """A mean over lists with what it rests on."""

    mean: float
    count: int  # lists in the mean
    left_out: int  # lists for which the metric is not defined
    standard_error: float  # of the mean, over lists; NaN below two lists


_kernels: dict[Callable[..., Any], Kernel] = {}


def computed_by(kernel: Kernel) -> Callable[[F], F]:
    """Note which kernel a public metric stands on, for resampling and accumulation."""

    def note(metric: F) -> F:
        _kernels[metric] = kernel
        return metric

    return note


def require_k(k: int) -> None:
    """The check of metrics whose only option is the number of first ranks."""
    require_count("k", k)


def mean_over_lists(values: Tensor | NDArray[Any]) -> ListMean:
    """Mean of the defined values, with how many lists it is over and how many were left out."""
    tensor = to_tensor(values).double().flatten()
    defined = tensor[~tensor.isnan()]
    count = len(defined)
    error = float(defined.std()) / math.sqrt(count) if count > 1 else math.nan
    mean = float(defined.mean()) if count else math.nan
    return ListMean(mean, count, len(tensor) - count, error)


@dataclass(frozen=True)
class Setting:
    """A metric with all its options chosen: what is left to give is data."""

    kernel: Kernel
    ties: Ties
    average: Average
    options: dict[str, Any]
    positives_alone: bool = False  # trec_eval's rule: every list with a positive has a value

    def __post_init__(self) -> None:
        require_one_of("ties", self.ties, ("standard", "against"))
        require_one_of("average", self.average, ("macro", "micro", "none"))
        self.kernel.check(**self.options)

    @eager_only
    def __call__(
        self,
        scores: Array,
        target: Array,
        mask: Array | None,
        groups: Array | None,
        weight: Array | None,
    ) -> Array:
        """The value of the metric; the arguments are described in :mod:`rankwise.metrics`."""
        values = self.values(read_items(scores, target, mask, groups, weight, pooled=self.pools))
        return from_tensor(self.summary(values), scores)

    @property
    def pools(self) -> bool:
        """Whether all items are thrown into one list."""
        return self.average == self.kernel.pooled

    def values(self, items: Items) -> Tensor:
        """One value per list: shape ``scores.shape[:-1]``, or one per group by ascending id."""
        if self.pools:
            items = items.pooled()
        big = items.one_plain_list and len(items.scores) >= BIG
        if big and self.kernel.shortcut is not None and items.scores.device.type == "cpu":
            value = self.kernel.shortcut(items.scores.numpy(), _as_numpy(items.target), self.ties)
            if not math.isnan(value):  # else the checks below say what is wrong
                return torch.tensor(value, dtype=torch.float64)
        items = items.checked(graded=self.kernel.graded)
        if items.groups is None:
            return self._rows(items).reshape(items.scores.shape[:-1])
        ids = torch.unique(items.groups)
        values = torch.empty(len(ids), dtype=torch.float64, device=ids.device)
        for members, rows in _rows_of_groups(items, items.groups):
            values[torch.searchsorted(ids, members)] = self._rows(rows)
        return values

    def summary(self, values: Tensor) -> Tensor:
        """The mean over lists, or the values themselves, with a warning for undefined ones."""
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


def setting_of(metric: Callable[..., Any], options: dict[str, Any]) -> Setting:
    """A public metric with the options a caller chose and the defaults of the others."""
    if metric not in _kernels:
        known = ", ".join(function.__name__ for function in _kernels)
        raise ValueError(f"metric must be one of rankwise.metrics: {known}; got {metric!r}")
    chosen = inspect.signature(metric).bind(None, None, **options)
    chosen.apply_defaults()
    own = dict(chosen.arguments)
    for name in ("scores", "target", "mask", "groups", "weight"):
        del own[name]
    return Setting(_kernels[metric], own.pop("ties"), own.pop("average"), own)


def _rows_of_groups(items: Items, groups: Tensor) -> Iterator[tuple[Tensor, Items]]:
    """Lists of similar length as the rows of one rectangle, padding as items of weight zero."""
    weight = torch.ones_like(items.scores) if items.weight is None else items.weight
    for lists in size_classes(groups):
        (side,) = lists.sides
        rows = Items(
            side.take(items.scores, -torch.inf),
            side.take(items.target),
            None,
            None,
            side.take(weight),
        )
        yield lists.groups, rows


def _as_numpy(target: Tensor) -> NDArray[Any]:
    if target.dtype == torch.bfloat16:
        target = target.float()
    array: NDArray[Any] = target.numpy()
    return array
