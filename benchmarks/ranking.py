"""Does it rank? Test NDCG@10 on a public learning-to-rank sample, every loss alike.

``python -m benchmarks.ranking DIR [LOSS ...]`` with DIR the folder of the shared data sets (it is
not part of this repository); with names of losses the others keep their last results. Every loss
gets the same scorers, batches, number of steps and choice of learning rates. Each of 5 seeds holds
out another fifth of the training queries; rate and epoch are those with the best mean NDCG@10 over
all that was held out, and the test queries count there only. Writes ``ranking.json`` and prints the
table for README.md.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import TypedDict

import lightgbm
import torch
from benchmarks.learning import interval
from rich.progress import track
from sklearn.datasets import load_svmlight_file
from torch import Tensor, nn

from rankwise.baselines import ApproxNDCG, LambdaLoss, ListMLE
from rankwise.metrics import ndcg
from rankwise.objectives import Objective
from rankwise.objectives.listwise import ListNet
from rankwise.objectives.ndcg import NDCG

SEEDS, EPOCHS, BATCH, FEATURES = 5, 60, 16, 300
RATES = (3e-4, 1e-3, 3e-3, 1e-2)
BOOSTING_RATES, ROUNDS = (0.02, 0.05, 0.1), 200
DROPOUT, DECAY = 0.3, 1e-2
SCORERS = {"linear": 0, "network": 64}  # hidden units
BOOSTED = "LightGBM lambdarank"
RESULTS = Path(__file__).parent / "ranking.json"

LOSSES: dict[str, Callable[[], Objective]] = {
    "ListNet": ListNet,
    "ListMLE": ListMLE,
    "ApproxNDCG": ApproxNDCG,
    "LambdaLoss": LambdaLoss,
    "LambdaLoss@10": lambda: LambdaLoss(10),
    "NDCG": NDCG,
    "NDCG@10": lambda: NDCG(10),
}
OURS, OTHERS = ("NDCG", "NDCG@10"), ("LambdaLoss", "ListNet")


class Result(TypedDict):
    """One cell: what was chosen, and the test NDCG@10 there."""

    rate: float
    epoch: int
    held_out: float
    by_seed: list[float]
    by_query: list[float]


@dataclass(frozen=True)
class Queries:
    """Training and test queries side by side, padded to the longest."""

    x: Tensor  # (seeds, queries, documents, features), standardized by what each seed trains on
    y: Tensor  # (queries, documents)
    mask: Tensor  # (queries, documents)
    fold: Tensor  # (queries,) the seed that holds it out, −1 for the test

    def quality(self, scores: Tensor) -> Tensor:
        """NDCG@10 of every query, (…, queries, documents) → (…, queries)."""
        y, mask = self.y.expand_as(scores), self.mask.expand_as(scores)
        value = ndcg(scores, y, k=10, mask=mask, average="none")
        assert isinstance(value, Tensor)
        return value


def load(folder: Path, shuffle: int = 0) -> Queries:
    """The queries that have a relevant document: the others have no NDCG."""
    features, relevance, test = [], [], []
    for name in ("train", "test"):
        file = folder / "ranking" / "lightgbm_lambdarank" / f"rank.{name}"
        x, y = load_svmlight_file(str(file), n_features=FEATURES + 1)  # columns count from 1
        sizes = [int(line) for line in Path(f"{file}.query").read_text().split()]
        parts = (torch.tensor(t).float().split(sizes) for t in (x.toarray()[:, 1:], y))
        for some, graded in zip(*parts, strict=True):
            if graded.max() > 0:
                features.append(some)
                relevance.append(graded)
                test.append(name == "test")
    x, y, mask = (
        nn.utils.rnn.pad_sequence(lists, batch_first=True)
        for lists in (features, relevance, [torch.ones(len(y)).bool() for y in relevance])
    )
    fold = torch.full((len(y),), -1)
    known = (~torch.tensor(test)).nonzero().squeeze(1)
    order = torch.randperm(len(known), generator=torch.Generator().manual_seed(shuffle))
    fold[known[order]] = torch.arange(len(known)) % SEEDS
    return Queries(
        torch.stack([_standardized(x, mask, learns(fold, s)) for s in range(SEEDS)]), y, mask, fold
    )


def learns(fold: Tensor, seed: int) -> Tensor:
    """The queries a seed trains on."""
    return ((fold >= 0) & (fold != seed)).nonzero().squeeze(1)


def _standardized(x: Tensor, mask: Tensor, rows: Tensor) -> Tensor:
    documents = x[rows][mask[rows]]
    deviation = documents.std(0)
    scaled = (x - documents.mean(0)) / torch.where(deviation > 0, deviation, 1)
    return scaled.clamp(-5, 5)


class Models(nn.Module):
    """Scorers side by side, one for each seed, with the first weights of :class:`nn.Linear`."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        sizes = [FEATURES, hidden, 1] if hidden else [FEATURES, 1]
        self.weights, self.offsets = nn.ParameterList(), nn.ParameterList()
        for inputs, outputs in pairwise(sizes):
            layers = [nn.Linear(inputs, outputs) for _ in range(SEEDS)]
            self.weights.append(torch.stack([layer.weight.detach().T for layer in layers]))
            self.offsets.append(torch.stack([layer.bias.detach() for layer in layers]))

    def forward(self, x: Tensor) -> Tensor:
        """(seeds, queries, documents, features) → (seeds, queries, documents)."""
        values = x.flatten(1, 2)
        for number, (weight, offset) in enumerate(zip(self.weights, self.offsets, strict=True)):
            if number:
                values = nn.functional.dropout(values.relu(), DROPOUT, self.training)
            values = values @ weight + offset.unsqueeze(1)
        return values.reshape(x.shape[:-1])


def trained(queries: Queries, hidden: int, make: Callable[[], Objective]) -> Tensor:
    """NDCG@10 after every epoch, (epochs, rates, seeds, queries).

    All the runs go side by side, since lists are independent and every run has its own parameters.
    """
    torch.manual_seed(0)
    first = Models(hidden)
    models, loss = [copy.deepcopy(first) for _ in RATES], make()
    groups = [{"params": m.parameters(), "lr": rate} for m, rate in zip(models, RATES, strict=True)]
    optimizer = torch.optim.AdamW(groups, weight_decay=DECAY)
    known = [learns(queries.fold, seed) for seed in range(SEEDS)]
    steps = min(map(len, known)) // BATCH
    seeds, course = torch.arange(SEEDS).unsqueeze(1), []
    for _ in range(EPOCHS):
        shuffled = [rows[torch.randperm(len(rows))][: steps * BATCH] for rows in known]
        for rows in torch.stack(shuffled).split(BATCH, dim=1):
            x = queries.x[seeds, rows]
            scores = torch.stack([model.train()(x) for model in models])
            y, mask = (t[rows].expand_as(scores) for t in (queries.y, queries.mask))
            optimizer.zero_grad()
            (loss(scores, y, mask=mask) * len(RATES) * SEEDS).backward()  # the mean of each run
            optimizer.step()
        with torch.no_grad():
            scores = torch.stack([model.eval()(queries.x) for model in models])
        course.append(queries.quality(scores))
    return torch.stack(course)


def boosted(queries: Queries) -> Tensor:
    """The same of LightGBM, a round for an epoch; every seed also sees other columns."""
    course = torch.zeros(ROUNDS, len(BOOSTING_RATES), SEEDS, len(queries.y))
    for number, rate in enumerate(BOOSTING_RATES):
        for seed in range(SEEDS):
            rows = learns(queries.fold, seed)
            mask = queries.mask[rows]
            x, y = queries.x[seed, rows][mask].numpy(), queries.y[rows][mask].numpy()
            options = {"objective": "lambdarank", "learning_rate": rate, "feature_fraction": 0.8}
            options |= {"seed": seed, "num_threads": 1, "verbosity": -1}
            sizes = mask.sum(1).numpy()
            model = lightgbm.train(options, lightgbm.Dataset(x, y, group=sizes), ROUNDS)
            documents = queries.x[seed][queries.mask].numpy()
            scores = torch.zeros(queries.y.shape, dtype=torch.float64)
            for step in range(ROUNDS):
                tree = model.predict(documents, start_iteration=step, num_iteration=1)
                scores[queries.mask] += torch.tensor(tree)
                course[step, number, seed] = queries.quality(scores)
    return course


def chosen(course: Tensor, rates: tuple[float, ...], fold: Tensor) -> Result:
    """The epoch and rate best on what was held out, and the test there."""
    own = [course[:, :, seed, fold == seed] for seed in range(SEEDS)]
    held_out = torch.cat(own, dim=-1).mean(-1)
    epoch, rate = divmod(int(held_out.argmax()), len(rates))
    test = course[epoch, rate][:, fold < 0]
    return {
        "rate": rates[rate],
        "epoch": epoch + 1,
        "held_out": round(float(held_out[epoch, rate]), 5),
        "by_seed": [round(value, 5) for value in test.mean(1).tolist()],
        "by_query": [round(value, 5) for value in test.mean(0).tolist()],
    }


def main(folder: Path, wanted: list[str]) -> None:
    torch.set_num_threads(1)
    queries = load(folder)
    results: dict[str, dict[str, Result]] = json.loads(RESULTS.read_text()) if wanted else {}
    cells = [(column, name) for column in SCORERS for name in LOSSES] + [("trees", BOOSTED)]
    for column, name in track([c for c in cells if not wanted or c[1] in wanted], "training"):
        if name == BOOSTED:
            result = chosen(boosted(queries), BOOSTING_RATES, queries.fold)
        else:
            course = trained(queries, SCORERS[column], LOSSES[name])
            result = chosen(course, RATES, queries.fold)
        results.setdefault(column, {})[name] = result
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    print(table(results))


def table(results: dict[str, dict[str, Result]]) -> str:
    """Held out: the mean over queries. Test: the mean over seeds; differences over the queries."""
    heads = [f"{column}, {part}" for column in SCORERS for part in ("held out", "test")]
    lines = ["| loss | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for name in LOSSES:
        found = (results[column][name] for column in SCORERS)
        cells = (f"{r['held_out']:.3f} | {interval(r['by_seed'])}" for r in found)
        lines += [f"| {name} | " + " | ".join(cells) + " |"]
    trees = results["trees"][BOOSTED]
    cell = f"trees: {trees['held_out']:.3f} | {interval(trees['by_seed'])}"
    lines += [f"| {BOOSTED} | {cell} |" + " |" * (len(heads) - 2)]
    for ours, other in product(OURS, OTHERS):
        cells = (interval(_differences(results[c], ours, other)) for c in SCORERS)
        lines += [f"| {ours} − {other}, over queries | | " + " | | ".join(cells) + " |"]
    return "\n".join(lines)


def _differences(results: dict[str, Result], ours: str, other: str) -> list[float]:
    pairs = zip(results[ours]["by_query"], results[other]["by_query"], strict=True)
    return [a - b for a, b in pairs]


if __name__ == "__main__":
    if len(sys.argv) < 2 or not (Path(sys.argv[1]) / "ranking").is_dir():
        sys.exit("usage: python -m benchmarks.ranking DIR [LOSS ...]; DIR holds ranking/")
    main(Path(sys.argv[1]), sys.argv[2:])
