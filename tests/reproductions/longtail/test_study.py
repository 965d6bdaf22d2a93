"""What the page says of cells that are made up."""

from __future__ import annotations

import importlib
from dataclasses import replace

import pytest
from tests.reproductions.longtail.generated import tiny_plan
from tests.reproductions.longtail.test_tables import cells

from rankwise.theory import mean_of
from reproductions.frame import Setting
from reproductions.longtail.measure import Tuned
from reproductions.longtail.methods import METHODS, OURS

module = importlib.import_module("reproductions.longtail.study")


def two_sets(**changed):
    """A plan whose two problems are of two data sets."""
    plan = tiny_plan(**changed)
    return replace(plan, problems=tuple(replace(p, data_set=p.name) for p in plan.problems))


def level(of, data_set="generated"):
    """Cells of which the test AP is ``of(method)``."""
    return [replace(c, ap=of(c.method), data_set=data_set) for c in cells()]


def by_name(*best):
    """The first of these is the best; all others are at .1."""
    return lambda method: 0.9 - 0.1 * best.index(method) if method in best else 0.1


@pytest.fixture(scope="module")
def told():
    """The outcome for cells that are made up, and the axes of its figure."""
    tuned = [
        Tuned("generated", m.name, m.choices((0.1, 0.2))[2], {"a": 0.5, "b": 0.25}) for m in METHODS
    ]
    drawn, real = [], module.png
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            module, "study", replace(module.study, measure=lambda plan, setting: (tuned, cells()))
        )
        patch.setattr(module.Plan, "of", classmethod(lambda cls, setting: tiny_plan()))
        patch.setattr(module, "png", lambda figure: drawn.append(figure) or real(figure))
        outcome = module.study(Setting(seed=4))
    return outcome, {s.heading: s for s in outcome.sections}, drawn[0].axes


def test_the_three_highest_are_named_in_their_order():
    found = level(by_name("SOAP", "StableAP", "CE"))
    assert module._first(found, tiny_plan()) == (
        "The three highest means of test AP. generated: SOAP, StableAP, CE."
    )


def test_every_set_has_its_own_three():
    found = level(by_name("SOAP", "MAUC", "CE"), "one") + level(
        by_name("CE", "LDAM", "MAUC"), "two"
    )
    said = module._first(found, two_sets())
    assert said.endswith("one: SOAP, MAUC, CE; two: CE, LDAM, MAUC.")


def test_a_high_repeat_is_not_a_high_mean():
    found = [
        replace(c, ap=1.0 if (c.method, c.repeat) == ("Focal", 0) else 0.6 * (c.method != "Focal"))
        for c in cells()
    ]
    assert "Focal" not in module._first(found, tiny_plan())  # 1 and 0, against .6 and .6


def test_positives_of_every_part_are_counted(told):
    first = told[1]["Method"].paragraphs[0]
    assert first.startswith(
        "Seed 4. Positives of images, to train, to validate and to test on, in the first split. "
    )
    # 10 + 40, 6 + 14 and 6 + 14 generated pictures.
    assert first.endswith(
        "generated, one: 10 of 50, 6 of 20, 6 of 20; generated, two: 10 of 50, 6 of 20, 6 of 20."
    )


def test_what_was_done_has_the_numbers_of_the_plan():
    plan = tiny_plan(steps=40, size=12, width=3, warm_start=9, every=7, positives=5)
    said = module._method(replace(plan, rates=(0.5, 0.25)), Setting(quick=True))
    assert said[0].startswith("Seed 0, a quick run. ")
    assert "Every method has 40 steps of 12 images" in said[1]
    assert "with 3 to 24 channels" in said[1]
    assert "the rates 0.5 and 0.25," in said[1]
    assert "then 2 trainings with other seeds" in said[1]
    assert "Extra positives: 5 in each batch" in said[1]
    assert "start with 9 steps of cross-entropy" in said[1]
    assert "Validation is every 7 steps." in said[1]


def test_the_losses_without_a_warm_start_are_those_that_are_named(told):
    said = told[1]["Method"].paragraphs[1]
    plain = [method.name for method in METHODS if not method.ranking]
    assert f"(all but {', '.join(plain[:-1])} and {plain[-1]})" in said


@pytest.mark.parametrize(
    ("tuned_sets", "words"),
    [
        (None, "the first problem of each set, with"),
        (1, "the first problem of one, for the other sets as well, with"),
        (2, "the first problem of each set, with"),
    ],
)
def test_where_settings_are_chosen_is_told(tuned_sets, words):
    said = module._method(replace(two_sets(), tuned_sets=tuned_sets), Setting())[1]
    assert words in said
    assert "where positives are fewest" not in said


def test_more_seeds_to_choose_by_are_told_where_it_is_chosen():
    plan = two_sets()
    one, two = plan.problems
    plan = replace(plan, problems=(one, replace(two, tunings=3)))
    said = module._method(plan, Setting())[1]
    assert (
        "with a seed and a split of their own (3 seeds on two, where positives are fewest); then"
        in said
    )
    # On the second set nothing is chosen.
    assert "3 seeds" not in module._method(replace(plan, tuned_sets=1), Setting())[1]


def test_the_summary_has_the_means_and_who_is_best_beside_ours(told):
    summary = told[0].summary
    assert summary["test_ap"]["generated"]["SOPRC"]["value"] == pytest.approx(0.45)
    assert summary["test_ap"]["generated"]["CE"]["value"] == pytest.approx(0.25)
    assert summary["best_other"] == {"generated": "Focal"}
    assert summary["problems"] == ["generated: one", "generated: two"]
    assert [method["name"] for method in summary["methods"]] == [m.name for m in METHODS]


def test_what_validation_chose_is_shown(told):
    (table,) = told[1]["What validation chose"].tables
    assert [row[1] for row in table.rows] == [m.name for m in METHODS]
    for row, method in zip(table.rows, METHODS, strict=True):
        assert row[2] == method.choices((0.1, 0.2))[2].words
        assert row[3] == "50.0, 25.0"


def test_every_training_is_a_row(told):
    rows = told[0].rows
    assert len(rows) == len(cells())
    assert rows[0].method == METHODS[0].name


def test_every_training_is_a_dot_and_ours_are_green(told):
    (axes,) = told[2]
    dots, bars = axes.lines[::2], axes.lines[1::2]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == [method.name for method in METHODS]
    assert axes.yaxis_inverted()  # the first is on top
    for row, (name, dot, bar) in enumerate(zip(names, dots, bars, strict=True)):
        values = [35.0, 55.0] if name == "SOPRC" else [25.0, 25.0]
        assert list(dot.get_xdata()) == pytest.approx(values)
        assert list(bar.get_xdata()) == pytest.approx([mean_of(values).value])
        assert set(dot.get_ydata()) == set(bar.get_ydata()) == {row}
    green = {name for name, dot in zip(names, dots, strict=True)
             if dot.get_color() == dots[names.index("SOPRC")].get_color()}  # fmt: skip
    assert green == set(OURS)
