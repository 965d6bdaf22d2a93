from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def site_folder(tmp_path_factory):
    """The site, built once as ``make docs`` builds it."""
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", out]
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": paths, "NO_MKDOCS_2_WARNING": "1"}
    made = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    return out


@pytest.fixture(scope="session")
def site(site_folder):
    """The HTML of every page by its path in the site."""
    return {
        page.relative_to(site_folder).as_posix(): page.read_text()
        for page in site_folder.rglob("*.html")
    }
