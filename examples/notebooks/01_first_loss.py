# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # First loss
#
# Cross-entropy looks at one example at a time. Average precision (AP) looks at the order of all of them. This
# notebook trains the same small network on both, on a rare class, and compares them on rows that neither has seen.

# %%
import matplotlib.pyplot as plt
import torch
from torch import nn

from rankwise.baselines import CrossEntropy
from rankwise.metrics import average_precision, bootstrap_interval, compare, precision_recall_curve
from rankwise.objectives import AveragePrecision


def rare_class(rows, seed):
    """Return ten features; positives, 3 % of the rows, are far out in two of them, with noise."""
    random = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, 10, generator=random)
    distance = x[:, :2].norm(dim=1) + 0.3 * torch.randn(rows, generator=random)
    return x, (distance > distance.quantile(0.97)).long()


train, validation, test = (rare_class(4_000, seed) for seed in (1, 2, 3))
print(f"{train[1].sum()} of {len(train[1])} training rows are positive")

# %% [markdown]
# Every loss of rankwise is called as `loss(scores, target)` and returns one number. It works with any optimizer. Here
# both losses get the same network, the same batches and the same learning rates; validation AP selects the rate and the
# epoch.


# %%
def fit(loss, rate, epochs=100):
    """Return validation AP by epoch, and the test scores of the best epoch."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 1), nn.Flatten(0))
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    course, best = [], None
    for _ in range(epochs):
        for rows in torch.randperm(len(train[0])).split(500):
            optimizer.zero_grad()
            loss(model(train[0][rows]), train[1][rows]).backward()
            optimizer.step()
        with torch.no_grad():
            course.append(float(average_precision(model(validation[0]), validation[1])))
            if course[-1] == max(course):
                best = model(test[0])
    return course, best


losses = {"cross-entropy": CrossEntropy, "average precision": AveragePrecision}
found = {
    name: max((fit(make(), rate) for rate in (0.003, 0.01, 0.03)), key=lambda run: max(run[0]))
    for name, make in losses.items()
}

# %% [markdown]
# The metrics are exact and come with intervals. `compare` resamples the rows for both models together, which is much
# sharper than two separate intervals.

# %%
for name, (_, scores) in found.items():
    ap = bootstrap_interval(average_precision, scores, test[1])
    print(f"{name:17} test AP {ap.value:.3f}, 95 % interval {ap.low:.3f} to {ap.high:.3f}")
ours, other = (found[name][1] for name in ("average precision", "cross-entropy"))
gain = compare(average_precision, ours, other, test[1])
print(
    f"difference {gain.difference:+.3f}, {gain.low:+.3f} to {gain.high:+.3f}, p = {gain.p_value:.3f}"
)

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
for (name, (course, scores)), color in zip(found.items(), ("#7d8790", "#00796b"), strict=True):
    left.plot(range(1, len(course) + 1), course, color=color, label=name)
    curve = precision_recall_curve(scores, test[1])
    right.plot(curve.recall, curve.precision, color=color, label=name)
left.set(xlabel="epoch", ylabel="validation AP", title="Training")
right.set(xlabel="recall", ylabel="precision", title="Test rows")
left.legend(frameon=False)
plt.show()

# %% [markdown]
# One data set with one seed decides nothing. [Effect](../../docs/benchmarks/effect.md) has repeated splits of real
# data, where the metric's own loss wins, ties and loses.
#
# With batches that are balanced by a sampler, use `SOPRC(prior=…)` with the share of positives in the data
# set: see [examples/plain_loop.py](../plain_loop.py).

# %%
assert max(found["average precision"][0]) > 5 * 0.03  # far above a random order
