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
# # A rare class in a table
#
# The estimators of rankwise follow scikit-learn. `BoostedRanker` trains LightGBM on a ranking objective; `LinearRanker` and
# `NeuralRanker` have the same interface. The table here is generated: 3 % of the rows are fraud, with one column of
# words and some missing values.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from rankwise.estimators import BoostedRanker
from rankwise.metrics import average_precision, bootstrap_interval, compare, precision_recall_curve

x, y = make_classification(
    12_000, n_features=12, n_informative=5, weights=[0.97], flip_y=0.01, random_state=0
)
random = np.random.default_rng(0)
table = pd.DataFrame(x, columns=[f"x{i}" for i in range(12)])
table["country"] = np.where(table.x0 > 0.5, "SE", random.choice(["NO", "DK", "FI"], len(table)))
table.loc[random.random(len(table)) < 0.1, "x1"] = np.nan
rows, rows_test, target, target_test = train_test_split(
    table, y, test_size=0.5, stratify=y, random_state=0
)
rows.head(3)

# %% [markdown]
# The objective is a name: `"ap"` for average precision, `"log_loss"` for the usual loss, `"opauc(max_fpr=.05)"` for
# partial AUC. Missing values and words need no preparation.
#
# Averaging two models helps whatever they are trained on. By default `BoostedRanker("ap")` averages trees trained on
# log-loss with trees trained on the metric, so a fair control is the average of two log-loss models.

# %%
options = {"n_estimators": 120, "n_jobs": 1}
models = {
    "log-loss": BoostedRanker("log_loss", metric="ap", random_state=0, **options),
    "metric": BoostedRanker("ap", blend=1.0, random_state=0, **options),
    "log-loss and metric": BoostedRanker("ap", random_state=0, **options),
}
scores = {
    name: model.fit(rows, target).decision_function(rows_test) for name, model in models.items()
}
second = BoostedRanker("log_loss", metric="ap", random_state=1, **options).fit(rows, target)
scores["two log-losses"] = (scores["log-loss"] + second.decision_function(rows_test)) / 2
for name, values in scores.items():
    ap = bootstrap_interval(average_precision, values, target_test)
    print(f"{name:20} test AP {ap.value:.3f}, 95 % interval {ap.low:.3f} to {ap.high:.3f}")

# %%
blend = scores["log-loss and metric"]
for name in ("log-loss", "two log-losses"):
    gain = compare(average_precision, blend, scores[name], target_test)
    print(
        f"log-loss and metric − {name}: {gain.difference:+.3f}, {gain.low:+.3f} to {gain.high:+.3f}"
    )

# %% [markdown]
# The last line separates the metric from averaging: only a difference above zero is a gain of the metric.
#
# A ranking is not enough to act on. `predict_proba` is calibrated on held-out rows, and `threshold` is a rule: here the
# lowest score at which at least half of the reported rows are fraud.

# %%
model = BoostedRanker("ap", threshold="precision>=0.5", random_state=0, **options)
model.fit(rows, target)
reported = model.predict(rows_test).astype(bool)
print(f"{reported.sum()} rows reported, {target_test[reported].mean():.0%} of them are fraud")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
for (name, values), color in zip(
    scores.items(), ("#7d8790", "#c1440e", "#00796b", "#5e3c99"), strict=True
):
    curve = precision_recall_curve(values, target_test)
    left.plot(curve.recall, curve.precision, color=color, label=name)
left.set(xlabel="recall", ylabel="precision", title="Test rows")
left.legend(frameon=False, fontsize=8)
probability = model.predict_proba(rows_test)[:, 1]
edges = np.quantile(probability, [0, 0.5, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 1])
part = np.digitize(probability, np.unique(edges)[1:-1])
means = [(probability[part == i].mean(), target_test[part == i].mean()) for i in np.unique(part)]
right.plot([0, 1], [0, 1], color="#cccccc")
right.plot(*zip(*means, strict=True), "o-", color="#00796b", markersize=4)
right.set(xlabel="predicted probability", ylabel="share of fraud", title="Calibration")
plt.show()

# %% [markdown]
# From files, `rankwise compare data.csv --target fraud --metric ap` does all of this for linear, boosted and neural
# models with one budget, and writes a report that says whether a gain is the metric's or that of averaging. See
# [Tables](../../docs/tabular.md).

# %%
assert average_precision(blend, target_test) > 0.3
