"""Where finalists stand, and when the goal is met."""

from __future__ import annotations

import pytest

from reproductions.outer.finalists import Choice
from reproductions.outer.measure import Cell, Measured
from reproductions.outer.standing import Goal, differences, goal_of, recipe, standings

TASKS = ("a", "b", "c", "d", "e")


def cell(
    task: str, arm: str, seed: int, validation: float, test: float, problem: str = "p"
) -> Cell:
    return Cell(task, problem, "final", arm, arm, seed, validation, test, 0.0)


def measured(**gains: float) -> Measured:
    """Tasks whose finalist ``own`` is better by a share, with a little noise; ``bad`` is worse.

    ``bad`` has the worse validation and the better test.
    """
    cells, choices = [], {}
    for task, gain in gains.items():
        choices[task] = Choice(task, "base", ("own", "bad"), {}, {}, {})
        for seed in range(3):
            noise = 0.001 * (seed - 1)
            cells += [
                cell(task, "base", seed, 0.5, 0.4),
                cell(task, "own", seed, 0.6, 0.4 * (1 + gain + noise)),
                cell(task, "bad", seed, 0.1, 0.9),
            ]
    return Measured(cells, choices, {})


def test_differences_are_paired_by_seed():
    cells = [cell("a", "base", 1, 0, 0.4), cell("a", "own", 1, 0, 0.5), cell("a", "own", 2, 0, 0.9)]
    assert differences(cells, "own", "base", "p") == pytest.approx([0.1])


def test_problems_count_alike():
    found = measured(a=0.0)
    extra = [
        cell("a", arm, seed, 0.5, test, "q")
        for seed in range(3)
        for arm, test in (("base", 0.01), ("own", 0.02), ("bad", 0.01))
    ]
    (own, _) = standings(Measured([*found.cells, *extra], found.choices, {}), "a")
    assert own.test.value == pytest.approx(0.5)  # 0 % and 100 %


def test_a_seed_that_is_not_whole_is_left_out():
    found = measured(a=0.1)
    cells = [c for c in found.cells if (c.seed, c.arm) != (2, "bad")]
    assert standings(Measured(cells, found.choices, {}), "a")[0].test.n == 2


def test_validation_chooses_the_recipe():
    one = recipe(measured(a=0.1), "a")
    assert one is not None
    assert (one.arm, one.word) == ("own", "ahead")
    assert recipe(Measured([], {}, {}), "a") is None


@pytest.mark.parametrize(
    ("gains", "word"),
    [
        ((0.1, 0.1, 0.1, 0, 0), "met"),
        ((0.1, 0.1, 0, 0, 0), "not met"),
        ((0.1, 0.1, 0.1, 0.1, -0.1), "not met"),
    ],
)
def test_the_goal(gains, word):
    assert goal_of(measured(**dict(zip(TASKS, gains, strict=True))), TASKS).word == word


def test_a_task_that_is_missing_leaves_the_goal_open():
    goal = goal_of(measured(a=0.1, b=0.1, c=0.1), TASKS)
    assert goal == Goal(("a", "b", "c"), (), ("d", "e"))
    assert goal.word == "open"
    assert goal_of(measured(a=-0.1), TASKS).word == "not met"


def test_the_goal_compares_with_the_plain_loss_and_the_recipe_is_the_same():
    found = measured(a=0.1)
    relative = {"base": 1.0, "listnet": 0.9, "listnet@10": 0.8, "own": 1.0}
    choices = {"a": Choice("a", "base", ("own", "bad"), {}, relative, {})}
    cells = [*found.cells, *(cell("a", "listnet", seed, 0.5, 0.8) for seed in range(3))]
    both = Measured(cells, choices, {})
    assert choices["a"].names == ("base", "listnet", "own", "bad")
    against = [recipe(both, "a", plain=plain) for plain in (True, False)]
    assert [(one.arm, one.base, one.word) for one in against if one] == [
        ("own", "listnet", "behind"),
        ("own", "base", "ahead"),
    ]
    assert goal_of(both, ("a",)).behind == ("a",)
