"""Training steps of objectives and of their LibAUC twins, in turns in one process; prints JSON.

Under the peers' interpreter with ``src`` on the path, ``python -m benchmarks.twin_step times`` is
the processor time of one thread for every pair and size, which other work on the machine disturbs
little; ``python -m benchmarks.twin_step TWIN SIZE ours|theirs`` the peak memory of one side alone.
Half of a batch is positive, which is what LibAUC's own sampler draws by default.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from benchmarks.memory import peak_bytes_of
from benchmarks.twin_memory import average_precision_at_k, bags, sampled_classes
from benchmarks.twins import TWINS, sizes
from torch import Tensor

Step = Callable[[], object]
CLASSES, DIMENSION = 10, 64


def _backward(leaf: Tensor, loss: Callable[[Tensor], Tensor]) -> Step:
    def step() -> None:
        leaf.grad = None
        loss(leaf).backward()

    return step


def _of_one(leaf: Tensor, ours: Any, theirs: Any) -> tuple[Step, Step]:
    """Both on the same numbers, a leaf for each."""
    first, second = (leaf.clone().requires_grad_() for _ in range(2))
    return _backward(first, ours), _backward(second, theirs)


def _list(size: int) -> tuple[Tensor, Tensor, Tensor]:
    return torch.randn(size, requires_grad=True), torch.arange(size) % 2, torch.arange(size)


def _of_scores(ours: Any, theirs: Any, size: int, *, by_item: bool = False) -> tuple[Step, Step]:
    """Ours and theirs on one list of scores; theirs want probabilities, in a column."""
    scores, target, index = _list(size)
    column = scores.detach().clone().requires_grad_()
    own = {"item_ids": index} if by_item else {}
    truth = target.float().unsqueeze(1)
    beside = (index,) if by_item else ()
    return (
        _backward(scores, lambda s: ours(s, target, **own)),
        _backward(column, lambda s: theirs(s.sigmoid().unsqueeze(1), truth, *beside)),
    )


def _of_logits(ours: Any, theirs: Any, size: int, *, whole: bool) -> tuple[Step, Step]:
    """Losses of items that cost little: the same tensors for both, in a row.

    Theirs refuse whole numbers as labels: the step turns them into floating point first, as its
    user has to.
    """
    scores, target, _ = _list(size)
    other = scores.detach().clone().requires_grad_()
    truth = target if whole else target.float()
    return (
        _backward(scores, lambda s: ours(s, truth)),
        _backward(other, lambda s: theirs(s, truth.float() if whole else truth)),
    )


def _of_columns(ours: Any, theirs: Any, size: int) -> tuple[Step, Step]:
    """The same tensors again, in the one form that theirs has nothing to do about."""
    scores, target, _ = _list(size)
    column, truth = (t.detach().float().unsqueeze(1) for t in (scores, target))
    first, second = (column.clone().requires_grad_() for _ in range(2))
    return _backward(first, lambda s: ours(s, truth)), _backward(second, lambda s: theirs(s, truth))


def _of_classes(ours: Any, theirs: Any, size: int, *, by_item: bool) -> tuple[Step, Step]:
    logits = torch.randn(size, CLASSES, requires_grad=True)
    target = (torch.randn(size, CLASSES) > 0).long()
    other = logits.detach().clone().requires_grad_()
    own = {"index": torch.arange(size)} if by_item else {}
    beside = (torch.arange(size),) if by_item else ()
    return (
        _backward(logits, lambda s: ours(s, target, **own)),
        _backward(other, lambda s: theirs(s.sigmoid(), target.float(), *beside)),
    )


def _of_relevances(ours: Any, theirs: Any, size: int) -> tuple[Step, Step]:
    """One list of ``size`` items, half of them relevant, which theirs wants in front."""
    relevant, items = size // 2, torch.arange(size)
    target = torch.zeros(size, dtype=torch.long)
    target[:relevant] = torch.randint(1, 5, (relevant,))
    scores = torch.randn(size, requires_grad=True)
    other = scores.detach().clone().requires_grad_()
    batch: dict[str, Tensor] = {
        "user_id": torch.zeros(1, dtype=torch.long),
        "user_item_id": items.unsqueeze(0),
        "rating": target.float().unsqueeze(0),
        "num_pos_items": torch.full((1,), relevant),
        "ideal_dcg": torch.full((1,), 10.0),
    }
    own = {"item_ids": items}
    return (
        _backward(scores, lambda s: ours(s, target, **own)),
        _backward(other, lambda s: theirs(s.unsqueeze(0), batch)),
    )


def _of_views(ours: Any, theirs: Any, size: int, lists: Any) -> tuple[Step, Step]:
    both = torch.nn.functional.normalize(torch.randn(2, size, DIMENSION), dim=-1)
    leaf, other = both.clone().requires_grad_(), both.clone().requires_grad_()
    index = torch.arange(size)

    def own(z: Tensor) -> Tensor:
        found = lists(z[0], z[1], index)
        loss: Tensor = ours(found.scores, found.target, mask=found.mask, list_ids=found.list_ids)
        return loss

    def peer(z: Tensor) -> Tensor:
        result = theirs(z[0], z[1], index)
        loss: Tensor = result[0] if isinstance(result, tuple) else result
        return loss

    return _backward(leaf, own), _backward(other, peer)


def _steps_on_the_auc(peer: Any) -> Callable[..., Tensor]:
    """Every second step of theirs is plain cross-entropy; not these."""

    def loss(*batch: Tensor) -> Tensor:
        peer.step = 1
        value: Tensor = peer(*batch)
        return value

    return loss


def _modalities(images: Tensor, texts: Tensor, index: Tensor) -> Any:
    from rankwise.objectives import two_modalities  # noqa: PLC0415

    return two_modalities(images, texts, index, len(index), normalize=False)  # as theirs


def _partial_auc(name: str, size: int) -> tuple[Any, Any]:
    """Ours and theirs; "squared hinge" is the published loss, as theirs has it by default."""
    from libauc import losses as theirs  # noqa: PLC0415

    from rankwise.objectives import PartialAUC, TwoWayPartialAUC  # noqa: PLC0415
    from rankwise.pairs import Logistic, Square, SquaredHinge  # noqa: PLC0415

    if name == "PartialAUC, cvar":
        peer = theirs.pAUC_CVaR_Loss(data_len=size, pos_len=size, beta=0.2)
        return PartialAUC(0.2, form="cvar", num_items=size), peer
    surrogates = {
        "squared hinge": (SquaredHinge(1.0), "squared_hinge"),
        "square": (Square(1.0), "squared"),
        "logistic": (Logistic(1.0), "logistic"),
    }
    own, option = surrogates.get(name.rpartition(", ")[2], (None, "squared_hinge"))
    published: Any = {} if own is None else {"surrogate": own, "temperature": 1.0}
    if name.startswith("PartialAUC, kl"):
        ours = PartialAUC(0.2, form="kl", num_items=size, **published)
        return ours, theirs.pAUC_DRO_Loss(data_len=size, surr_loss=option)
    if published:
        published["positive_temperature"] = 1.0
    two_way = TwoWayPartialAUC(0.5, 0.5, form="kl", num_items=size, **published)
    return two_way, theirs.tpAUC_KL_Loss(data_len=size, surr_loss=option)


def twin(name: str, size: int) -> tuple[Step, Step]:  # noqa: PLR0911, PLR0912
    """Both steps of a pair."""
    from libauc import losses as theirs  # noqa: PLC0415

    import rankwise.baselines as b  # noqa: PLC0415
    import rankwise.objectives as o  # noqa: PLC0415
    from rankwise.pairs import SquaredHinge  # noqa: PLC0415

    pairs = size * CLASSES
    ours: Any
    match name:
        case "PairwiseAUC":
            return _of_scores(o.PairwiseAUC(), theirs.PairwiseAUCLoss(), size, by_item=False)
        case "MinMaxAUC":
            return _of_scores(o.MinMaxAUC(), theirs.AUCMLoss(), size, by_item=False)
        case "CompositionalAUC":
            peer = _steps_on_the_auc(theirs.CompositionalAUCLoss())
            return _of_scores(o.CompositionalAUC(), peer, size)
        case "SOAP":
            ours = o.SOAP(0.5, size, score_scale=1.0)
            return _of_scores(ours, theirs.APLoss(data_len=size), size, by_item=True)
        case "SOPRC":
            ours = o.SOPRC(0.5, score_scale=1.0)
            return _of_scores(ours, theirs.APLoss(data_len=size), size, by_item=True)
        case _ if "PartialAUC" in name:
            return _of_scores(*_partial_auc(name, size), size, by_item=True)
        case "OneVsRest(MinMaxAUC), 10 classes":
            ours = o.OneVsRest(o.MinMaxAUC(num_lists=CLASSES))
            peer = theirs.MultiLabelAUCMLoss(num_labels=CLASSES)
            return _of_classes(ours, peer, size, by_item=False)
        case "OneVsRest(SOAP), 10 classes":
            ours = o.OneVsRest(o.SOAP(0.5, pairs, score_scale=1.0))
            peer = theirs.mAPLoss(data_len=size, num_labels=CLASSES)
            return _of_classes(ours, peer, size, by_item=True)
        case "NDCG":
            peer = theirs.NDCGLoss(N=size, num_user=1, num_item=size, num_pos=size // 2, topk=-1)
            ours = o.NDCG(num_items=size, surrogate=SquaredHinge(1.0))
            return _of_relevances(ours, peer, size)
        case "ListNet":
            peer = theirs.ListwiseCELoss(N=size, num_pos=size // 2, gamma=0.9)
            return _of_relevances(o.ListNet(), peer, size)
        case "GlobalContrastive, two views":
            ours = o.GlobalContrastive(size)
            return _of_views(ours, theirs.GCLoss("unimodal", N=size), size, o.two_views)
        case "GlobalContrastive, two modalities":
            ours = o.GlobalContrastive(2 * size, 0.01)
            return _of_views(ours, theirs.GCLoss("bimodal", N=size), size, _modalities)
        case "LearnedTemperature, two modalities":
            peer = theirs.GCLoss("bimodal", N=size, temperature_scheme="global_learnable")
            return _of_views(o.LearnedTemperature(2 * size, 0.01), peer, size, _modalities)
        case _ if name in ("MinMaxAUC of SmoothMaxPooling", "MinMaxAUC of AttentionPooling"):
            return _of_one(*bags("softmax" if "Smooth" in name else "attention", size))
        case "EntropicRisk, 64 sampled classes":
            return _of_one(*sampled_classes(size))
        case "OneVsRest(AveragePrecision@10), 10 classes":
            return _of_one(*average_precision_at_k(size, CLASSES, 10))
        case _ if name.startswith("CrossEntropy, columns as LibAUC takes them"):
            return _of_columns(b.CrossEntropy(), theirs.CrossEntropyLoss(), size)
        case "CrossEntropy" | "CrossEntropy, labels in floating point":
            pair = b.CrossEntropy(), theirs.CrossEntropyLoss()
            return _of_logits(*pair, size, whole=name == "CrossEntropy")
        case "Focal":
            return _of_columns(b.Focal(), theirs.FocalLoss(), size)
    raise ValueError(f"TWIN must be one of benchmarks.twins.TWINS, got {name!r}")


def in_turns(steps: tuple[Step, Step], at_most: float = 8.0, at_least: float = 1.0) -> list[float]:
    """Median processor seconds of both steps.

    Seven turns of each or ``at_most`` seconds; where that takes less than ``at_least``, more.
    A turn repeats a short step, and leaves out its first: that one hands the memory back which the
    other side has freed, up to 8 ms of the system's time beside a step of 3.
    """
    often = [_repeats(step) for step in steps]
    taken: list[list[float]] = [[], []]
    for turn in range(1000):
        for step, count, times in zip(steps, often, taken, strict=True):
            if count > 1:
                step()
            start = time.process_time()
            for _ in range(count):
                step()
            if turn or len(times) == 0:
                times.append((time.process_time() - start) / count)
        spent = sum(n * sum(times) for n, times in zip(often, taken, strict=True))
        if spent > (at_most if turn < 7 else at_least):
            break
    # The first turn loads what is loaded once; it only counts where there was time for no other.
    return [statistics.median(times[1:] or times) for times in taken]


def _repeats(step: Step, enough: float = 2e-2) -> int:
    """How many steps take some hundredths of a second; a slow one is looked at once."""
    step()  # loads what is loaded once
    start = time.process_time()
    step()
    return max(1, round(enough / max(time.process_time() - start, 1e-6)))


def main(name: str, size: str = "", side: str = "") -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    if name == "times":
        print(json.dumps({t: {n: _timed(t, n) for n in sizes(t)} for t in TWINS}), flush=True)
        return
    with _checks_of(name):
        twin(name, 128)[side == "theirs"]()  # what libraries load on first use is not the loss's
        print(json.dumps({"peak": peak_bytes_of(twin(name, int(size))[side == "theirs"])}))


def _timed(name: str, size: int) -> list[float]:
    with _checks_of(name):
        return in_turns(twin(name, size))


def _checks_of(name: str) -> AbstractContextManager[None]:
    from rankwise import no_checks  # noqa: PLC0415

    return no_checks() if name.endswith("unchecked") else nullcontext()


if __name__ == "__main__":
    main(*sys.argv[1:])
