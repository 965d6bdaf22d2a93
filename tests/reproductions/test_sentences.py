"""No study says of its outcome what the run did not produce.

Every study runs in small with two seeds. A sentence that both have was written in advance: it may
say what the paper claims and how things were done, but not what came out. A sentence that differs
was made by the run: each number with a decimal in it is one of its summary, tables or settings.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, is_dataclass
from functools import cache

import pytest
from tests.reproductions.test_every_study import TINY, WITH_SLOW_ONES_MARKED

from rankwise.theory import mean_of
from reproductions.frame import Report, Setting, load_study
from reproductions.sentences import difference, listed, share, standing

SEEDS = (3, 4)
# A verdict: who is ahead, what converged, what little is left.
VERDICT = re.compile(
    r"\b(ahead of|is ahead|are ahead|was ahead|behind (?:on|by)|outperform\w*|beats?\b|"
    r"comes? (?:first|second|last)|are level|we found|was found to|is found|"
    r"little is left|(?:all|every|no) (?!but)\w+ (?:stall|converge|vanish)\w*|"
    r"keeps? (?:it|its full)|"
    r"stays? level|the others fall|where it falls|falls through|had not brought|speaks? against|"
    r"far below|far above|as much as plain|not an advantage|can lie below|most of the gain|"
    r"(?:is|are|was|were|has|have) (?:the )?(?:higher|lower|better|worse|best|worst|highest|"
    r"lowest) (?:than|here|on|in|of all)|(?:simulation|run|curves?|table) shows?)\b",
    re.IGNORECASE,
)
# Whose verdict it is, or that it is a rule and not a result.
SOMEONE_ELSE = re.compile(
    r"\bpapers?\b|Proposition|Theorem|Lemma|Definition|authors?|published|should|would",
    re.IGNORECASE,
)
NUMBER = re.compile(r"(?<![\w.])[-+−]?\d[\d,]*\.\d+(?:e[-+−]?\d+)?")


@cache
def report_of(name: str, seed: int) -> Report:
    kind, plan = TINY[name]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "of", classmethod(lambda cls, setting: plan))
        return load_study(name)(Setting(seed=seed))


def texts(report: Report) -> list[str]:
    """Everything that is said: paragraphs, captions, and what is read out of figures."""
    found: list[str] = []
    for section in report.sections:
        found += section.paragraphs
        found += [figure.caption for figure in section.figures]
        found += [figure.description for figure in section.figures]
        found += [table.caption for table in section.tables]
    return [text for text in found if text]


def said(name: str, seed: int) -> list[str]:
    """The sentences of a report."""
    every = texts(report_of(name, seed))
    return [sentence for text in every for sentence in re.split(r"(?<=[.?]) (?=\S)", text)]


def numbers(value: object) -> Iterator[float]:
    """Every number in a value, also in its strings."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        yield float(value)
    elif isinstance(value, str):
        yield from (_read(token) for token in NUMBER.findall(value))
        yield from (float(token) for token in re.findall(r"\d+", value)[:50])
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from numbers(key)
            yield from numbers(each)
    elif is_dataclass(value) and not isinstance(value, type):
        yield from numbers(asdict(value))
    elif isinstance(value, list | tuple | set):
        for each in value:
            yield from numbers(each)


def _read(token: str) -> float:
    return float(token.replace(",", "").replace("−", "-"))


def known(report: Report) -> list[float]:
    tables = [table.rows for section in report.sections for table in section.tables]
    pool = [*numbers(dict(report.summary)), *numbers(tables)]
    return [value for value in pool if math.isfinite(value)]


def is_known(token: str, pool: list[float]) -> bool:
    """Whether a number is one of the pool, as it is, without its sign, or in per cent."""
    said = _read(token)
    mantissa = re.split("e", token)[0]
    width = 0.51 * 10.0 ** -len(mantissa.partition(".")[2])
    width *= 10.0 ** int(token.partition("e")[2].replace("−", "-") or 0)
    return any(
        min(abs(said - v), abs(abs(said) - abs(v)), abs(said - 100 * v), abs(100 * said - v))
        <= width
        for v in pool
    )


every_study = pytest.mark.parametrize("name", WITH_SLOW_ONES_MARKED)


@every_study
@pytest.mark.filterwarnings("ignore:.*no list of this batch has both classes:RuntimeWarning")
def test_the_verdict_is_made_of_the_numbers_of_the_run(name):
    report = report_of(name, SEEDS[0])
    assert report.verdict.endswith(".")
    pool = known(report)
    assert [t for t in NUMBER.findall(report.verdict) if not is_known(t, pool)] == []


@every_study
@pytest.mark.filterwarnings("ignore:.*no list of this batch has both classes:RuntimeWarning")
def test_what_was_written_in_advance_has_no_verdict(name):
    first, second = (said(name, seed) for seed in SEEDS)
    fixed = [sentence for sentence in first if sentence in set(second)]
    assert fixed
    verdicts = [
        sentence
        for sentence in fixed
        if VERDICT.search(sentence) and not SOMEONE_ELSE.search(sentence) and "?" not in sentence
    ]
    assert verdicts == []


@every_study
@pytest.mark.filterwarnings("ignore:.*no list of this batch has both classes:RuntimeWarning")
def test_what_the_run_says_has_the_numbers_of_the_run(name):
    for seed, other in (SEEDS, SEEDS[::-1]):
        pool, before = known(report_of(name, seed)), set(said(name, other))
        made = [text for text in said(name, seed) if text not in before]
        missing = [
            (token, text)
            for text in made
            for token in NUMBER.findall(text)
            if not is_known(token, pool)
        ]
        assert missing == []
    # Seeds are named; a study with a random part says more that differs.
    assert made


def test_a_verdict_in_advance_is_seen_and_a_papers_is_not():
    seen = (
        "In case 1 pAp@k is behind on the sample.",
        "On new samples little is left of any difference.",
        "Every surrogate converges.",
        "That is what the simulation shows.",
        "Plain AP stays level, the others fall.",
        "SOPRC is higher than SmoothAP.",
    )
    assert all(VERDICT.search(text) and not SOMEONE_ELSE.search(text) for text in seen)
    assert SOMEONE_ELSE.search("The paper has it ahead of SGD@k-avg.")
    assert not VERDICT.search("Both methods descend from w = 0 on the same lists.")


def test_numbers_are_found_as_they_are_written():
    pool = [0.12345, -2.5, 1234.5]
    assert is_known("0.123", pool)
    assert is_known("12.3", pool)  # per cent
    assert is_known("+2.50", pool)
    assert is_known("1,234.5", pool)
    assert is_known("1.2e-01", pool)
    assert not is_known("0.125", pool)
    assert not is_known("2.6", pool)


def test_the_words_for_a_difference():
    up, level = mean_of([1.0, 1.1, 0.9]), mean_of([1.0, -1.0, 0.1])
    assert (standing(up), standing(level)) == ("higher", "level")
    assert standing(mean_of([-1.0, -1.1, -0.9])) == "lower"
    assert standing(mean_of([1.0])) == "not known to differ (one run)"
    assert difference(up, 2) == f"+1.00 ± {up.half_width():.2f}"
    assert difference(mean_of([-0.5]), 1) == "-0.5"
    assert [listed(["a", "b", "c"][:n]) for n in range(4)] == ["none", "a", "a and b", "a, b and c"]
    assert [share(n, 4) for n in (0, 3, 4)] == ["none of 4", "3 of 4", "all 4"]
    assert [share(n, 2) for n in (0, 1, 2)] == ["none of 2", "1 of 2", "both"]
