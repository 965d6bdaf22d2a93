from __future__ import annotations

from tests.reproductions.retrieval.tiny import plan

from reproductions.frame import Setting
from reproductions.retrieval.collect import collect


def test_from_scratch_a_method_has_the_number_that_its_heads_chose():
    measured = collect(plan(), Setting())
    heads = {c.method: c.objective for c in measured.benches["first", "pretrained"]}
    scratch = measured.benches["first", "from scratch"]
    assert {c.method for c in scratch} == {"SupCon", "SOPRC"}
    assert all(c.objective == heads[c.method] for c in scratch)
    assert set(measured.untrained) == {"first", "second"}
