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
# # A recommender
#
# Users and items get vectors; the score of an item for a user is their cosine over a temperature. Each user is one
# list over the whole catalog, and the loss is a bound of 1 − NDCG of that list. The interactions are generated: users
# and items have hidden tastes, and some items are popular with everyone.

# %%
import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn.functional import normalize

from rankwise.metrics import ndcg, recall_at_k
from rankwise.objectives import NDCG, ListNet

torch.manual_seed(0)
USERS, ITEMS = 600, 400
tastes, traits = torch.randn(USERS, 6), torch.randn(ITEMS, 6)
popular = torch.randn(ITEMS)
chance = torch.softmax(1.2 * tastes @ traits.T / 6**0.5 + popular, dim=1)
seen = torch.zeros(USERS, ITEMS, dtype=torch.bool)
seen.scatter_(1, torch.multinomial(chance, 30), True)
part = torch.rand(USERS, ITEMS)
train, validation, test = (
    seen & (part < 0.6),
    seen & (part >= 0.6) & (part < 0.8),
    seen & (part >= 0.8),
)
print(f"{seen.sum()} interactions of {USERS} users with {ITEMS} items; {train.sum()} to train on")

# %% [markdown]
# `competitors="negatives"` gives every liked item a list of its own, in which it competes with the items that the user
# has not touched. `ListNet` with the same option is the softmax loss. The temperature is chosen on validation.


# %%
class Factors(nn.Module):
    """Scores of all items for all users: cosines over a temperature."""

    def __init__(self, temperature):
        super().__init__()
        torch.manual_seed(0)
        self.users = nn.Parameter(0.1 * torch.randn(USERS, 16))
        self.items = nn.Parameter(0.1 * torch.randn(ITEMS, 16))
        self.temperature = temperature

    def forward(self):
        return normalize(self.users, dim=1) @ normalize(self.items, dim=1).T / self.temperature


def quality(scores, wanted, known, k=20):
    """Return NDCG@k of the wanted items; items that are known already are not ranked."""
    users = wanted.any(1)
    return float(ndcg(scores[users], wanted[users].long(), k=k, mask=~known[users]))


def fit(loss, temperature, epochs=80):
    """Return validation NDCG@20 by epoch, and the scores of the best epoch."""
    model, course, best = Factors(temperature), [], None
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02, weight_decay=0.1)
    for _ in range(epochs):
        optimizer.zero_grad()
        loss(model(), train.long()).backward()
        optimizer.step()
        with torch.no_grad():
            scores = model()
        course.append(quality(scores, validation, train))
        if course[-1] == max(course):
            best = scores
    return course, best


losses = {
    "softmax": lambda: ListNet(competitors="negatives"),
    "NDCG": lambda: NDCG(surrogate="exponential", competitors="negatives"),
}
found = {
    name: max((fit(make(), t) for t in (0.2, 0.4)), key=lambda run: max(run[0]))
    for name, make in losses.items()
}

# %% [markdown]
# The test part is read once. Popularity is the baseline that a recommender must beat.

# %%
known = train | validation
results = {"popularity": known.sum(0).float().expand(USERS, ITEMS)}
results.update({name: scores for name, (_, scores) in found.items()})
for name, scores in results.items():
    print(f"{name:11} test NDCG@20 {quality(scores, test, known):.4f}")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
for (name, scores), color in zip(results.items(), ("#7d8790", "#5e3c99", "#00796b"), strict=True):
    if name in found:
        left.plot(range(1, len(found[name][0]) + 1), found[name][0], color=color, label=name)
    users, tops = test.any(1), (1, 5, 10, 20, 50)
    recalls = [
        float(recall_at_k(scores[users], test[users], k=k, mask=~known[users])) for k in tops
    ]
    right.plot(tops, recalls, "o-", color=color, label=name, markersize=4)
left.set(xlabel="epoch", ylabel="validation NDCG@20", title="Training")
right.set(xlabel="k", ylabel="test recall@k", title="Whole catalog")
right.legend(frameon=False)
plt.show()

# %% [markdown]
# `rankwise recommend train ratings.csv --out runs/films` does this from a file of interactions, with the temperature, the
# epoch and the weight decay chosen on validation, and `rankwise recommend topk` writes the recommendations. See
# [Recommendation](../../docs/recommendation.md) for results on published splits.

# %%
assert quality(results["NDCG"], test, known) > quality(results["popularity"], test, known)
