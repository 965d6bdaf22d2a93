from __future__ import annotations

from dataclasses import dataclass, field

import pytest
import torch
from tests.reproductions.retrieval.tiny import plan

from reproductions.frame import Runs, Setting
from reproductions.retrieval.benches import Scratch
from reproductions.retrieval.cell import evaluated, queries_of
from reproductions.retrieval.measure import Measurer
from reproductions.retrieval.methods import Method

METHOD = Method("ours", ("near", "far"), ours=True)


@dataclass(frozen=True, eq=False)
class Scripted(Scratch):
    """Trains nothing: the validation of a trial is written down, and every training counted."""

    worth: dict[tuple[str, float], float] = field(default_factory=dict)
    trained: list[tuple[str, float, int]] = field(default_factory=list)
    tested: list[tuple[str, float, int]] = field(default_factory=list)

    def train(self, trial):
        self.trained.append((trial.objective, trial.rate, trial.seed))
        last = self.worth[trial.objective, trial.rate] - trial.seed / 100
        return self.trained[-1], [{"step": 1, "map": 0.1}, {"step": 2, "map": last}]

    def test(self, network):
        self.tested.append(network)
        rng = torch.Generator().manual_seed(network[2])
        return torch.randn(len(self.problem.splits.test), 3, generator=rng)


@pytest.fixture
def bench():
    tiny = plan()
    rates = tiny.scratch.rates[0]
    return Scripted(tiny.problems[0], tiny, worth={("near", rates): 0.2, ("far", rates): 0.4})


def test_the_best_validation_is_repeated_and_alone_is_tested(bench):
    cells = Measurer(bench, Runs(None, {})).compare([METHOD], 3, Setting())
    rate = bench.budget.rates[0]
    assert bench.trained == [("near", rate, 0), *(("far", rate, seed) for seed in range(3))]
    assert bench.tested == [("far", rate, seed) for seed in range(3)]
    assert [cell.seed for cell in cells] == [0, 1, 2]
    assert {cell.objective for cell in cells} == {"far"}
    assert [cell.validation for cell in cells] == pytest.approx([0.4, 0.39, 0.38])
    assert cells[0].history == ((1, 0.1), (2, 0.4))
    assert len({cell.map for cell in cells}) == 3


def test_a_killed_study_goes_on_where_it_was(bench, tmp_path):
    def killed(network):
        raise KeyboardInterrupt

    broken = Scripted(bench.problem, bench.plan, worth=bench.worth)
    object.__setattr__(broken, "test", killed)
    with pytest.raises(KeyboardInterrupt):
        Measurer(broken, Runs(tmp_path, {})).compare([METHOD], 2, Setting())
    assert len(broken.trained) == 2  # both tries, nothing evaluated
    cells = Measurer(bench, Runs(tmp_path, {})).compare([METHOD], 2, Setting())
    rate = bench.budget.rates[0]
    assert bench.trained == [("far", rate, 0), ("far", rate, 1)]  # only what was chosen
    again = Scripted(bench.problem, bench.plan, worth=bench.worth)
    assert Measurer(again, Runs(tmp_path, {})).compare([METHOD], 2, Setting()) == cells
    assert again.trained == []


def test_judged_finds_the_nearest_without_the_query():
    turn = torch.tensor([0.0, 0.1, 0.3, 2.0, 2.2])
    embeddings = torch.stack([turn.cos(), turn.sin()], dim=1)
    labels = torch.tensor([0, 0, 1, 1, 1])
    found = evaluated(embeddings, labels, [0, 4])
    assert found["found"] == [[1, 2, 3, 4], [3, 2, 1, 0]]
    assert found["hit"] == pytest.approx(0.8)  # .3 is nearest to .1, of the other class
    # AP 1 of the first two and the last two; of .3, with rights at ranks 3 and 4, (1/3 + 2/4)/2.
    assert found["map"] == pytest.approx((4 + 5 / 12) / 5)
    assert found["r_precision"] == pytest.approx(4 / 5)
    assert len(found["precision"]) == 101


def test_queries_are_of_different_classes_and_always_the_same():
    labels = torch.arange(40) // 4
    rows = queries_of(labels, 6)
    assert len({int(labels[row]) for row in rows}) == 6
    assert rows == queries_of(labels, 6)
    assert len(queries_of(labels, 100)) == 10
