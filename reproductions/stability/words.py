"""What the report says of the changes and of the twins, from their numbers."""

from __future__ import annotations

from reproductions.sentences import listed, share
from reproductions.stability.measure import Measured


def in_short(measured: Measured) -> str:
    """Return the answer in one sentence."""
    plain, stable = (measured.differences[name][-1] for name in ("plain AP", "StableAP"))
    return (
        f"In a list of {plain.n:,}, one wrong example can change the value of plain AP by "
        f"{plain.worst:.2g} and that of StableAP by {stable.worst:.2g}."
    )


def conclusion(measured: Measured) -> str:
    """The slopes of the worst changes, and how SOPRC's twins stand to those of the others."""
    plain, stable = measured.slopes("plain AP"), measured.slopes("StableAP")
    last = max(measured.plan.steps)
    first, final = (measured.at("SOPRC", last)[k] for k in (0, -1))
    relative = {n: measured.at(n, last)[-1].relative_positive.value for n in measured.stabilities}
    slopes = [measured.slopes(name).positive for name in measured.stabilities]
    below = [name for name in relative if relative[name] < relative["SOPRC"]]
    return (
        f"Worst case found: plain AP has slope {plain.worst:+.2f} in n, StableAP "
        f"{stable.worst:+.2f} over all sizes and {stable.worst_at_end:+.2f} at the end. Twins: "
        f"SOPRC's ε⁺ goes from {first.positive.value:.2g} at N⁺ = {first.n_positives} to "
        f"{final.positive.value:.2g} at {final.n_positives}, slope "
        f"{measured.slopes('SOPRC').positive:+.2f} (the theorem's order is −1); the slopes of all "
        f"losses are {min(slopes):+.2f} to {max(slopes):+.2f}. Relative to the "
        f"way gone it is {final.relative_positive.value:.2g} there, against "
        f"{relative['plain AP']:.2g} for plain AP; {listed(below)} of the {len(relative)} losses "
        f"{'has' if len(below) < 2 else 'have'} a smaller one than SOPRC."
    )


def changes(measured: Measured) -> list[str]:
    """Where plain AP changes most, what random lists show, and StableAP at both ends of n."""
    plain, stable = measured.differences["plain AP"], measured.differences["StableAP"]
    typical = {name: measured.slopes(name).typical for name in measured.differences}
    return [
        f"Plain AP's largest change is {plain[0].worst:.2g} at n = {plain[0].n:,} and "
        f"{plain[-1].worst:.2g} at {plain[-1].n:,}, there in the lists called “{plain[-1].where}”. "
        f"On random lists the slopes of all losses are {min(typical.values()):+.2f} to "
        f"{max(typical.values()):+.2f}.",
        f"StableAP's largest change is {stable[0].worst:.2g} at n = {stable[0].n:,}, where that of "
        f"plain AP is {plain[0].worst:.2g}, and {stable[-1].worst:.2g} at {stable[-1].n:,}, where "
        f"it is {plain[-1].worst:.2g}.",
    ]


def growth(measured: Measured) -> str:
    """For how many losses the distances and the ways grow with the steps."""
    most = max(measured.plan.n_positives)
    short, long = min(measured.plan.steps), max(measured.plan.steps)
    distance = way = 0
    for found in measured.stabilities.values():
        by_steps = {s.steps: s for s in found if s.n_positives == most}
        first, last = by_steps[short], by_steps[long]
        distance += last.positive.value > first.positive.value
        ways = (s.positive.value / s.relative_positive.value for s in (first, last)
                if s.relative_positive.value > 0)  # fmt: skip
        pair = tuple(ways)
        way += len(pair) == 2 and pair[1] > pair[0]
    total = len(measured.stabilities)
    return (
        f"From {short} to {long} steps with N⁺ = {most}, ε⁺ grows for {share(distance, total)} "
        f"losses and the way gone for {share(way, total)}."
    )
