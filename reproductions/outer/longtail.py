"""Long tails: one rare class of images against the others, AP."""

from __future__ import annotations

from pathlib import Path

from reproductions.longtail.measure import Plan, run_one
from reproductions.longtail.methods import Choice, Method
from reproductions.longtail.problems import CIFAR_10, FASHION, real_problems
from reproductions.longtail.problems import Problem as Images
from reproductions.outer.arms import LONG_TAIL
from reproductions.outer.problem import Arm, Outcome, Problem

_RATE = 2e-3


def longtail_problems(folder: Path, plan: Plan) -> list[Problem]:
    """Problems of Fashion-MNIST-LT and CIFAR-10-LT; the first class of each is screened."""
    found = [
        p
        for p in real_problems(folder / "images", quick=False)
        if p.data_set in (FASHION, CIFAR_10)
    ]
    firsts = {p.data_set: p.name for p in reversed(found)}
    return [image_problem(p, plan, screened=firsts[p.data_set] == p.name) for p in found]


def image_problem(images: Images, plan: Plan, *, screened: bool = True) -> Problem:
    """Problem of a class of images; the seed draws the images of every part."""

    def run(arm: Arm, seed: int, test: bool) -> Outcome:
        objective = arm.objective_of(plan.steps)
        method = Method(arm.name, objective, ranking=False)  # no warm start
        choice = Choice(objective, _RATE, arm.head)
        found = run_one(plan, images, seed, method, choice, seed=seed, test=test)
        return Outcome(found["validation"], found.get("ap"))

    return Problem(LONG_TAIL, f"{images.data_set}, {images.name}", "AP", run, screened)
