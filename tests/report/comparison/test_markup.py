"""Colors of candidates, and the legend that shows and hides them."""

from __future__ import annotations

import re
from importlib import resources

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.report.comparison.sections.small import candidate, pair, small_run, text_of, tree_of

from rankwise.report.comparison.markup import color_class, legend, swatch
from rankwise.report.comparison.run import Candidate, Estimate, Run


def many(others: int) -> Run:
    """The baseline, the recommended, and so many more."""
    return small_run((*pair(), *(candidate(2 + i, f"other {i}") for i in range(others))))


def colors(run: Run) -> list[str]:
    return [color_class(run, each) for each in run.candidates]


def keys(run: Run, *shown: Candidate) -> list[str]:
    """The texts of the buttons, in their order."""
    return [text_of(each) for each in tree_of(legend(run, shown)).findall(".//button")]


def test_the_recommended_and_the_baseline_have_their_own() -> None:
    assert colors(many(3)) == ["base", "best", "c0", "c1", "c2"]


def test_after_six_the_colors_come_again_with_dashes() -> None:
    assert colors(many(8))[2:] == [
        "c0", "c1", "c2", "c3", "c4", "c5", "c0 dashed", "c1 dashed",
    ]  # fmt: skip


def test_a_baseline_that_is_recommended_is_drawn_as_that() -> None:
    run = small_run((candidate(0, "a"), candidate(1, "b", baseline=True)), recommended=1)
    assert colors(run) == ["c0", "best"]


def test_without_a_baseline_no_candidate_has_its_color() -> None:
    run = small_run((candidate(0, "a"), candidate(1, "b"), candidate(2, "c")))
    assert colors(run) == ["c0", "best", "c1"]


def test_of_several_baselines_the_one_that_differences_are_taken_to_has_the_color() -> None:
    compared = candidate(0, "tuned", baseline=True, difference=Estimate(0.1, 0.0, 0.2))
    run = small_run((compared, candidate(1, "best"), candidate(2, "plain", baseline=True)))
    assert colors(run) == ["c0", "best", "base"]


@settings(max_examples=30)
@given(st.integers(1, 13), st.data())
def test_thirteen_are_told_apart_wherever_the_recommended_and_the_baseline_stand(
    count: int, data: st.DataObject
) -> None:
    best, base = (data.draw(st.integers(0, count - 1)) for _ in range(2))
    candidates = tuple(candidate(i, "same name", baseline=i == base) for i in range(count))
    found = colors(small_run(candidates, recommended=best))
    assert len(set(found)) == count
    assert found[best] == "best"


def test_the_style_of_the_page_knows_every_class() -> None:
    style = resources.files("rankwise.report").joinpath("report.css").read_text("utf-8")
    for name in {word for each in colors(many(12)) for word in each.split()}:
        assert re.search(rf"^\.{name} ", style, re.MULTILINE), name


def test_a_swatch_is_a_line_inside_its_image_that_readers_aloud_pass_over() -> None:
    run = many(7)
    (picture,) = tree_of(swatch(run, run.candidates[-1]))
    assert picture.attrib["class"] == "swatch c0 dashed"
    assert picture.attrib["aria-hidden"] == "true"
    _, _, width, height = map(float, picture.attrib["viewbox"].split())
    (line,) = picture
    assert 0 < float(line.attrib["x1"]) < float(line.attrib["x2"]) < width
    assert float(line.attrib["y1"]) == float(line.attrib["y2"]) == height / 2


def test_the_recommended_is_first_then_the_baseline_then_the_others_as_they_come() -> None:
    run = many(3)
    base, best, first, second, third = run.candidates
    assert keys(run, third, base, first, best, second) == [
        "aprecommended",
        "log-lossbaseline",
        "other 2",
        "other 0",
        "other 1",
    ]


def test_one_candidate_can_be_both() -> None:
    run = small_run((candidate(0, "only", baseline=True),), recommended=0)
    assert keys(run, *run.candidates) == ["onlyrecommendedbaseline"]


def test_only_what_is_shown_has_a_button() -> None:
    run = many(1)
    assert keys(run, run.candidates[2]) == ["other 0"]
    assert keys(run) == []


def test_a_button_says_to_scripts_whom_it_hides_and_that_nobody_is_hidden() -> None:
    run = many(1)
    buttons = tree_of(legend(run, iter(run.candidates))).findall(".//button")
    assert [each.attrib["data-toggle"] for each in buttons] == ["1", "0", "2"]
    assert {each.attrib["aria-pressed"] for each in buttons} == {"true"}
    assert {each.attrib["type"] for each in buttons} == {"button"}
    pictures = [each.attrib["class"] for button in buttons for each in button.findall("svg")]
    assert pictures == ["swatch best", "swatch base", "swatch c0"]


def test_the_box_for_bands_is_there_where_there_are_bands() -> None:
    run = many(0)
    assert tree_of(legend(run, run.candidates)).findall(".//input") == []
    (box,) = tree_of(legend(run, run.candidates, bands=True)).findall(".//label/input")
    assert box.attrib["type"] == "checkbox"
    assert "data-bands" in box.attrib
    assert "checked" not in box.attrib


def test_the_buttons_are_a_group_with_a_name() -> None:
    (group,) = tree_of(legend(many(0), ())).findall(".//div")
    assert (group.attrib["role"], group.attrib["aria-label"]) == (
        "group",
        "Candidates shown",
    )


def test_names_are_text_and_no_markup() -> None:
    run = small_run((candidate(0, "<b>0 & co"),), recommended=0)
    assert keys(run, *run.candidates) == ["<b>0 & corecommended"]
