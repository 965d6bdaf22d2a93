"""AUROC and AP from positives and unlabeled items, against the true labels that were hidden."""

from __future__ import annotations

import pytest
import torch

from rankwise import metrics as m

PRIOR, LABELED, DRAWS = 0.2, 400, 60


def two_samples(seed, unlabeled=4_000):
    """Labeled positives, and a sample of the population with its true labels."""
    generator = torch.Generator().manual_seed(seed)
    truth = torch.rand(unlabeled, generator=generator) < PRIOR
    scores = torch.randn(LABELED + unlabeled, generator=generator)
    scores[:LABELED] += 1.5
    scores[LABELED:] += 1.5 * truth
    return scores, torch.arange(len(scores)) < LABELED, truth


def one_sample(seed, items=4_000, frequency=0.4):
    """A sample of the population, of whose positives a random part is labeled."""
    generator = torch.Generator().manual_seed(seed)
    truth = torch.rand(items, generator=generator) < PRIOR
    scores = torch.randn(items, generator=generator) + 1.5 * truth
    labeled = truth & (torch.rand(items, generator=generator) < frequency)
    return scores, labeled, truth


def bias(errors):
    """Mean error and its standard error."""
    errors = torch.tensor(errors)
    return float(errors.mean()), float(errors.std() / len(errors) ** 0.5)


@pytest.mark.parametrize("name", ["pu_auroc", "pu_average_precision"])
def test_of_two_samples_it_is_the_metric_of_the_hidden_labels_on_average(name):
    estimate = getattr(m, name)
    true = {"pu_auroc": m.auroc, "pu_average_precision": m.average_precision}[name]
    errors, naive = [], []
    for seed in range(DRAWS):
        scores, labeled, truth = two_samples(seed)
        right = float(true(scores[LABELED:], truth))
        errors.append(float(estimate(scores, labeled, prior=PRIOR)) - right)
        naive.append(float(true(scores, labeled)) - right)
    found, error = bias(errors)
    assert abs(found) < 3 * error
    assert error < 0.01
    assert abs(bias(naive)[0]) > 5 * error  # the unlabeled taken for negatives


def test_of_one_sample_the_priors_follow_from_the_share_of_labels():
    errors = {"auroc": [], "ap": []}
    for seed in range(DRAWS):
        scores, labeled, truth = one_sample(seed)
        share = float(labeled.double().mean())
        prior = (PRIOR - share) / (1 - share)
        auroc = m.pu_auroc(scores, labeled, prior=prior)
        ap = m.pu_average_precision(scores, labeled, prior=prior, population_prior=PRIOR)
        errors["auroc"].append(float(auroc - m.auroc(scores, truth)))
        errors["ap"].append(float(ap - m.auprc(scores, truth, prior=PRIOR)))
    for each in errors.values():
        found, error = bias(each)
        assert abs(found) < 3 * error
        assert error < 0.01


def test_the_two_ways_to_the_prior_of_one_sample_agree():
    share, frequency = 0.4 * PRIOR, 0.4
    assert (PRIOR - share) / (1 - share) == pytest.approx(
        PRIOR * (1 - frequency) / (1 - PRIOR * frequency)
    )


def test_auroc_may_be_above_one_and_ap_may_not():
    scores, target = torch.arange(6.0), torch.arange(6) >= 3
    assert float(m.pu_auroc(scores, target, prior=0.5)) == 1.5
    assert float(m.pu_average_precision(scores, target, prior=0.5)) == 1


def test_they_are_metrics_of_items_with_intervals_but_without_bounds():
    scores, labeled, _ = two_samples(0, unlabeled=400)
    metric = m.Metric(m.pu_auroc, prior=PRIOR)
    (found,) = m.confidence_intervals([metric], scores, labeled)
    assert found.low < found.value < found.high
    with pytest.raises(ValueError, match="which needs the items"):
        m.Metric(m.pu_average_precision, prior=PRIOR, memory="bounded")


@pytest.mark.parametrize("prior", [0, 1, -0.1, 1.2])
def test_bad_priors_are_named(prior):
    scores, target = torch.arange(4.0), torch.arange(4) % 2
    for metric in (m.pu_auroc, m.pu_average_precision):
        with pytest.raises(
            ValueError, match=rf"among the unlabeled items in \(0, 1\), got {prior}"
        ):
            metric(scores, target, prior=prior)
    with pytest.raises(ValueError, match=rf"population_prior must be .* got {prior}"):
        m.pu_average_precision(scores, target, prior=0.5, population_prior=prior)
