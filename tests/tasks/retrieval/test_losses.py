from __future__ import annotations

import pytest
import torch

from rankwise.baselines import CrossBatchMemory, ProxyAnchor, SupCon
from rankwise.errors import UsageError
from rankwise.naming.table import ENTRIES
from rankwise.objectives import SOPRC, HierarchicalAP, embedding_scores
from rankwise.tasks.retrieval.losses import RetrievalLoss
from rankwise.tasks.retrieval.settings import Memory, Mixup, Network, Objective, Settings

LABELS = torch.tensor([0, 0, 0, 1, 1, 1, 1, 2, 2, 2])
BATCH = torch.tensor([0, 0, 1, 1, 2, 2])
ROWS = torch.tensor([0, 1, 3, 4, 7, 8])


def vectors(seed: int = 0) -> torch.Tensor:
    found = torch.randn(6, 4, generator=torch.manual_seed(seed))
    return torch.nn.functional.normalize(found).requires_grad_()


def loss(
    name: str,
    memory: Memory | None = None,
    labels: torch.Tensor = LABELS,
    mixup: Mixup | None = None,
    **options: object,
) -> RetrievalLoss:
    chosen = Settings(
        network=Network(dimension=4),
        objective=Objective(name=name, **options),
        memory=memory or Memory(),
        mixup=mixup or Mixup(),
    )
    return RetrievalLoss(chosen, labels)


def test_the_prior_of_a_class_is_its_share_of_the_other_images():
    found = loss("soprc(score_scale=1)").objective
    assert isinstance(found, SOPRC)
    torch.testing.assert_close(found.prior.float(), torch.tensor([2 / 9, 3 / 9, 2 / 9]))
    assert found.memory_size == 3


def test_it_is_the_objective_of_the_cosines_with_one_list_a_class():
    e = vectors()
    lists = embedding_scores(e, BATCH)
    expected = SOPRC(torch.tensor([2 / 9, 3 / 9, 2 / 9]), 3)
    value = expected(lists.scores, lists.target, mask=lists.mask, list_ids=BATCH)
    torch.testing.assert_close(loss("soprc")(e, BATCH), value)


OPTIONS = {
    "class_balanced": "(counts=[9, 1])",
    "opauc": "(max_fpr=.5)",
    "sopa": "(max_fpr=.5)",
    "sopa_s": "(max_fpr=.5)",
    "tpauc": "(min_tpr=.5, max_fpr=.5)",
    "sota_s": "(min_tpr=.5, max_fpr=.5)",
    "tpr_at_fpr": "(.5)",
    "fpr_at_tpr": "(.5)",
    "precision_at_recall": "(.5)",
    "recall_at_precision": "(.5)",
    "pu_auc": "(prior=.2)",
    "pu_ap": "(prior=.2)",
    "entropic_risk": "(num_classes=100)",
}
NOT_HERE = {"multi_class_auc", "open_auc", "autkc", "ovr", "ldam", "xbm"}  # losses of logits


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.names[0])
def test_any_objective_of_one_ranked_list_by_name(entry):
    (name, *_), at = entry.names, "@2" if entry.at and not entry.whole else ""
    if name in NOT_HERE:
        with pytest.raises(UsageError, match=r"^objective\.name: "):
            loss(name + at)
        return
    found = loss(name + at + OPTIONS.get(name, ""))
    for seed in range(2):
        e = vectors(seed)
        value = found(e, BATCH, rows=ROWS)
        value.backward()
        assert value.isfinite()
        assert e.grad.isfinite().all()
    assert e.grad.abs().max() > 0


def test_a_memory_by_anchor_is_of_the_image():
    found = loss("global_contrastive")
    assert found.by_image
    assert found.objective.memory_size == 10
    found(vectors(), BATCH, rows=ROWS)
    seen = next(b for n, b in found.named_buffers() if n.endswith("seen"))
    assert seen.flatten().nonzero().flatten().tolist() == ROWS.tolist()


def test_a_loss_with_proxies_has_one_for_every_class():
    found, e = loss("proxy_anchor(margin=.2)", warm_start=1), vectors()
    assert found.objective.proxies.shape == (3, 4)
    oracle = ProxyAnchor(3, 4, margin=0.2)
    oracle.load_state_dict(found.objective.state_dict())
    torch.testing.assert_close(found(e, BATCH, step=1), oracle(e, BATCH))
    lists = embedding_scores(e, BATCH)
    first = SupCon()(lists.scores, lists.target, mask=lists.mask)
    torch.testing.assert_close(found(e, BATCH, step=0), first)


def test_an_objective_without_lists_has_the_mean_prior():
    expected = (3 * 2 / 9 + 4 * 3 / 9 + 3 * 2 / 9) / 10
    assert float(loss("ap").objective.prior) == pytest.approx(expected)


def test_a_memory_by_pair_is_of_the_pair():
    found = loss("soap")
    assert found.by_pair
    found(vectors(), BATCH, rows=ROWS)
    seen = found.objective.average.seen
    pairs = {(int(i) // 10, int(i) % 10) for i in seen.flatten().nonzero().flatten()}
    assert pairs == {(0, 1), (1, 0), (3, 4), (4, 3), (7, 8), (8, 7)}
    with pytest.raises(ValueError, match="rows is needed: soap remembers images"):
        found(vectors(), BATCH)


def test_cross_batch_memory_over_any_objective():
    found = loss("soprc(score_scale=1)", Memory(size=8, start=1))
    oracle = CrossBatchMemory(
        SOPRC(torch.tensor([2 / 9, 3 / 9, 2 / 9]), 3, score_scale=1), 8, 4, start=1
    )
    for seed in range(4):
        e = vectors(seed)
        torch.testing.assert_close(found(e, BATCH), oracle(e, BATCH))
    assert int(found.memory.bank.count) == 18


def test_a_warm_start_is_supcons():
    found = loss("ap", warm_start=2)
    e = vectors()
    lists = embedding_scores(e, BATCH)
    first = SupCon()(lists.scores, lists.target, mask=lists.mask)
    torch.testing.assert_close(found(e, BATCH, step=1), first)
    torch.testing.assert_close(found(e, BATCH, step=2), loss("ap")(e, BATCH))


def test_embeddings_of_the_last_parameters_reach_stable_ap():
    now, before = vectors(0), vectors(1)
    found, oracle = (loss("stable_ap(score_scale=1, gain=fixed)", previous=True) for _ in range(2))
    values = []
    for _ in range(2):
        values.append(found(now, BATCH, previous=before))
        lists = embedding_scores(now, BATCH)
        expected = oracle.objective(
            lists.scores,
            lists.target,
            mask=lists.mask,
            list_ids=BATCH,
            previous_scores=before @ before.T,
        )
        torch.testing.assert_close(values[-1], expected)
    plain = loss("stable_ap(score_scale=1, gain=fixed)")
    plain(now, BATCH)
    assert plain(now, BATCH) != values[1]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: loss("soprk"), "objective.name: .*soprc"),
        (lambda: loss("xbm(ap, size=3, dimension=4)"), "xbm is not an objective but the setting"),
        (
            lambda: loss("proxy_anchor", Memory(size=4)),
            "goes neither with memory.size nor with obj",
        ),
        (lambda: loss("ovr(ap)"), r"ovr\(ap\) is a loss of logits"),
        (lambda: loss("ap", previous=True), "objective.previous is for stable_ap, got ap"),
        (lambda: loss("soap", Memory(size=4)), "goes neither with memory.size nor with mixup"),
        (
            lambda: loss("soap", mixup=Mixup(stages=1)),
            "goes neither with memory.size nor with mixup",
        ),
        (
            lambda: loss("soap", labels=torch.arange(8000) // 2),
            "remembers every pair of images, 8,000² of them",
        ),
    ],
)
def test_what_cannot_be_trained_on(make, message):
    with pytest.raises(UsageError, match=message):
        make()


def test_hierarchical_ap_ranks_by_the_super_classes_of_the_images():
    tree = torch.stack([torch.tensor([5, 5, 9])[LABELS], LABELS], 1)  # classes 0 and 1 are sisters
    chosen = Settings(network=Network(dimension=4), objective=Objective(name="hierarchical_ap"))
    e = vectors()
    lists = embedding_scores(e, torch.stack([torch.tensor([5, 5, 9])[BATCH], BATCH], 1))
    expected = HierarchicalAP()(lists.scores, lists.target, mask=lists.mask)
    torch.testing.assert_close(RetrievalLoss(chosen, LABELS, tree)(e, BATCH), expected)
    plain = RetrievalLoss(chosen, LABELS)(e, BATCH)  # without super-classes it is AP
    assert plain != expected
    with pytest.raises(UsageError, match=r"super-classes, which memory\.size does not"):
        RetrievalLoss(chosen.replace(memory=Memory(size=4)), LABELS, tree)
