"""The files of a release agree with pyproject.toml, with the Makefile and with each other."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from email import message_from_string
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = SETTINGS["project"]
ADDRESS = PROJECT["urls"]["Source"]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
YAML = [
    *WORKFLOWS,
    *sorted((ROOT / ".github").glob("*.yml")),
    *sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")),
    ROOT / ".pre-commit-config.yaml",
    ROOT / "CITATION.cff",
    ROOT / "recipe/recipe.yaml",
]
SET_AT_PUBLICATION = [
    *YAML,
    *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "ROADMAP", "SECURITY")),
    ROOT / "CODE_OF_CONDUCT.md",
    ROOT / "pyproject.toml",
    ROOT / "mkdocs.yml",
]
CONDA = {"torch": "pytorch"}  # packages with another name on conda-forge


def read(path):
    return yaml.safe_load(path.read_text())


def steps(workflow):
    for job in read(workflow)["jobs"].values():
        yield from ((job, step) for step in job["steps"])


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.name)
def test_yaml_files_parse(path):
    assert isinstance(read(path), dict)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_run_targets_of_the_makefile(path):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    called = set()
    for job, step in steps(path):
        for words in re.findall(r"^make (.+)$", step.get("run", ""), re.MULTILINE):
            matrix = job.get("strategy", {}).get("matrix", {}).get("command", [])
            called |= set(matrix if words.startswith("${{") else words.split())
    assert called
    assert called <= targets


def test_the_workflows_do_what_the_checks_before_a_change_do():
    before = set(re.findall(r"^make (\S+)$", (ROOT / ".ci/run").read_text(), re.MULTILINE))
    assert {"lint", "docs", "test"} <= before
    text = "".join(path.read_text() for path in WORKFLOWS)
    assert all(f"run: make {name}\n" in text for name in before)


def test_versions_of_python_that_have_not_passed_are_experimental():
    matrix = read(ROOT / ".github/workflows/checks.yml")["jobs"]["tests"]["strategy"]["matrix"]
    stated = {c.rsplit(" ", 1)[1] for c in PROJECT["classifiers"] if ":: 3." in c}
    assert set(matrix["python"]) == stated == {"3.11"}
    assert matrix["experimental"] == [False]
    later = {row["python"]: row["experimental"] for row in matrix["include"]}
    assert later
    assert all(later.values())
    assert not stated & set(later)


def test_publishing_needs_no_token():
    jobs = read(ROOT / ".github/workflows/release.yml")["jobs"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["publish"]["environment"] == "pypi"
    assert "secrets." not in (ROOT / ".github/workflows/release.yml").read_text()


def test_citation():
    citation = read(ROOT / "CITATION.cff")
    required = {"cff-version", "message", "title", "authors"}
    assert required <= set(citation)
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert citation["keywords"] == PROJECT["keywords"]
    assert citation["repository-code"] == ADDRESS
    papers = (ROOT / "docs/papers.md").read_text().replace("\n  ", " ")
    for reference in citation["references"]:
        assert {"type", "title", "authors", "year"} <= set(reference)
        assert "url" in reference or "doi" in reference
        title = reference["title"].removeprefix("Algorithmic Foundations of ")
        assert title in papers, title


def test_the_recipe_has_the_version_and_the_dependencies_of_the_package():
    recipe = read(ROOT / "recipe/recipe.yaml")
    assert recipe["context"]["version"] == PROJECT["version"]
    assert f">={recipe['context']['python_min']}" == PROJECT["requires-python"]
    wanted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["cli"]]
    names = (re.fullmatch(r"([\w-]+)(\W.*)", requirement).groups() for requirement in wanted)
    run = recipe["requirements"]["run"]
    assert run[0] == "python >=${{ python_min }}"
    assert sorted(run[1:]) == sorted(f"{CONDA.get(name, name)} {bound}" for name, bound in names)
    (entry,) = recipe["build"]["python"]["entry_points"]
    assert dict([entry.split(" = ")]) == PROJECT["scripts"]
    assert recipe["about"]["summary"] == PROJECT["description"]


def test_pre_commit_has_the_ruff_of_the_constraints():
    first = read(ROOT / ".pre-commit-config.yaml")["repos"][0]
    assert f"\nruff=={first['rev'].removeprefix('v')}\n" in (ROOT / "constraints.txt").read_text()


def test_one_address_that_one_replacement_changes():
    assert all(url.startswith(ADDRESS) for url in PROJECT["urls"].values())
    for path in SET_AT_PUBLICATION:
        for found in re.findall(r"https://github\.com/[\w-]+/rankwise\b", path.read_text()):
            assert found == ADDRESS, path
    assert ADDRESS in (ROOT / "CONTRIBUTING.md").read_text()
    assert ADDRESS in (ROOT / "ROADMAP.md").read_text()


def test_coverage_is_of_branches_and_of_the_processes_that_tests_start():
    measured = SETTINGS["tool"]["coverage"]["run"]
    assert measured["branch"]
    assert "subprocess" in measured["patch"]
    assert measured["source_dirs"] == ["src/rankwise"]
    assert SETTINGS["tool"]["coverage"]["report"]["fail_under"] >= 95
    target = re.search(r"^coverage:.*\n\t(.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert "--cov " in target.group(1)
    assert "-W ignore::coverage.exceptions.CoverageWarning" in target.group(1)


def test_the_description_of_an_index_has_no_relative_links(tmp_path):
    """Built as pip builds it, on what the metadata needs."""
    pytest.importorskip("setuptools", minversion="77")
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "src" / "rankwise").mkdir(parents=True)
    make = "from setuptools import build_meta; build_meta.prepare_metadata_for_build_wheel('.')"
    subprocess.run([sys.executable, "-c", make], cwd=tmp_path, check=True, capture_output=True)
    (metadata,) = tmp_path.glob("*.dist-info/METADATA")
    made = message_from_string(metadata.read_text())
    assert made["Description-Content-Type"] == "text/markdown"
    text = made.get_payload()
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)\s]+)\)", text)
    assert len([mark for mark, _ in links if mark]) == 5
    of_files = [(mark, link) for mark, link in links if link.startswith(ADDRESS)]
    readme = (ROOT / "README.md").read_text()
    assert len(of_files) == len(re.findall(r"\]\((?!https:)", readme))
    for _, link in links:
        assert link.startswith("https://")
    for mark, link in of_files:
        view, tag, path = link.removeprefix(f"{ADDRESS}/").split("/", 2)
        assert (view, tag) == ("raw" if mark else "blob", f"v{PROJECT['version']}")
        assert (ROOT / path.partition("#")[0]).exists()


def test_the_changelog_has_sections():
    text = (ROOT / "CHANGELOG.md").read_text()
    assert re.search(r"^## (Unreleased|\[?\d+\.\d+\.\d+)", text, re.MULTILINE)
    sections = re.findall(r"^### (.+)$", text.split("\n## ")[1], re.MULTILINE)
    assert sections == ["Added", "Changed", "Fixed"]


def test_the_changelog_has_the_version_and_the_date_of_the_citation():
    citation = read(ROOT / "CITATION.cff")
    (first, *_) = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert first in ("Unreleased", f"{citation['version']} - {citation['date-released']}")
