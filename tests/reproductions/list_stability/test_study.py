"""What the report says of values that are made up."""

from __future__ import annotations

import pytest
from tests.reproductions.list_stability.made_up import PLAN, measured, with_verdicts

from reproductions.frame import Setting
from reproductions.list_stability.fits import fits
from reproductions.list_stability.study import report
from reproductions.list_stability.words import conclusions, lemma_words, theorem_words


def summary(values):
    return conclusions(values, fits(values))


def test_the_summary_counts_what_was_found():
    theorem, inequalities, printed, checks = summary(measured(noise=0.01))
    # 0.2 and 0.1 are below λ/(λ+1), and −1 in N is what is predicted.
    assert theorem == (
        "Theorem 2: of 12 exponents of SOPRC 8 are below the predicted one, 4 equal to it within "
        "the interval."
    )
    assert inequalities.endswith(
        "violations: 0 of 400 with ℓ ≥ ℓ₀₁; 9 of 400 where ℓ is not at least ℓ₀₁."
    )
    assert "violated in 33 of 400 lists" in printed
    assert checks == "Bounded differences of O(1/n), by lists of up to 256: yes for cross-entropy."


def test_a_result_against_the_theorem_is_said():
    values = measured(lambda steps, batch, total: steps**1.5 / total, noise=0.001)
    said = summary(values)[0]
    assert ", 4 above it (ε⁺ in T, C = 0.1, ε⁻ in T, C = 0.1, ε⁺ in T, C = 1, ε⁻ in T" in said
    still = summary(measured(lambda steps, batch, total: 0.0))[0]
    assert "12 not measured, since a distance was 0" in still
    assert "5 of 400 with" in summary(measured(violations=5))[1]


def test_losses_are_named_by_their_verdict():
    values = with_verdicts(measured(), {"a": True, "b": None, "c": False, "d": True})
    assert summary(values)[3].endswith("up to 256: yes for a, d; open for b; no for c.")


def test_the_words_of_lemma_1_depend_on_the_way():
    small, large = lemma_words(measured())
    assert small.startswith("C = 0.1, N⁺ = 20, T = 20: ε⁺ is 1.1e-01")
    assert "says nothing: it is more than twice the way of the model, 0.50" in large


def test_the_exponents_are_told_by_axis_and_of_other_losses():
    values = measured()
    data, steps, batch, others = theorem_words(values, fits(values))
    assert data.count("-1.00 ± 0.00") == 4
    assert steps.count("+0.20 ± 0.00") == 4
    assert batch.count("+0.10 ± 0.00") == 4
    assert others == (
        "Other losses (StableAP, plain AP, cross-entropy) have exponents of -1.00 to -1.00 in N."
    )


@pytest.mark.parametrize(("quick", "words"), [(False, "Seed 6. Twins"), (True, "Seed 6, a quick")])
def test_the_report_has_every_part(quick, words):
    values = measured()
    found = report(PLAN, values, Setting(seed=6, quick=quick))
    sections = {section.heading: section for section in found.sections}
    assert sections["Method"].paragraphs[0].startswith(words)
    assert "T = 5, 20, N⁺ = 20, 80" in sections["Method"].paragraphs[0]
    assert len(found.rows) == len(values.twins)
    assert len(found.table.rows) == len(fits(values))
    assert found.table.rows[0] == ("SOPRC, C = 0.1", "ε⁺ in T", "+0.20 ± 0.00", "+0.67", "below")
    constants = sections["How far one example moves the model"].tables[1].rows
    assert constants[0][:2] == ("L_w at distance 0.1", "10")
    assert constants[2][:2] == ("L of Lemma 1, without L_v", "40")  # of 40, 12, 1.5 and 39
    assert set(found.figures) == {"figure", "bound"}
    assert {len(row) for row in sections["All numbers"].tables[0].rows} == {10}
