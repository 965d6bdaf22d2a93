"""The description for a package index: README.md with absolute links. All else: pyproject.toml."""

import re
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# The files of this version, not of a later one.
FILES = f"{PROJECT['urls']['Source']}/{{view}}/v{PROJECT['version']}/"


def absolute(readme: str) -> str:
    """Return the text with absolute links; an index has neither the images nor the pages."""

    def link(found: re.Match[str]) -> str:
        mark, text, target = found.groups()
        return f"{mark}[{text}]({FILES.format(view='raw' if mark else 'blob')}{target})"

    return re.sub(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)", link, readme)


setup(
    long_description=absolute((ROOT / "README.md").read_text(encoding="utf-8")),
    long_description_content_type="text/markdown",
)
