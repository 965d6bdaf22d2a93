"""A ranker that ranks worse than tied documents says so."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tests.tasks.ranking.cases import written

from rankwise.data.letor import read_letor
from rankwise.tasks.ranking import Settings, run
from rankwise.tasks.ranking.start import compared_with_start

SETTINGS = Settings(objective="ndcg@3", model="linear", metric="ndcg@3")


@pytest.mark.parametrize(("sign", "word"), [(1, "better"), (-1, "worse")])
def test_scores_are_compared_with_tied_documents(tmp_path, sign, word):
    lists = read_letor(written(tmp_path / "test.txt"))
    ranker = SimpleNamespace(learning_rate=0.5)
    found = compared_with_start(SETTINGS, ranker, "test", lists, sign * lists.target)
    assert found.text.startswith(f"{word} than the start: test ndcg@3 went from 0.")
    tries = "; ".join(found.advice)
    assert tries == "" if sign == 1 else "learning_rate=0.05" in tries
    assert "chance" not in found.text


def test_the_verdict_of_a_run_is_on_its_report(tmp_path):
    train = read_letor(written(tmp_path / "train.txt"))
    done = run(SETTINGS, tmp_path / "run", train, train, metrics=["ap"])
    assert done.verdict.text.startswith("better than the start: validation ndcg@3 went from")
    assert done.verdict.text in done.report.read_text()
