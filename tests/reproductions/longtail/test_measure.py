from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from tests.reproductions.longtail.generated import splits, tiny_plan

from rankwise.data import DataError
from reproductions.frame import Setting
from reproductions.longtail import measure as module
from reproductions.longtail.measure import Plan, measure
from reproductions.longtail.methods import METHODS, OURS
from reproductions.longtail.published import PUBLISHED

FEW = tuple(method for method in METHODS if method.name in {"CE", "LDAM", "StableAP"})


def test_every_method_has_as_many_settings_to_choose_from():
    for method in METHODS:
        found = method.choices((0.002, 0.005))
        assert len({choice.words for choice in found}) == 4
    assert {m.name for m in METHODS if not m.ranking} == {"CE", "CB-CE", "Focal", "LDAM"}
    names = {method.name for method in METHODS}
    assert set(OURS) < names
    for table in PUBLISHED.values():
        assert set(table) == names - {"SOPRC"}


def test_runs_are_kept_and_the_test_images_choose_nothing(tmp_path, monkeypatch):
    plan = replace(tiny_plan(), methods=FEW)
    setting = Setting(seed=2, folder=tmp_path)
    judged = []
    evaluate = module.evaluate
    monkeypatch.setattr(
        module, "evaluate", lambda n, i, s: judged.append(i.name) or evaluate(n, i, s)
    )
    tuned, cells = measure(plan, setting)
    assert len(tuned) == 3
    assert len(cells) == 3 * 2 * 2
    assert judged == ["test"] * 2 * len(cells)  # best and last, and never while tuning
    for one in tuned:
        assert one.values[one.choice.words] == max(one.values.values())
    monkeypatch.setattr(module, "train", None)  # nothing is trained again
    again = measure(plan, setting)
    assert again == (tuned, cells)
    fewer = measure(replace(plan, repeats=1), setting)[1]
    assert fewer == [cell for cell in cells if cell.repeat == 0]
    one_set = replace(plan, problems=plan.problems[:1], methods=FEW[1:])
    some = [c for c in cells if c.problem == "one" and c.method != "CE"]
    assert measure(one_set, setting)[1] == some  # other sets and methods are no other runs
    with pytest.raises(DataError, match="must be a new folder or that of the same study"):
        measure(replace(plan, steps=5), setting)


def test_one_set_may_choose_for_the_others():
    plan = tiny_plan()
    two = tuple(replace(p, data_set=p.name) for p in plan.problems)
    plan = replace(plan, problems=two, methods=FEW[:1], tuned_sets=1)
    tuned, cells = measure(plan, Setting())
    assert [one.data_set for one in tuned] == ["one"]
    assert {cell.data_set for cell in cells} == {"one", "two"}


def test_a_setting_is_chosen_by_the_mean_of_several_trainings(monkeypatch):
    plan = tiny_plan()
    one = replace(plan.problems[0], tunings=2)
    plan = replace(plan, problems=(one,), methods=FEW[:1], repeats=1)
    seeds, values = [], iter((0.1, 0.9, 0.6, 0.6, 0.2, 0.2, 0.3, 0.3))

    def run(plan, problem, split, method, choice, *, seed, test=False):
        seeds.append(seed)
        other = dict.fromkeys(("ap", "auroc", "partial_auroc", "last_ap", "last_auroc"), 0.5)
        return {"best_step": 1, "validation": 0.5 if test else next(values)} | (
            other if test else {}
        )

    monkeypatch.setattr(module, "run_one", run)
    (tuned,), _ = measure(plan, Setting())
    assert list(tuned.values.values()) == pytest.approx([0.5, 0.6, 0.2, 0.3])
    assert tuned.choice == plan.methods[0].choices(plan.rates)[1]
    assert seeds == [1000, 1001] * 4 + [0]


def test_the_budget_is_the_same_for_every_method():
    plan, parts = tiny_plan(), splits(0)
    seen, plain = set(), module.Settings().network
    for method in METHODS:
        choice = method.choices(plan.rates)[0]
        chosen = module.settings_of(plan, parts, method, choice, 7)
        assert chosen.objective.warm_start == (plan.warm_start if method.ranking else 0)
        assert chosen.batches.positives == 4
        same = chosen.replace(objective=module.Settings().objective, network=plain)
        seen.add(repr(same))
    assert len(seen) == 1
    ldam = METHODS[3]
    natural = module.settings_of(plan, parts, ldam, ldam.choices(plan.rates)[-1], 7)
    assert natural.batches.positives is None
    assert natural.cosine
    assert natural.objective.name == "ldam(defer=1)"


def test_the_data_have_to_be_there(tmp_path):
    with pytest.raises(DataError, match="longtail needs --data"):
        Plan.of(Setting())
    with pytest.raises(DataError, match="holds neither fashion_mnist nor"):
        Plan.of(Setting(data=tmp_path))


def test_plans_of_a_folder(tmp_path):
    for name in ("cifar10_subset.npz", "cifar100_subset.npz"):
        (tmp_path / name).touch()
    (tmp_path / "fashion_mnist").mkdir()
    full, quick = (Plan.of(Setting(data=tmp_path, quick=q)) for q in (False, True))
    assert full.data_sets == ["Fashion-MNIST-LT", "CIFAR-10-LT", "CIFAR-100-LT", "CIFAR-10, 2 %"]
    assert len(full.problems) == 10
    assert len(quick.problems) == 3
    assert [full.first_of(name).tunings for name in full.data_sets] == [1, 1, 1, 3]
    assert quick.steps < full.steps
    assert full.repeats == quick.repeats == 4
    assert Plan.of(Setting(data=tmp_path, draws=3)).repeats == 3
    only = ("CE", "SOPRC", "StableAP", "Focal")
    some = Plan.of(Setting(data=tmp_path, options={"only": only}))
    assert [method.name for method in some.methods] == ["CE", "Focal", "SOPRC", "StableAP"]
    with pytest.raises(DataError, match=r"only must be of CE, .* got Focus"):
        Plan.of(Setting(data=tmp_path, options={"only": ("Focus",)}))
    with pytest.raises(DataError, match=r"only must have CE, SOPRC, StableAP.* got CE, Focal"):
        Plan.of(Setting(data=tmp_path, options={"only": ("CE", "Focal")}))


def test_the_same_run_is_the_same():
    plan = tiny_plan()
    problem = plan.problems[0]
    choice = METHODS[-1].choices(plan.rates)[0]
    found = [
        module.run_one(plan, problem, 1, METHODS[-1], choice, seed=5, test=True) for _ in range(2)
    ]
    assert found[0] == found[1]
    assert torch.tensor([0 <= found[0][k] <= 1 for k in ("ap", "auroc", "last_ap")]).all()


def test_every_repeat_has_its_own_split_and_the_settings_another(monkeypatch):
    plan = replace(tiny_plan(), methods=FEW[:2], repeats=3)
    seen = {"tuning": set(), "test": set()}

    def run(plan, problem, split, method, choice, *, seed, test=False):
        seen["test" if test else "tuning"].add((split, seed) if test else split)
        names = ("ap", "auroc", "partial_auroc", "last_ap", "last_auroc")
        return {"best_step": 1, "validation": 0.5} | (dict.fromkeys(names, 0.5) if test else {})

    monkeypatch.setattr(module, "run_one", run)
    measure(plan, Setting(seed=7))
    assert seen == {"tuning": {7}, "test": {(8, 0), (9, 1), (10, 2)}}  # all methods share them
