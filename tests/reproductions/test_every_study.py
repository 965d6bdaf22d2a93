"""Every study in small: its files, its numbers, its page."""

from __future__ import annotations

import csv
import json

import pytest
from tests.reproductions.detection import tiny as small_detection
from tests.reproductions.generalization.small import small_plan
from tests.reproductions.longtail.generated import tiny_plan
from tests.reproductions.outer import tiny as small_outer
from tests.reproductions.papk_table3.generated import generated_ratings
from tests.reproductions.retrieval import tiny as small_retrieval
from tests.reproductions.retrieval_cost.small import small_plan as small_plan_of_cost

from reproductions.convergence import plan as convergence
from reproductions.detection import plan as detection
from reproductions.estimator_bias import measure as bias
from reproductions.fidelity import measure as fidelity
from reproductions.frame import STUDIES, Setting, UnknownStudyError, run_study
from reproductions.generalization import plan as generalization
from reproductions.label_noise import measure as label_noise
from reproductions.list_stability import measure as list_stability
from reproductions.longtail import measure as longtail
from reproductions.outer import plan as outer
from reproductions.papk_figure1 import study as papk_figure1
from reproductions.papk_table2 import measure as papk_table2
from reproductions.papk_table3 import measure as papk_table3
from reproductions.papk_table3.movielens import movielens
from reproductions.retrieval import plan as retrieval
from reproductions.retrieval_cost import plan as retrieval_cost
from reproductions.saturation import study as saturation
from reproductions.stability import measure as stability
from reproductions.why_the_metric_matters import measure as why

TINY = {
    "convergence": (
        convergence.Plan,
        convergence.Plan(
            n_positives=20,
            width=2,
            horizons=(4, 8),
            steps=4,
            batches=(4, 8),
            lambdas=(0.1, 1.0),
            betas=(0.0, 0.9),
            ss=(0.0, 1.0),
            ema_rates=(0.25, 0.5),
            points=10,
            looks=2,
            chains=2,
            draws=6,
            repeats=2,
        ),
    ),
    "detection": (detection.Plan, small_detection.plan(heads=small_detection.SOME)),
    "estimator-bias": (
        bias.Plan,
        bias.Plan(
            sizes=(500,),
            draws=4,
            chains=2,
            burn_in=2,
            population=20_000,
            counts=(20, 50),
            points=(10, 50),
        ),
    ),
    "fidelity": (fidelity.Plan, fidelity.Plan(items=400, steps=2, repeats=2)),
    "generalization": (generalization.Plan, small_plan()),
    "label-noise": (
        label_noise.Plan,
        label_noise.Plan(
            positives_flipped=(0.0, 0.3),
            negatives_flipped=(0.0, 0.2),
            items=60,
            test_items=100,
            steps=3,
            repeats=2,
        ),
    ),
    "list-stability": (
        list_stability.Plan,
        list_stability.Plan(
            steps=(3, 6),
            n_positives=(6, 12),
            batch_positives=(4, 8),
            batch_negatives=(12, 24),
            scales=(0.5,),
            repeats=2,
            draws=200,
            sizes=(40, 160),
            twins=6,
            check_steps=3,
            checked=("cross-entropy", "highest negative"),
        ),
    ),
    "longtail": (longtail.Plan, tiny_plan()),
    "outer": (outer.Plan, small_outer.plan()),
    "papk-figure1": (papk_figure1.Plan, papk_figure1.Plan(20, 60, 4, 3, steps=6, looks=4)),
    "papk-table2": (papk_table2.Plan, papk_table2.Plan(runs=4, steps=5)),
    "papk-table3": (
        papk_table3.Plan,
        papk_table3.Plan(
            movielens(generated_ratings(), first=6, factors=2, least=8),
            ks=(3, 8),
            splits=2,
            etas=(0.1,),
            lams=(0.001, 0.1),
            steps=4,
        ),
    ),
    "retrieval": (retrieval.Plan, small_retrieval.plan()),
    "retrieval-cost": (retrieval_cost.Plan, small_plan_of_cost()),
    "saturation": (
        saturation.Plan,
        saturation.Plan(items=400, batch=100, steps=4, every=2, repeats=2),
    ),
    "stability": (
        stability.Plan,
        stability.Plan(sizes=(64, 256), draws=2, n_positives=(5, 10), steps=(3, 6), repeats=2),
    ),
    "why-the-metric-matters": (why.Plan, why.Plan(largest=11)),
}


# Half a minute of one core each: `make test` has the quick ones.
SLOW = ("convergence", "detection", "fidelity", "generalization", "list-stability", "longtail")
SLOW += ("retrieval", "retrieval-cost")
WITH_SLOW_ONES_MARKED = [
    pytest.param(name, marks=pytest.mark.full) if name in SLOW else name for name in STUDIES
]


@pytest.fixture(params=WITH_SLOW_ONES_MARKED)
def tiny(request, monkeypatch):
    kind, plan = TINY[request.param]
    monkeypatch.setattr(kind, "of", classmethod(lambda cls, setting: plan))
    return request.param


@pytest.mark.filterwarnings("ignore:.*no list of this batch has both classes:RuntimeWarning")
def test_files_and_page_and_the_same_again_for_the_seed(tiny, tmp_path):
    seen = []

    def track(work, doing):
        seen.append(doing)
        return work

    where, _ = run_study(tiny, tmp_path, Setting(seed=3, track=track))
    folder = tmp_path / tiny
    assert where == folder / "index.html"
    assert {p.name for p in folder.iterdir()} >= {
        "data.csv",
        "summary.json",
        "figure.png",
        "index.html",
    }
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["study"] == tiny
    assert summary["seed"] == 3
    rows = list(csv.DictReader((folder / "data.csv").read_text().splitlines()))
    assert len(rows) > 10
    html = where.read_text()
    assert "eed 3" in html
    assert "data:image/png;base64," in html
    assert str(tmp_path) not in html
    assert seen
    run_study(tiny, tmp_path / "again", Setting(seed=3))
    for file in folder.iterdir():
        assert file.read_bytes() == (tmp_path / "again" / tiny / file.name).read_bytes()


@pytest.mark.parametrize(
    ("name", "hint"),
    [("estimator_bias", "'estimator-bias'"), ("stabilty", "'stability'"), ("xyz", "there are")],
)
def test_a_wrong_name_gets_the_nearest_right_one(name, hint):
    with pytest.raises(UnknownStudyError, match=hint):
        run_study(name)


def test_a_quick_plan_is_smaller_and_draws_are_taken():
    for module in (bias, stability):
        full, quick = (module.Plan.of(Setting(quick=q)) for q in (False, True))
        assert len(quick.sizes) < len(full.sizes)
    assert bias.Plan.of(Setting(draws=7)).draws == 7
    assert stability.Plan.of(Setting(draws=7)).repeats == 7


@pytest.mark.parametrize(
    ("ratio", "error", "signs", "holds"),
    [
        (0.1, 0.5, True, "yes"),
        (0.3, 0.1, True, "open"),
        (0.3, 0.01, True, "no"),
        (0.1, 0.1, False, "no"),
    ],
)
def test_a_noisy_run_confirms_nothing(ratio, error, signs, holds):
    verdict = bias.Verdict("law", 500, 0.5, (0.2, -0.1), {}, ratio, error, signs)
    assert verdict.holds == holds
