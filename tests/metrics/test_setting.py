import math
import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch

import rankwise
from rankwise import metrics as m
from rankwise.metrics import _setting as setting
from rankwise.metrics import mean_over_lists
from rankwise.metrics._setting import setting_of


def test_mean_comes_with_its_counts():
    mean = mean_over_lists(np.array([0.5, np.nan, 1.0, 0.0]))
    assert (mean.mean, mean.count, mean.left_out) == (0.5, 3, 1)
    assert mean.standard_error == pytest.approx(0.5 / math.sqrt(3))
    assert math.isnan(mean_over_lists(torch.tensor([0.5])).standard_error)
    assert math.isnan(mean_over_lists(torch.tensor([math.nan])).mean)


def test_setting_knows_defaults_and_pooling():
    chosen = setting_of(m.pap_at_k, {"k": 3})
    assert chosen.options == {"k": 3}
    assert not chosen.pools
    assert setting_of(m.auroc, {"average": "micro"}).pools
    with pytest.raises(ValueError, match="metric must be one of"):
        setting_of(len, {})
    with pytest.raises(TypeError, match="kk"):
        setting_of(m.pap_at_k, {"k": 3, "kk": 3})


@pytest.mark.parametrize(
    ("metric", "options", "message"),
    [
        (m.ndcg, {"k": 0}, "k must be a whole number >= 1, got 0"),
        (m.precision_at_k, {"k": 0}, "k must be a whole number >= 1, got 0"),
        (m.partial_auroc, {"max_fpr": 2}, "got min_fpr=0.0 and max_fpr=2"),
        (m.auprc, {"prior": 0.0}, "prior must be a share of positives"),
    ],
)
def test_wrong_options_are_refused_before_there_are_data(metric, options, message):
    with pytest.raises(ValueError, match=message):
        setting_of(metric, options)
    with pytest.raises(ValueError, match=message):
        metric(np.zeros((0, 0)), np.zeros((0, 0)), **options)


def test_blocks_of_rows_give_the_same_values(monkeypatch):
    rng = np.random.default_rng(0)
    scores, target = rng.standard_normal((10, 8)), rng.integers(0, 2, (10, 8))
    target[:, :2] = [0, 1]
    whole = m.auroc(scores, target, average="none")
    monkeypatch.setattr(setting, "BLOCK", 20)
    assert (m.auroc(scores, target, average="none") == whole).all()


def test_groups_of_very_different_sizes():
    rng = np.random.default_rng(0)
    sizes = {30: 2, -4: 200, 7: 3, 8: 33, 9: 2}
    groups = np.repeat(list(sizes), list(sizes.values()))
    scores, target = rng.standard_normal(len(groups)), rng.integers(0, 2, len(groups))
    for group in sizes:
        target[np.flatnonzero(groups == group)[:2]] = [0, 1]
    values = m.auroc(scores, target, groups=groups, average="none")
    separate = [float(m.auroc(scores[groups == g], target[groups == g])) for g in sorted(sizes)]
    assert values == pytest.approx(separate, abs=1e-12)


def test_the_warning_points_to_the_caller():
    with pytest.warns(RuntimeWarning) as caught:
        m.auroc(np.array([1.0, 2.0]), np.array([1, 1]))
    assert caught[0].filename == __file__


def test_import_brings_nothing_heavy():
    code = (
        "import sys, rankwise.metrics; "
        "print([name for name in ('sklearn', 'scipy', 'torchmetrics') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("name", "alone"),
    [
        ("ap", 1.0),
        ("mrr", 1.0),
        ("hit@2", 1.0),
        ("precision@4", 3 / 4),
        ("recall@2", 2 / 3),
        ("r_precision", 1.0),
        ("map@r", 1.0),
        ("ndcg", 1.0),
        ("auc", math.nan),
        ("opauc(max_fpr=.5)", math.nan),
        ("tpauc(min_tpr=.5, max_fpr=.5)", math.nan),
        ("pap@2", math.nan),
        ("auprc(prior=.5)", math.nan),
    ],
)
def test_a_list_of_positives_alone_has_a_value_by_the_rule_of_trec_eval(name, alone):
    # Three positives, tied or not; a list of both classes; negatives alone.
    scores = torch.tensor([3.0, 2, 1, 1, 1, 1, 2, 1, 2, 1])
    target = torch.tensor([1.0, 1, 1, 1, 1, 1, 1, 0, 0, 0])
    groups = torch.tensor([0, 0, 0, 1, 1, 1, 2, 2, 3, 3])
    own = rankwise.metric(name).setting
    by_rule = replace(own, average="none", positives_alone=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        values = by_rule(scores, target, None, groups, None).tolist()
        before = replace(own, average="none")(scores, target, None, groups, None).tolist()
    assert values[:2] == pytest.approx([alone, alone], nan_ok=True)
    assert values[2:] == pytest.approx(before[2:], nan_ok=True)
    assert not math.isnan(values[2])
    assert math.isnan(values[3])


def test_the_error_for_an_unknown_metric_lists_metrics_that_are_not_loaded_yet():
    code = (
        "from rankwise.metrics._setting import setting_of\n"
        "try: setting_of(print, {})\n"
        "except ValueError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "average_precision, auprc, auroc" in said.stdout
    assert "fpr_at_tpr; got <built-in function print>" in said.stdout
