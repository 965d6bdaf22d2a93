from __future__ import annotations

import torch
from tests.reproductions.retrieval_cost.small import small_plan

from reproductions.retrieval_cost.benches import FromScratch, Trial, batch_shape
from reproductions.retrieval_cost.problems import pool_of


def test_a_batch_has_four_images_a_class_or_more_where_classes_are_few():
    many, few = torch.arange(145).repeat_interleave(20), torch.arange(60).repeat_interleave(75)
    assert [batch_shape(many, b) for b in (112, 448, 1024)] == [(28, 4), (112, 4), (145, 7)]
    assert batch_shape(many, 4096) == (145, 20)  # all images, none twice
    assert [batch_shape(few, b) for b in (112, 448, 4096)] == [(28, 4), (60, 7), (60, 68)]


def test_the_settings_are_those_of_the_trial():
    plan = small_plan()
    bench = FromScratch("omniglot-scratch", plan, pool_of(plan.problems[0]))
    method = next(m for m in plan.methods if m.name == "SOPRC + memory")
    chosen = bench.settings(Trial(method, method.tries[1], 0.25, 16, 1), chunk=7)
    assert (chosen.batches.classes, chosen.batches.per_class, chosen.batches.chunk) == (4, 4, 4)
    assert chosen.objective.name.endswith("outer=log)")
    assert chosen.memory.size == 32  # all training images
    assert chosen.optimizer.learning_rate == 0.25
    assert chosen.network.options["norm"] == "group"
