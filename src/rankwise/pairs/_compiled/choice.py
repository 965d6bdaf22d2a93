"""When sums are compiled. Numba is imported here, at the first sum that is."""

from __future__ import annotations

from torch import Tensor

from rankwise._jit import is_available
from rankwise.eager import eager_only
from rankwise.extras import require
from rankwise.pairs._second import PairForms
from rankwise.pairs.rows import PairInput, Rows

_MANY = 1 << 13  # items from which numba is worth its import
_MOST = 2**31 - 1  # items of a side: their places are 32-bit integers


def can_compile(given: Rows | PairInput) -> bool:
    """Return whether sums can be compiled, and are worth it."""
    many = given.upper.numel() + given.lower.numel() >= _MANY
    return many and _is_possible(given) and is_available()


def require_compiled(given: Rows | PairInput) -> None:
    """Raise unless sums can be compiled."""
    require("rankwise.pairs", "numba")
    if not (_is_possible(given) and is_available()):
        raise ValueError(
            'method="compiled" needs scores on the CPU, fewer than 2³¹ a side, and a numba that is '
            f"not switched off, got {given.upper.numel()} and {given.lower.numel()} scores on "
            f"{given.upper.device}; use another method"
        )


@eager_only
def compiled_sum(forms: PairForms, rows: Rows) -> Tensor:
    """Return Σ_j weight_j · ℓ(upper_i − lower_j) of every upper, (rows, n⁺)."""
    from rankwise.pairs._compiled.autograd import CompiledSum  # noqa: PLC0415
    from rankwise.pairs._compiled.layout import layout_of_rows  # noqa: PLC0415

    layout = layout_of_rows(rows.upper, rows.lower)
    return CompiledSum.apply(forms, layout, rows.upper, rows.lower, rows.weight)


@eager_only
def compiled_sum_of_groups(
    forms: PairForms, few: int, given: PairInput, groups: tuple[Tensor, Tensor]
) -> Tensor | None:
    """Return Σ_j weight_j · ℓ(upper_i − lower_j) of every upper, (n⁺,), over its group.

    None where all lists are of one size, with at most ``few`` pairs for a score: all pairs are then
    cheaper. Those of different sizes, padded to rectangles, are not.
    """
    from rankwise.pairs._compiled.autograd import CompiledSum  # noqa: PLC0415
    from rankwise.pairs._compiled.layout import layout_of_groups  # noqa: PLC0415

    layout = layout_of_groups(*groups, given.lower_mask)
    if few and layout.has_few_pairs(few):
        return None
    return CompiledSum.apply(forms, layout, given.upper, given.lower, given.weight)


def _is_possible(given: Rows | PairInput) -> bool:
    fits = max(given.upper.numel(), given.lower.numel()) <= _MOST
    return fits and given.upper.device.type == "cpu"
