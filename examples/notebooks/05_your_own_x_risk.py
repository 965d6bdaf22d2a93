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
# # Your own X-risk
#
# An X-risk is mean_i f(g_i), where g_i compares item i with many others. A batch has only an estimate of g_i, and f of an
# estimate is biased. `XRisk` keeps a moving average u_i of each g_i instead (FCCO). You choose ℓ and f; checkpoints,
# several processes and n log n come with it.

# %%
import matplotlib.pyplot as plt
import torch

from rankwise.metrics import auroc, precision_at_k
from rankwise.objectives import XRisk
from rankwise.pairs import SquaredHinge

random = torch.Generator().manual_seed(0)
x = torch.randn(2_000, 20, generator=random)
hidden = x @ torch.randn(20, generator=random) / 20**0.5
target = hidden + 0.5 * torch.randn(2_000, generator=random) > 1.8
print(f"{target.sum()} of {len(target)} rows are positive")

# %% [markdown]
# Two functions f of the same g_i, the mean squared hinge of a positive against all negatives:
#
# - f(g) = g is a smooth AUROC loss: every pair counts the same.
# - f(g) = log(0.01 + g) counts most where g_i is small, for the positives that are near the top.

# %%
risks = {"f(g) = g": lambda g: g, "f(g) = log(.01 + g)": lambda g: torch.log(0.01 + g)}
everything = torch.arange(len(target))
for name, outer in risks.items():
    loss = XRisk(SquaredHinge(1.0), outer)
    print(f"{name:20} on all rows, untrained: {loss(torch.zeros(2_000), target):.4f}")

# %% [markdown]
# ## The bias of a small batch
#
# The true value needs all rows. The mean over many batches of 2 positives and 6 negatives is off for the logarithm,
# and the memory of `num_items` averages removes most of it.

# %%
scores = hidden.clone()
positives, negatives = target.nonzero().squeeze(1), (~target).nonzero().squeeze(1)


def batch():
    rows = [
        pool[torch.randint(len(pool), (n,), generator=random)]
        for pool, n in ((positives, 2), (negatives, 6))
    ]
    return torch.cat(rows)


def course(loss, by_item, steps=4_000):
    """Return the loss of each batch."""
    values = []
    for _ in range(steps):
        rows = batch()
        ids = {"item_ids": rows} if by_item else {}
        values.append(float(loss(scores[rows], target[rows], **ids)))
    return torch.tensor(values)


outer = risks["f(g) = log(.01 + g)"]
truth = float(XRisk(SquaredHinge(1.0), outer)(scores, target))
found = {
    "batch alone": course(XRisk(SquaredHinge(1.0), outer), by_item=False),
    "moving averages": course(
        XRisk(SquaredHinge(1.0), outer, num_items=len(target), ema_rate=0.05), by_item=True
    ),
}
print(f"all rows: {truth:.3f}")
for name, values in found.items():
    print(f"{name}: {values[-1_000:].mean():.3f}")

# %%
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.axhline(truth, color="black", linewidth=1, label="all rows")
for (name, values), color in zip(found.items(), ("#7d8790", "#00796b"), strict=True):
    axes.plot(values.unfold(0, 200, 20).mean(1), color=color, label=name)
axes.set(xlabel="step / 20", ylabel="mean of 200 losses", title="An estimate of the risk")
axes.legend(frameon=False)
plt.show()

# %% [markdown]
# ## Train on it
#
# The gradient is ∇f(u_i)·∇ĝ_i; any optimizer follows it.


# %%
def train(outer, steps=600):
    """Train a linear model on batches of 16 positives and 112 negatives."""
    torch.manual_seed(0)
    model = torch.nn.Linear(20, 1)
    loss = XRisk(SquaredHinge(1.0), outer, num_items=len(target), ema_rate=0.3)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(steps):
        rows = torch.cat(
            [
                pool[torch.randint(len(pool), (n,))]
                for pool, n in ((positives, 16), (negatives, 112))
            ]
        )
        optimizer.zero_grad()
        loss(model(x[rows]).squeeze(1), target[rows], item_ids=rows).backward()
        optimizer.step()
    with torch.no_grad():
        return model(x).squeeze(1)


trained = {name: train(outer) for name, outer in risks.items()}
for name, result in trained.items():
    top = precision_at_k(result, target, k=50)
    print(f"{name:20} AUROC {auroc(result, target):.3f}, precision@50 {top:.2f}")

# %% [markdown]
# ℓ can be any function of score differences, and ĝ any function of two batches, such as embeddings: see
# [Your own objective in ten lines](../../docs/objectives.md#your-own-objective-in-ten-lines).

# %%
bias = {name: abs(float(values[-1_000:].mean()) - truth) for name, values in found.items()}
assert bias["moving averages"] < bias["batch alone"] / 2
assert min(float(auroc(result, target)) for result in trained.values()) > 0.8
