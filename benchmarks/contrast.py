"""Do small batches harm? SogCLR against SimCLR, 32 images a batch, same network and budget.

``python -m benchmarks.contrast DIR`` with DIR the folder of the shared data sets (it is not part of
this repository): 6 000 images of CIFAR-10 to train on without labels, 1 500 to test. Temperature
(and γ) are chosen by the linear probe on 1 000 of the training images left out for that, with as
many trials for either loss; then three seeds each on all of them. γ = 1 is the same loss without a
memory: what is left of the difference to SimCLR there is not the moving average's. Writes
``contrast.json`` and prints the table.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import torch
from benchmarks.learning import interval

from rankwise.report import write_json
from rankwise.tasks.contrast.pipeline import Evaluation, evaluate
from rankwise.tasks.contrast.settings import Settings
from rankwise.tasks.contrast.task import Images, new_network, read_images, train

SEEDS, TUNING_EPOCHS, EPOCHS, VALIDATION = 3, 6, 12, 1_000
BASE = Settings(batch=32, epochs=EPOCHS, width=16)
GRID = {
    "SogCLR": [
        BASE.replace(objective="global_contrastive", temperature=tau, ema_rate=gamma)
        for tau in (0.1, 0.3)
        for gamma in (0.5, 0.9)
    ],
    "SimCLR": [BASE.replace(objective="nt_xent", temperature=tau) for tau in (0.1, 0.2, 0.3, 0.5)],
}
RESULTS = Path(__file__).parent / "contrast.json"


def held_out(images: Images) -> Images:
    """Some of the training images in place of the test images, which are not looked at."""
    order = torch.randperm(len(images.x_train), generator=torch.Generator().manual_seed(0))
    kept, left_out = order[VALIDATION:], order[:VALIDATION]
    return images._replace(
        x_train=images.x_train[kept],
        y_train=images.y_train[kept],
        x_test=images.x_train[left_out],
        y_test=images.y_train[left_out],
    )


def measure(images: Images, settings: Settings) -> Evaluation:
    start = time.process_time()
    found = evaluate(train(images, settings).network, images)
    seconds = time.process_time() - start
    print(f"{settings} {found.probe} {found.retrieval} {seconds:.0f} s of a core", flush=True)
    return found


def untrained(images: Images, settings: Settings) -> Evaluation:
    with torch.random.fork_rng(devices=[]):
        return evaluate(new_network(images, settings), images)


def choose(images: Images) -> tuple[dict[str, Settings], list[dict[str, object]]]:
    """The best of every grid on the images left out, and all that was tried."""
    inner, chosen = held_out(images), {}
    trials: list[dict[str, object]] = []
    for name, grid in GRID.items():
        found = {s: measure(inner, s.replace(epochs=TUNING_EPOCHS)) for s in grid}
        chosen[name] = max(found, key=lambda s: found[s].probe.value)
        trials += [
            {
                "loss": name,
                "temperature": s.temperature,
                "gamma": s.ema_rate if name == "SogCLR" else None,
                "probe": f.probe.value,
                "retrieval": f.retrieval.value,
            }
            for s, f in found.items()
        ]
    return chosen, trials


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    images = read_images(folder / "images" / "cifar10_subset.npz")
    chosen, trials = choose(images)
    chosen["SogCLR, γ = 1"] = chosen["SogCLR"].replace(ema_rate=1.0)
    found: dict[str, list[Evaluation]] = {
        "untrained": [untrained(images, BASE.replace(seed=s)) for s in range(SEEDS)]
    }
    for name, settings in chosen.items():
        found[name] = [measure(images, settings.replace(seed=s)) for s in range(SEEDS)]
    write_json(
        RESULTS,
        {
            "trials": trials,
            "chosen": {name: settings.model_dump() for name, settings in chosen.items()},
            "test": {
                name: {
                    "probe": [f.probe.value for f in runs],
                    "retrieval": [f.retrieval.value for f in runs],
                }
                for name, runs in found.items()
            },
        },
    )
    print(table(found, chosen))


def table(found: dict[str, list[Evaluation]], chosen: dict[str, Settings]) -> str:
    lines = [
        f"| {BASE.batch} images a batch, {EPOCHS} epochs, {SEEDS} seeds "
        "| linear probe, accuracy | retrieval, mAP |",
        "|---|---|---|",
    ]
    columns = {
        name: ([f.probe.value for f in runs], [f.retrieval.value for f in runs])
        for name, runs in found.items()
    }
    for name, (probe, retrieval) in columns.items():
        tau = f" (τ = {chosen[name].temperature:g}{_gamma(name, chosen)})" if name in chosen else ""
        lines.append(f"| {name}{tau} | {interval(probe)} | {interval(retrieval)} |")
    pairs = [
        interval([a - b for a, b in zip(ours, theirs, strict=True)])
        for ours, theirs in zip(columns["SogCLR"], columns["SimCLR"], strict=True)
    ]
    lines.append(f"| SogCLR − SimCLR, paired by seed | {pairs[0]} | {pairs[1]} |")
    return "\n".join(lines)


def _gamma(name: str, chosen: dict[str, Settings]) -> str:
    return f", γ = {chosen[name].ema_rate:g}" if name == "SogCLR" else ""


if __name__ == "__main__":
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "images").is_dir():
        sys.exit("usage: python -m benchmarks.contrast DIR; DIR holds images/")
    main(Path(sys.argv[1]))
