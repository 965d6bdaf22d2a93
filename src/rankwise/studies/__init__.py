"""The figures and claims of the papers as runnable studies: ``rankwise study NAME``."""

from rankwise.studies.base import Result, Setting
from rankwise.studies.registry import STUDIES, UnknownStudyError, run_study

__all__ = ["run_study", "STUDIES", "Setting", "Result", "UnknownStudyError"]
