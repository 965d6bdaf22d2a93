"""Small trainings that one process can do alone and several can do together."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from rankwise.baselines import (
    AUCHuber,
    AUCSigmoid,
    BlackBoxAP,
    Contrastive,
    CrossEntropy,
    FastAP,
    Focal,
    HistogramAP,
    MultiSimilarity,
    SmoothAP,
    SoDeepAP,
    Triplet,
)
from rankwise.distributed import (
    AcrossProcesses,
    gather_with_gradient,
    save_sharded,
    shard_memories,
)
from rankwise.memory import SmoothMaxPooling
from rankwise.objectives import (
    NDCG,
    SOAP,
    SOPRC,
    AveragePrecision,
    FairnessConstraint,
    GlobalContrastive,
    MinMaxAUC,
    Objective,
    OneVsRest,
    PairwiseAUC,
    PApAtK,
    PartialAUC,
    StableAP,
    TwoWayPartialAUC,
    XRisk,
    embedding_scores,
)
from rankwise.objectives.contrastive import (
    EntropicRisk,
    IndividualTemperatures,
    LearnedTemperature,
)
from rankwise.pairs import Square

Batch = dict[str, Tensor]
BASELINES = (
    SmoothAP,
    FastAP,
    HistogramAP,
    BlackBoxAP,
    SoDeepAP,
    AUCSigmoid,
    AUCHuber,
    Contrastive,
    Triplet,
    MultiSimilarity,
    CrossEntropy,
    Focal,
)
LISTS, ITEMS, CLASSES, LENGTH, ROWS = 4, 60, 3, 6, 3

# Rows (items, or whole lists) of every rank at each of three steps; some ranks have none.
SIZES = {
    2: [(7, 12), (0, 9), (5, 5)],
    3: [(4, 9, 6), (8, 0, 5), (0, 0, 7)],
}


@dataclass(frozen=True)
class Case:
    """An objective, the whole batch of a step, and what of it a rank is given."""

    objective: Callable[[], nn.Module]
    whole: Callable[[int, torch.Generator], Batch]
    outputs: int = 1
    share: Callable[[Batch, slice, int], Batch] = lambda whole, cut, rank: each(whole, cut)
    previous: bool = False


def each(whole: Batch, cut: slice) -> Batch:
    return {name: t[cut] if t.dim() else t for name, t in whole.items()}


def items(rows: int, rng: torch.Generator) -> Batch:
    target = torch.rand(rows, generator=rng) < 0.4
    return {"x": torch.randn(rows, 4, generator=rng, dtype=torch.float64), "target": target}


def lists(rows: int, rng: torch.Generator) -> Batch:
    target = torch.rand(rows, LENGTH, generator=rng) < 0.4
    x = torch.randn(rows, LENGTH, 4, generator=rng, dtype=torch.float64)
    return {"x": x, "target": target}


def whole_lists(world: int) -> tuple[Tensor, Tensor]:
    """Scores and labels of :data:`ROWS` lists for every rank."""
    batch = lists(ROWS * world, torch.Generator().manual_seed(0))
    return batch["x"][..., 0], batch["target"]


def weighted(rows: int, rng: torch.Generator) -> Batch:
    return {**items(rows, rng), "weight": torch.randint(0, 3, (rows,), generator=rng)}


def grouped(rows: int, rng: torch.Generator) -> Batch:
    return {**items(rows, rng), "groups": torch.randint(5, 8, (rows,), generator=rng)}


def grouped_with_ids(rows: int, rng: torch.Generator) -> Batch:
    batch = grouped(rows, rng)
    return {**batch, "list_ids": torch.unique(batch["groups"]) % LISTS}


def cut_groups(whole: Batch, cut: slice, rank: int) -> Batch:
    index = torch.unique(whole["groups"][cut]) % LISTS
    return {**each({k: t for k, t in whole.items() if k != "list_ids"}, cut), "list_ids": index}


def one_known_list(rows: int, rng: torch.Generator) -> Batch:
    return {**items(rows, rng), "list_ids": torch.tensor(rows % LISTS)}


def known_lists(rows: int, rng: torch.Generator) -> Batch:
    batch = {**lists(rows, rng), "list_ids": torch.randint(0, LISTS, (rows,), generator=rng)}
    return {**batch, "mask": torch.ones_like(batch["target"])}


def shorter_lists(rows: int, rng: torch.Generator) -> Batch:
    """The last two items of the first four lists are not there (see ``cut_short``)."""
    batch = known_lists(rows, rng)
    batch["mask"][:4, -2:] = False
    return batch


def cut_short(whole: Batch, cut: slice, rank: int) -> Batch:
    """Lists as short as they can be and a mask only where it says something.

    A rank without lists has two without items instead, which is no different.
    """
    empty = cut.start == cut.stop
    share = each(whole, slice(0, 2) if empty else cut)
    length = 0 if empty else int(share["mask"].sum(-1).max())
    share = {name: t[:, :length] if t.dim() > 1 else t for name, t in share.items()}
    if share["mask"].all():
        del share["mask"]
    return share


def in_two_dimensions(whole: Batch, cut: slice, rank: int) -> Batch:
    """The lists of a rank as one row of lists, with a leading dimension more."""
    return {name: t.unsqueeze(0) for name, t in each(whole, cut).items()}


def known_items(rows: int, rng: torch.Generator) -> Batch:
    return {**items(rows, rng), "item_ids": torch.randperm(ITEMS, generator=rng)[:rows]}


def known_items_of_lists(rows: int, rng: torch.Generator) -> Batch:
    index = torch.randint(0, ITEMS, (rows, LENGTH), generator=rng)
    return {**lists(rows, rng), "item_ids": index}


def half_masked(rows: int, rng: torch.Generator) -> Batch:
    mask = torch.rand(rows, generator=rng) < 0.7
    mask[rows // 2 :] = True
    return {**items(rows, rng), "mask": mask}


def mask_where_needed(whole: Batch, cut: slice, rank: int) -> Batch:
    share = each(whole, cut)
    if share["mask"].all():
        del share["mask"]
    return share


def labeled(rows: int, rng: torch.Generator) -> Batch:
    label = torch.randint(0, CLASSES, (rows,), generator=rng)
    weight = torch.randint(1, 4, (rows,), generator=rng)
    return {**items(rows, rng), "target": label, "weight": weight}


def known_labeled(rows: int, rng: torch.Generator) -> Batch:
    return {**labeled(rows, rng), "item_ids": torch.randperm(ITEMS, generator=rng)[:rows]}


class OfEmbeddings(nn.Module):
    """Every item ranks all the others, those of other processes among them."""

    def __init__(self) -> None:
        super().__init__()
        self.objective = AveragePrecision()

    def forward(self, embeddings: Tensor, target: Tensor) -> Tensor:
        everything = gather_with_gradient(embeddings), gather_with_gradient(target)
        lists = embedding_scores(*everything)
        return self.objective(lists.scores, lists.target, mask=lists.mask)


class OfBags(nn.Module):
    """Bags of six instances, pooled with a memory by every process alike."""

    def __init__(self) -> None:
        super().__init__()
        self.pool = SmoothMaxPooling(ITEMS, 0.5, ema_rate=0.3)
        self.objective = PairwiseAUC()

    def forward(self, scores: Tensor, target: Tensor, list_ids: Tensor, mask: Tensor) -> Tensor:
        scores, target, bags = map(gather_with_gradient, (scores, target[:, 0], list_ids))
        return self.objective(self.pool(scores, bags), target)


class OfBatches(nn.Module):
    """An X-risk of embeddings, against those of all processes."""

    def __init__(self) -> None:
        super().__init__()
        self.objective = AcrossProcesses(
            XRisk(mean_similarity, torch.log, num_items=ITEMS, ema_rate=0.3)
        )

    def forward(self, embeddings: Tensor, target: Tensor, item_ids: Tensor) -> Tensor:
        everything = gather_with_gradient(embeddings, shared=True)
        return self.objective.of_batches(embeddings, everything, item_ids=item_ids)


def mean_similarity(anchors: Tensor, others: Tensor) -> Tensor:
    return (anchors @ others.T).exp().mean(1)


def of_groups(case: Callable[[int, torch.Generator], Batch]) -> Callable[..., Batch]:
    """Items with the group of a constraint."""

    def batch(rows: int, rng: torch.Generator) -> Batch:
        whole = case(rows, rng)
        attribute = torch.randint(0, 2, whole["target"].shape, generator=rng)
        return {**whole, "attribute": attribute}

    return batch


def fair(objective: Objective, **options: Any) -> FairnessConstraint:
    """Bound a difference that these small batches exceed, so that multipliers grow."""
    return FairnessConstraint(objective, 2, 0.0, multiplier_rate=0.5, **options)


def x_risk() -> XRisk:
    return XRisk(Square(1.0), torch.log1p, num_items=ITEMS, ema_rate=0.3)


CASES = {
    "ap": Case(AveragePrecision, weighted),
    "ap of groups": Case(lambda: AveragePrecision(0.1), grouped),
    "ap with a mask on some": Case(AveragePrecision, half_masked, share=mask_where_needed),
    "ap of lists": Case(AveragePrecision, lists),
    "soprc": Case(lambda: SOPRC(0.1), items),
    "soprc of one list of four": Case(lambda: SOPRC(0.1, LISTS), one_known_list),
    "soprc of lists": Case(lambda: SOPRC(0.1, LISTS), known_lists),
    "soprc of unequal lists": Case(lambda: SOPRC(0.1, LISTS), shorter_lists, share=cut_short),
    "soprc in two dimensions": Case(
        lambda: SOPRC(0.1, LISTS), known_lists, share=in_two_dimensions
    ),
    "soprc of groups": Case(lambda: SOPRC(0.1, LISTS), grouped_with_ids, share=cut_groups),
    "stable ap": Case(lambda: StableAP(0.1), items, previous=True),
    "stable ap of lists": Case(lambda: StableAP(0.1, LISTS), known_lists, previous=True),
    "soap": Case(lambda: SOAP(0.1, ITEMS), known_items),
    "soap of lists": Case(lambda: SOAP(0.1, ITEMS), known_items_of_lists),
    "one vs rest": Case(lambda: OneVsRest(SOPRC(0.1, CLASSES)), labeled, CLASSES),
    "one vs rest by item": Case(
        lambda: OneVsRest(SOAP(0.1, ITEMS * CLASSES)), known_labeled, CLASSES
    ),
    "smooth ap": Case(lambda: SmoothAP(0.1), items),
    **{f"{baseline.__name__} of lists": Case(baseline, lists) for baseline in BASELINES},
    "minmax auc": Case(MinMaxAUC, items),
    "minmax auc of lists": Case(lambda: MinMaxAUC(num_lists=LISTS), known_lists),
    "minmax auc, one vs rest": Case(
        lambda: OneVsRest(MinMaxAUC(num_lists=CLASSES)), labeled, CLASSES
    ),
    "partial auc, cvar": Case(partial(PartialAUC, 0.3, form="cvar", num_items=ITEMS), known_items),
    "partial auc, cvar of lists": Case(
        partial(PartialAUC, 0.3, form="cvar", num_items=ITEMS), known_items_of_lists
    ),
    "partial auc, kl of lists": Case(
        partial(PartialAUC, 0.3, form="kl", num_items=ITEMS), known_items_of_lists
    ),
    "two-way partial auc, kl": Case(
        partial(TwoWayPartialAUC, 0.3, 0.5, form="kl", num_items=ITEMS), known_items_of_lists
    ),
    "two-way partial auc, cvar": Case(
        partial(TwoWayPartialAUC, 0.3, 0.5, form="cvar", num_items=ITEMS), known_items_of_lists
    ),
    "ndcg of lists": Case(lambda: NDCG(3, num_items=ITEMS), known_items_of_lists),
    "pap of lists": Case(lambda: PApAtK(2), lists),
    "global contrastive": Case(lambda: GlobalContrastive(LISTS), known_lists),
    "individual temperatures": Case(lambda: IndividualTemperatures(LISTS), known_lists),
    "learned temperature": Case(lambda: LearnedTemperature(LISTS, 1.0, rho=0.1), known_lists),
    "entropic risk": Case(lambda: EntropicRisk(LISTS, 100), known_lists),
    "entropic risk, mirror": Case(lambda: EntropicRisk(LISTS, 100, log_step=0.0), known_lists),
    "fair auc": Case(lambda: fair(PairwiseAUC()), of_groups(weighted)),
    "fair ap of groups": Case(lambda: fair(AveragePrecision(), metric="ap"), of_groups(grouped)),
    "fair xauc with a mask on some": Case(
        lambda: fair(PairwiseAUC(), metric="xauc"), of_groups(half_masked), share=mask_where_needed
    ),
    "fair soprc of lists": Case(lambda: fair(SOPRC(0.1, LISTS)), of_groups(known_lists)),
    "fair soprc of unequal lists": Case(
        lambda: fair(SOPRC(0.1, LISTS)), of_groups(shorter_lists), share=cut_short
    ),
    "fair soprc of groups": Case(
        lambda: fair(SOPRC(0.1, LISTS)), of_groups(grouped_with_ids), share=cut_groups
    ),
    "fair soap": Case(lambda: fair(SOAP(0.1, ITEMS)), of_groups(known_items)),
    "x-risk": Case(x_risk, known_items, previous=True),
    "x-risk of lists": Case(x_risk, known_items_of_lists, previous=True),
    "x-risk of batches": Case(
        OfBatches, lambda n, rng: {**known_labeled(n, rng), "weight": None}, CLASSES
    ),
    "bags": Case(OfBags, known_lists),
    "embeddings": Case(OfEmbeddings, lambda n, rng: {**labeled(n, rng), "weight": None}, CLASSES),
}


# Cases whose objective has a memory for more than one list or item.
SHARDED = [
    name
    for name in CASES
    if any(word in name for word in ("soprc ", "stable ap of", "soap", "one vs", "partial auc"))
    or any(word in name for word in ("ndcg", "contrastive", "individual", "learned", "x-risk"))
    or "entropic" in name
]
SHARDED.remove("minmax auc, one vs rest")


def train(
    case: Case,
    world: int,
    rank: int | None = None,
    *,
    shard: bool = False,
    save: Path | None = None,
) -> dict[str, object]:
    """Three steps; ``rank`` None is one process with the batches of all."""
    torch.manual_seed(0)
    plain = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, case.outputs)).double()
    start = [p.detach().clone() for p in plain.parameters()]
    objective = case.objective()
    if shard:
        inner = objective.objective if isinstance(objective, OfBatches) else None
        shard_memories(objective if inner is None else inner.objective)
    model, loss = plain, objective
    if rank is not None:
        model = DistributedDataParallel(plain)
        loss = (
            objective
            if isinstance(objective, (OfBags, OfEmbeddings, OfBatches))
            else AcrossProcesses(objective)
        )
    own = [p for p in objective.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD([*plain.parameters(), *own], lr=0.5)
    earlier = copy.deepcopy(plain)
    values = []

    def evaluate(batch: Batch) -> Tensor:
        batch = dict(batch)
        x = batch.pop("x")
        if case.previous:
            batch["previous_scores"] = earlier(x).detach().squeeze(-1)
        scores = model(x)
        return loss(scores.squeeze(-1) if case.outputs == 1 else scores, **batch)

    for step, sizes in enumerate(SIZES[world]):
        whole = case.whole(sum(sizes), torch.Generator().manual_seed(step))
        batch = {name: t for name, t in whole.items() if t is not None}
        if rank is not None:
            first = sum(sizes[:rank])
            batch = case.share(batch, slice(first, first + sizes[rank]), rank)
        value = evaluate(batch)
        optimizer.zero_grad()
        value.backward()
        for parameter in own if rank is not None else []:  # what wrapping both would do
            dist.all_reduce(parameter.grad)
            parameter.grad /= world
        earlier = copy.deepcopy(plain)
        optimizer.step()
        values.append(value.detach())
    loss.eval()
    with torch.no_grad():
        values.append(evaluate(batch))
    parameters = [p.detach() for p in plain.parameters()]
    if save is not None:
        save_sharded(objective, save)
        save_sharded(objective, save)  # in the place of the first
    moved = max(float((a - b).abs().max()) for a, b in zip(start, parameters, strict=True))
    return {
        "values": torch.stack(values),
        "parameters": parameters,
        "memory": dict(objective.state_dict()),
        "moved": moved,
    }
