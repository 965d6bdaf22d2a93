"""Metrics accumulated over batches and processes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import torch
from torch import Tensor, nn

from rankwise.checks import require_one_of, warn_caller
from rankwise.eager import eager_only
from rankwise.metrics._setting import setting_of
from rankwise.metrics.gather import gather_rows, is_distributed
from rankwise.metrics.histogram import ScoreHistogram
from rankwise.metrics.inputs import Array, Items, read_items

Memory = Literal["all", "bounded"]
# The state of an accumulated metric: the items of one list, of lists by id, or only the values
# of lists that came whole.
COLUMNS = {
    "items": ("scores", "target", "weight"),
    "groups": ("scores", "target", "weight", "groups"),
    "lists": ("values",),
}
WORDS = {
    "items": "one-dimensional scores, parts of one list",
    "groups": "scores with groups, parts of many lists",
    "lists": "scores with leading dimensions, whole lists",
}


class Metric(nn.Module):
    """Accumulator of any function of :mod:`rankwise.metrics` over batches and processes.

    One-dimensional updates are parts of *one* list; updates with ``groups`` are parts of lists
    known by id; updates with leading dimensions bring whole lists, of which only the value is kept
    unless ``average`` pools them. :meth:`value` is the metric of the given data alone. The class
    follows ``torchmetrics.Metric``: the state is in ``state_dict`` and moves with ``.to(device)``
    (its precision never changes), and under ``torch.distributed`` ``compute`` returns the value
    over all processes to each of them.

    Args:
        metric: Function of :mod:`rankwise.metrics`, such as :func:`average_precision`.
        memory: ``"all"`` keeps every item of a list. ``"bounded"`` keeps the counts of a
            :class:`ScoreHistogram`, 16 MiB for any number of items of one list of two classes
            without weights: ``compute`` returns the middle of :meth:`bounds`.
        **options: Options of the metric, such as ``k=10`` or ``ties="against"``.

    Example:
        >>> import torch
        >>> from rankwise.metrics import Metric, auroc
        >>> metric = Metric(auroc)
        >>> metric.update(torch.tensor([0.9, 0.8]), torch.tensor([1, 0]))
        >>> metric.update(torch.tensor([0.3, 0.1]), torch.tensor([1, 0]))
        >>> metric.compute().item()  # all four items are one list
        0.75
    """

    higher_is_better: bool
    is_differentiable: bool = False
    anchor: Tensor

    def __init__(
        self, metric: Callable[..., Any], *, memory: Memory = "all", **options: Any
    ) -> None:
        super().__init__()
        require_one_of("memory", memory, ("all", "bounded"))
        self.memory = memory
        for name in ("mask", "groups", "weight"):
            if name in options:
                raise ValueError(f"{name} comes with the data: pass it to update")
        self.metric, self.options = metric, options
        self.setting = setting_of(metric, options)
        self.higher_is_better = self.setting.kernel.higher_is_better
        if memory == "bounded" and not self.setting.kernel.takes_buckets:
            name = metric.__name__
            raise ValueError(
                f"memory='bounded' is for metrics of two classes, got {name}, which needs the items"
            )
        self.register_buffer("anchor", torch.empty(0), persistent=False)  # says which device
        self.reset()

    def reset(self) -> None:
        """Clear the state."""
        self._histogram = ScoreHistogram() if self.memory == "bounded" else None
        self._kind: str | None = None
        self._parts: dict[str, list[Tensor]] = {}

    @eager_only
    def update(
        self,
        scores: Array,
        target: Array,
        *,
        mask: Array | None = None,
        groups: Array | None = None,
        weight: Array | None = None,
    ) -> None:
        """Add a batch."""
        items = read_items(scores, target, mask, groups, weight, pooled=self.setting.pools)
        items = self.setting.kernel.checked(items)
        if self.setting.pools:
            items = items.pooled()
        if self._histogram is not None:
            _require_plain(items, weighted=weight is not None)
            present = slice(None) if items.weight is None else items.weight > 0
            self._histogram.add(items.scores[present], items.target[present])
            return
        if items.scores.ndim > 1:
            self._keep("lists", {"values": self.setting.values(items).flatten()})
            return
        if items.weight is None:
            items = replace(items, weight=torch.ones_like(items.scores))
        kind = "items" if items.groups is None else "groups"
        # A group whose items are all absent is a list too, so its items stay, with weight zero.
        self._keep(kind, {name: getattr(items, name) for name in COLUMNS[kind]})

    @eager_only
    def compute(self) -> Tensor:
        """Return the value over all updates of all processes."""
        if self._histogram is not None:
            low, high = self.bounds()
            return self.anchor.new_tensor((low + high) / 2, dtype=torch.float64)
        kind, columns = self._everything()
        if kind is None:
            warn_caller("compute before update: nothing to rank")
            return self.anchor.new_tensor(float("nan"), dtype=torch.float64)
        if kind == "lists":
            return self.setting.summary(columns["values"])
        # Plain lists have a faster way, which a weight of one everywhere would hide.
        if bool((columns["weight"] == 1).all()):
            del columns["weight"]
        return self.setting.summary(self.setting.values(Items(**columns)))

    def bounds(self) -> tuple[float, float]:
        """Return the least and the greatest value over all updates of all processes.

        Raises:
            ValueError: The metric keeps all items: its value is exact.
        """
        if self._histogram is None:
            raise ValueError("bounds are of memory='bounded'; compute() is exact with 'all'")
        found = self._histogram
        if is_distributed():
            found = ScoreHistogram()
            counts = torch.from_numpy(self._histogram.counts).to(self.device, copy=True)
            torch.distributed.all_reduce(counts)
            found.counts[:] = counts.cpu().numpy()
        if not found.counts.any():
            warn_caller("compute before update: nothing to rank")
        return found.bounds(self)

    def value(
        self,
        scores: Array,
        target: Array,
        *,
        mask: Array | None = None,
        groups: Array | None = None,
        weight: Array | None = None,
    ) -> Array:
        """Return the value of this data alone; the state does not change."""
        return self.setting(scores, target, mask, groups, weight)

    def forward(self, scores: Array, target: Array, **data: Array | None) -> Array:
        """Add a batch and return the value of this batch alone."""
        self.update(scores, target, **data)
        return self.value(scores, target, **data)

    def merge_state(self, incoming_state: Metric) -> None:
        """Add the state of another accumulator of the same metric."""
        other = incoming_state
        mine = (self.metric, self.setting, self.memory)
        if (other.metric, other.setting, other.memory) != mine:
            raise ValueError("incoming_state must be of the same metric with the same options")
        if self._histogram is not None and other._histogram is not None:
            self._histogram += other._histogram
        if other._kind is not None:
            self._keep(other._kind, other._columns(other._kind))

    def clone(self) -> Metric:
        """Return a copy with its own state."""
        return copy.deepcopy(self)

    @property
    def device(self) -> torch.device:
        """The device of the state."""
        return self.anchor.device

    def __repr__(self) -> str:
        """Return the metric with its given options, as `rankwise.metric` reads it."""
        # A number of numpy or torch is shown as one of Python.
        given = {n: v.tolist() if hasattr(v, "tolist") else v for n, v in self.options.items()}
        options = ", ".join(f"{name}={value!r}" for name, value in given.items())
        name = self.setting.kernel.name or self.metric.__name__
        return f"{name}({options})" if options else name

    def _keep(self, kind: str, columns: dict[str, Tensor]) -> None:
        if self._kind not in (None, kind):
            raise ValueError(
                f"this metric holds {WORDS[self._kind or kind]}, the update brings {WORDS[kind]}; "
                "use one kind, or reset() in between"
            )
        self._kind = kind
        for name, column in columns.items():
            # A copy: callers reuse their buffers.
            kept = column.to(self.device, copy=True)
            self._parts.setdefault(name, []).append(kept)

    def _columns(self, kind: str | None) -> dict[str, Tensor]:
        return {name: self._joined(name) for name in COLUMNS[kind]} if kind else {}

    def _joined(self, name: str) -> Tensor:
        parts = self._parts.get(name, [])
        if len(parts) != 1:
            kind = torch.long if name == "groups" else torch.double
            joined = torch.cat(parts) if parts else self.anchor.new_empty(0, dtype=kind)
            self._parts[name] = parts = [joined]
        return parts[0]

    def _everything(self) -> tuple[str | None, dict[str, Tensor]]:
        """Return the kind of the state and its columns, over all processes."""
        if not is_distributed():
            return self._kind, self._columns(self._kind)
        kinds = list(COLUMNS)
        mine = torch.tensor([-1 if self._kind is None else kinds.index(self._kind)])
        codes = gather_rows(mine.to(self.device)).tolist()
        found = [kinds[code] for code in sorted(set(codes)) if code >= 0]
        if len(found) > 1:
            raise ValueError(f"processes hold different kinds of lists: {', '.join(found)}")
        kind = found[0] if found else None
        # A process without data has no dtype of its own: all send the widest, which is exact.
        return kind, {
            name: gather_rows(column.long() if name == "groups" else column.double())
            for name, column in self._columns(kind).items()
        }

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Metric:
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        for parts in self._parts.values():
            parts[:] = [part.to(self.device) for part in parts]
        return self

    def _save_to_state_dict(
        self, destination: dict[str, object], prefix: str, keep_vars: bool
    ) -> None:
        for name, column in self._columns(self._kind).items():
            destination[prefix + name] = column
        if self._histogram is not None:
            destination[prefix + "counts"] = torch.from_numpy(self._histogram.counts.copy())

    def _load_from_state_dict(
        self, state_dict: dict[str, Tensor], prefix: str, *_: object, **__: object
    ) -> None:
        # The default wants the shapes it already has; a metric grows.
        self.reset()
        if self._histogram is not None:
            self._histogram.counts[:] = state_dict[prefix + "counts"].cpu().numpy()
            return
        for kind, names in reversed(COLUMNS.items()):
            if all(prefix + name in state_dict for name in names):
                self._keep(kind, {name: state_dict[prefix + name] for name in names})
                break


def _require_plain(items: Items, *, weighted: bool) -> None:
    """Raise on items that a histogram cannot hold: of several lists, or with weights."""
    if items.scores.ndim > 1 or items.groups is not None or weighted:
        raise ValueError(
            "memory='bounded' is for parts of one list without weights, got "
            f"{'weight' if weighted else 'several lists'}; use memory='all', or pool the lists "
            "by average"
        )
