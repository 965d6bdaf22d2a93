from __future__ import annotations

import pytest

from reproductions import STUDIES, UnknownStudyError, run_study


def test_a_wrong_name_suggests_the_nearest(tmp_path):
    with pytest.raises(UnknownStudyError, match="did you mean 'estimator-bias'"):
        run_study("estimator_bia", tmp_path)
    with pytest.raises(UnknownStudyError, match="there are detection, estimator-bias"):
        run_study("zzz", tmp_path)


def test_every_study_says_what_it_asks():
    assert all(study.question.endswith("?") and study.time for study in STUDIES.values())
