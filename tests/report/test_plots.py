"""Plots that several tasks have."""

from __future__ import annotations

import re
from math import nan

from rankwise.report.plots import bar, line_chart


def paths(made):
    return re.findall(r'<g class="([^"]*)"><path class="line" d="([^"]*)">', made)


def test_lines_are_named_where_there_are_several_and_the_last_stands_out():
    lines = {name: ([0, 1], [0.2, n]) for n, name in enumerate(("start", "<b>", "end"))}
    made = line_chart("step", "mAP", lines, "The words.")
    assert [color for color, _ in paths(made)] == ["base", "c0", "best"]
    assert re.findall(r'class="chip (\w+)">([^<]*)<', made) == [
        ("base", "start"),
        ("c0", "&lt;b&gt;"),
        ("best", "end"),
    ]
    assert 'aria-label="The words."' in made
    alone = line_chart("step", "mAP", {"only": ([0, 1], [0, 1])}, "The words.")
    assert [color for color, _ in paths(alone)] == ["best"]
    assert "chip" not in alone


def test_lines_have_the_same_colors_with_a_baseline_and_without():
    lines = {name: ([0, 1], [0.2, 0.4]) for name in ("one", "two", "ours")}
    alone = line_chart("step", "mAP", lines, "", baseline=False)
    compared = line_chart("recall", "precision", {"start": ([0, 1], [0, 1]), **lines}, "")
    chips = re.compile(r'class="chip (\w+)">([^<]*)<')
    assert chips.findall(alone) == chips.findall(compared)[1:]
    assert chips.findall(compared)[0] == ("base", "start")
    assert [color for color, _ in paths(alone)] == ["c0", "c1", "best"]


def test_whole_steps_have_no_ticks_between_them():
    made = line_chart("epoch", "loss", {"loss": ([1, 2, 3], [0.5, 0.25, 0.2])}, "")
    assert re.findall(r'text-anchor="middle">([^<]*)<', made) == ["1", "2", "3"]


def test_what_has_no_value_is_left_out_and_the_kept_point_is_marked():
    made = line_chart("epoch", "ap", {"ap": ([1, 2, 3], [0.5, nan, 0.7])}, "", kept=(3, 0.7))
    ((_, path),) = paths(made)
    assert path.count("L") == 1
    assert "<title>ap: 0.7000</title>" in made
    nothing = line_chart("epoch", "ap", {"ap": ([1], [nan])}, "", kept=(0, nan))
    assert paths(nothing) == []
    assert "<circle" not in nothing


def test_a_single_point_is_drawn_once():
    alone = line_chart("step", "loss", {"loss": ([40], [0.5])}, "")
    assert paths(alone) == []
    assert alone.count("<circle") == alone.count("<title>loss: 0.5000</title>") == 1
    kept = line_chart("step", "loss", {"loss": ([40], [0.5])}, "", kept=(40, 0.5))
    assert kept.count("<circle") == 1


def test_a_bar_has_the_length_of_its_share_and_its_value():
    image, words = bar(0.25, "base")
    assert 'width="30"' in image
    assert 'class="meter base"' in image
    assert words == "0.250"
    assert bar(nan) == "–"
