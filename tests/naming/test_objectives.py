from __future__ import annotations

import pytest
import torch

import rankwise
from rankwise.baselines import Focal
from rankwise.naming import objective
from rankwise.objectives import SOAP, SOPRC, AveragePrecision, OneVsRest, PartialAUC
from rankwise.pairs import Logistic

FACTS = {"prior": 0.1, "num_items": 20, "num_lists": 3}


def test_the_package_has_it():
    assert rankwise.objective is objective


def test_a_name_makes_what_the_constructor_makes():
    torch.manual_seed(0)
    scores, target = torch.randn(60), torch.arange(60) < 12
    ours = objective("opauc(max_fpr=.2, surrogate=logistic)")
    same = PartialAUC(0.2, surrogate=Logistic(1.0))
    assert isinstance(ours, PartialAUC)
    assert ours(scores, target) == same(scores, target)
    assert objective("focal(3)")(scores, target) == Focal(3)(scores, target)


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("ndcg(printed=true)", "printed=True"),
        ("ndcg@5(printed=true)", "printed=True"),
        ("listnet(uniform, printed=true)", "printed=True"),
        ("tpauc(.5, .3, printed=true)", "printed=True"),
        ("pap@5(form=ts_eq14)", "form='ts_eq14'"),
    ],
)
def test_the_printed_formulas_have_names(name, option):
    torch.manual_seed(0)
    scores, target = torch.randn(60), torch.arange(60) < 11
    scores[target] += 1
    made = objective(name)
    assert option in repr(made)
    default = objective(name.replace(", printed=true", "").replace("(printed=true)", ""))
    if option == "form='ts_eq14'":
        default = objective("pap@5(form=ts)")
        scores[target] *= 4  # a positive above all negatives, others below: where the two differ
    assert made(scores, target) != default(scores, target)
    assert objective(repr(made))(scores, target) == made(scores, target)


def test_facts_go_to_those_who_take_them():
    assert objective("soprc", **FACTS).options == {"prior": 0.1, "num_lists": 3}
    assert objective("soap", **FACTS).options == {"prior": 0.1, "num_items": 20}
    assert objective("ap", **FACTS).options == {"prior": 0.1}
    assert objective("focal", **FACTS).options == {}
    assert objective("listnet", **FACTS).options == {}  # its prior is another
    assert objective("minmax_auc", **FACTS).options == {"num_lists": 3}
    by_list = objective("soprc", prior=torch.tensor([0.1, 0.2]), num_lists=2)
    assert by_list.prior.tolist() == pytest.approx([0.1, 0.2])


def test_a_prior_for_each_list_is_read_back():
    made = objective("soprc", prior=torch.tensor([0.125, 0.25]), num_lists=2)
    again = objective(repr(made))
    assert repr(again) == repr(made) == "SOPRC(prior=[0.125, 0.25], num_lists=2)"
    assert again.prior.equal(made.prior)


def test_the_name_comes_before_the_facts():
    assert objective("soprc(prior=.3)", **FACTS).options == {"prior": 0.3, "num_lists": 3}
    assert objective("soprc(prior=None)", **FACTS).prior is None


def test_a_memory_that_a_form_or_a_name_asks_for():
    assert "num_items" not in objective("opauc(.1)", **FACTS).options
    for form in ("cvar", "kl"):
        made = objective(f"opauc(.1, form={form})", **FACTS)
        assert made.options == {"max_fpr": 0.1, "form": form, "num_items": 20}
    assert objective("sopa(.1)", **FACTS).options["form"] == "cvar"
    assert objective("sopa_s(.1)", **FACTS).options["form"] == "kl"
    assert objective("sota_s(.5, .5)", **FACTS).options["num_items"] == 20
    assert objective("ndcg@5", **FACTS).options == {"k": 5}
    assert objective("song@5", **FACTS).options == {"k": 5, "num_items": 20}


def test_objectives_around_another():
    made = objective("ovr(soprc(ema_rate=.5))", **FACTS)
    assert isinstance(made, OneVsRest)
    assert made.objective.options == {"prior": 0.1, "num_lists": 3, "ema_rate": 0.5}
    assert isinstance(objective("ovr(ap)").objective, AveragePrecision)
    assert objective("xbm(smooth_ap, size=8, dimension=2)").bank is not None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "soap(prior=.1)",
            r'^objective "soap" needs num_items: the number of items of the data set \(',
        ),
        ("soprc", r'^objective "soprc" needs prior: the share of positives in the data set'),
        ("ovr(soprc)", r'^objective "soprc" needs prior'),
        ("soap", r"needs prior: .* and num_items: "),
        ("song@5", r'objective "song" needs num_items: the number of items'),
        ("precision", r'objective "precision" needs k: write "precision@10"'),
        ("opauc", r'objective "opauc" needs max_fpr: write "opauc\(max_fpr=…\)"'),
        ("ldam", r'objective "ldam" needs counts: write "ldam\(counts=…\)"'),
        ("auc@5", r'objective "auc" takes no @k'),
        ("opauc(max_fp=.1)", r'objective "opauc" has no option "max_fp"; it has max_fpr, '),
        ("sopa(.1, form=kl)", r'objective "sopa" has no option "form"'),
        ("opauc(max_fpr=2)", r"min_fpr and max_fpr must satisfy"),
        ("focal(gamma=None)", r"gamma must be a finite number >= 0, got None"),
        ("auc(hinge(margin=None))", r'margin of surrogate "Hinge" must be a number, got None'),
        ("ovr(smoth_ap)", r'no objective is called "smoth_ap": did you mean "smooth_ap"'),
        ("ovr(3)", r'objective of objective "ovr" must be a name, got 3'),
    ],
)
def test_what_is_missing_or_wrong(name, message):
    with pytest.raises(ValueError, match=message):
        objective(name)


def test_other_keywords_are_errors():
    with pytest.raises(TypeError, match="gamma"):
        objective("focal", gamma=2)


def test_classes_are_loaded_when_they_are_used():
    import subprocess
    import sys

    code = (
        "import sys, rankwise; rankwise.objective('ap'); "
        "print('rankwise.baselines' in sys.modules, 'reproductions' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_it_is_not_shared():
    first, second = (objective("soap", **FACTS) for _ in range(2))
    assert isinstance(first, SOAP)
    assert first is not second
    assert isinstance(objective("SOPRC", **FACTS), SOPRC)
