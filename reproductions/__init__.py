"""The papers' tables and figures, each one command: ``python -m reproductions NAME``."""

from reproductions.base import Result, Setting
from reproductions.registry import STUDIES, UnknownStudyError, run_study

__all__ = ["run_study", "STUDIES", "Setting", "Result", "UnknownStudyError"]
