"""docs/papers.md: every number of the five documents has a row whose links and command work."""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import io
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
from markdown.extensions.toc import slugify
from tests.command_line import parse

import rankwise.cli
import reproductions.cli

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "papers.md"
VERDICTS = (
    "Reproduced at small scale",
    "Reproduced in part",
    "Reproduced",
    "Differs",
    "Cannot be run here",
    "Proof step",
    "Assumption",
)
PENDING = {"as-printed"}  # an option that follows the print where ours differs

# How many of each kind the documents number, from 1 on.
SHORT = {
    "Definition": 1,
    "Proposition": 3,
    "Theorem": 4,
    "Lemma": 1,
    "Algorithm": 2,
    "Assumption": 4,
    "Remark": 3,
    "Table": 2,
    "Figure": 2,
}
NUMBERED = {
    "SOPRC, short form": SHORT,
    "SOPRC, full form": SHORT | {"Proposition": 4, "Lemma": 5, "Table": 8, "Figure": 7},
    # Definition 5 and Proposition 6 are cited from an appendix.
    "pAp@k": {
        "Definition": 5,
        "Proposition": 6,
        "Theorem": 2,
        "Algorithm": 2,
        "Table": 3,
        "Figure": 1,
    },
    "StableAP": {
        "Definition": 5,
        "Theorem": 5,
        "Lemma": 16,
        "Property": 2,
        "Assumption": 3,
        "Remark": 7,
        "Algorithm": 1,
        "Table": 6,
        "Figure": 8,
    },
}
NAMED = {
    "StableAP": {"Problem OP0", "Problem OP1", "Problem OP2"}
    | {"Section 7.1.1.2, DFM", "Section 7.2.1.2, L_det"},
    # A book's own numbers; its second Theorem 2.1 has the number of the first.
    "Empirical X-risk": {"Theorem 2.1", "Theorem 2.1 again", "Table 2.2", "Table 2.3"}
    | {"Figure 2.3", "Figure 2.4", "Example 1", "Example 2"},
}
LABELS = (
    "xrisk avg-g aucd2 auc-emp eaucd aucminmax AP AP-app apsurr paucd1 tpaucd opauc-emp etpaucd2 "
    "epaucd2 tpaucd2 epaucd3 NDCG NDCG-loss dpm-list listnet GCL1 GCL GCLN"
)
EQUATIONS = {
    "SOPRC, short form": {str(n) for n in range(1, 19)},
    "SOPRC, full form": {str(n) for n in range(1, 94)},
    "pAp@k": {str(n) for n in (*range(1, 18), 24)},  # 18–23 are in the appendix it lacks
    "StableAP": {str(n) for n in range(1, 8)} | {f"A{n}" for n in range(1, 14)},
    "Empirical X-risk": set(LABELS.split()),
}


@dataclass(frozen=True)
class Row:
    """A row of a table, cell by cell."""

    section: str
    anchor: str
    item: str
    says: str
    stands: str
    verdict: str
    command: str
    after: str

    def __str__(self) -> str:
        return self.anchor

    @property
    def name(self) -> str:
        """The item without the equations in brackets."""
        return re.sub(r" \(Eq\..*\)$", "", self.item)

    @property
    def words(self) -> str:
        """The verdict as one of the words of the page."""
        return next(word for word in VERDICTS if self.verdict.startswith(word))

    def equations(self) -> Iterator[str]:
        """The numbers or labels of equations that the item has."""
        for group in re.findall(r"Eq\. ([^()]+)", self.item):
            for part in group.split(", "):
                first, _, last = part.partition("–")
                letter, low = re.fullmatch(r"(A?)(\d+)", first).groups() if last else ("", "0")
                if not last:
                    yield first
                    continue
                high = int(last.removeprefix(letter))
                yield from (f"{letter}{n}" for n in range(int(low), high + 1))


def _rows() -> Iterator[Row]:
    section = ""
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ")
        elif section and line.startswith("|") and not re.match(r"\| item \||\|---", line):
            before, *cells = line.split("|")
            assert before == "", line
            assert len(cells) == 6, f"{len(cells) - 1} cells instead of 5, or a bar in one: {line}"
            found = re.fullmatch(r'<a id="([^"]+)"></a>(.+)', cells[0].strip())
            assert found, f"no anchor: {line}"
            yield Row(section, *found.groups(), *(cell.strip() for cell in cells[1:]))


ROWS = list(_rows())
every_row = pytest.mark.parametrize("row", ROWS, ids=str)


def _code(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


@every_row
def test_no_cell_is_empty_or_vague(row):
    for cell in (row.item, row.stands, row.verdict, row.command):
        assert cell
    assert len(row.says) > 10
    assert row.says.endswith((".", ")"))
    assert row.verdict.startswith(VERDICTS)
    assert len(row.verdict) > len(row.words) + 5
    if row.section != "SOPRC, short form":  # whose verdicts are links to the full form's
        reason = {"Differs": "because", "Cannot be run here": "because", "Assumption": "used by"}
        assert reason.get(row.words, "") in row.verdict
    assert _resolvable(row.stands), "names nothing in the product"
    assert re.fullmatch(r"`[^`]+`", row.command), "one command"
    if row.after:
        (name,) = re.fullmatch(r"<!-- pending: ([a-z-]+) -->", row.after).groups()
        assert name in PENDING


def test_the_words_of_the_verdicts_are_explained():
    text = PAGE.read_text()
    for word in VERDICTS:
        assert f"| {word} |" in text


def test_anchors_are_different():
    assert [anchor for anchor, n in Counter(row.anchor for row in ROWS).items() if n > 1] == []


@pytest.mark.parametrize("section", EQUATIONS)
def test_no_number_is_missing(section):
    there = [row for row in ROWS if row.section == section]
    expected = Counter(NAMED.get(section, ()))
    for kind, count in NUMBERED.get(section, {}).items():
        expected.update(f"{kind} {n}" for n in range(1, count + 1))
    # An equation that is no part of another item has a row of its own.
    assert Counter(row.name for row in there if not row.name.startswith("Eq. ")) == expected
    assert {label for row in there for label in row.equations()} == EQUATIONS[section]


def test_the_sections_are_the_documents():
    assert list(dict.fromkeys(row.section for row in ROWS)) == list(EQUATIONS)


def test_the_short_form_says_what_the_full_form_says():
    full = {row.name: row for row in ROWS if row.section == "SOPRC, full form"}
    for row in (row for row in ROWS if row.section == "SOPRC, short form"):
        same = full[row.name]
        assert (row.says, row.words, row.command) == (same.says, same.words, same.command)
        assert f"(#{same.anchor})" in row.verdict


# --- links and names ---


FOLDERS = "(src|tests|reproductions)/"


def _resolvable(text: str) -> list[str]:
    """Links, API names and paths of a cell."""
    code = [word for word in _code(text) if re.match(rf"rankwise\.|{FOLDERS}", word)]
    return code + re.findall(r"\]\(([^)]+)\)", text)


def _anchors(page: Path) -> set[str]:
    text = page.read_text()
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    return {slugify(heading, "-") for heading in headings} | set(re.findall(r'id="([^"]+)"', text))


@pytest.mark.parametrize(
    "link", sorted(set(re.findall(r"\]\(([^)]+)\)", PAGE.read_text()))), ids=str
)
def test_every_link_resolves(link):
    name, _, anchor = link.partition("#")
    page = PAGE.parent / name if name else PAGE
    assert page.exists()
    assert anchor in _anchors(page), f"{page.name} has {sorted(_anchors(page))}"


def _named(name: str) -> Any:
    """What a dotted name stands for: a module, or an attribute of one."""
    module, *attributes = name, *()
    while True:
        with contextlib.suppress(ModuleNotFoundError):
            found: Any = importlib.import_module(module)
            break
        module, _, last = module.rpartition(".")
        attributes.insert(0, last)
    for attribute in attributes:
        found = getattr(found, attribute)
    return found


WORDS = sorted({word for row in ROWS for word in _resolvable(row.stands + row.verdict)})


@pytest.mark.parametrize("word", [word for word in WORDS if word.startswith("rankwise.")])
def test_every_name_is_of_the_api(word):
    assert _named(word) is not None


@pytest.mark.parametrize("word", [word for word in WORDS if re.match(FOLDERS, word)])
def test_every_path_exists(word):
    assert (ROOT / word).exists()


@every_row
def test_options_are_those_of_the_named_thing(row):
    """``name`` with ``option=value``, and option(s) ``name`` (and ``name``) of ``name``."""
    wanted = re.findall(r"`(rankwise\.[\w.]+)` with ((?:`[^`]+`(?:, | and )?)+)", row.stands)
    wanted += [
        (name, options)
        for options, name in re.findall(r"options? ((?:`\w+`(?: and )?)+) of `([^`]+)`", row.stands)
    ]
    for name, options in wanted:
        there = inspect.signature(_named(name)).parameters
        named = [word.partition("=")[0] for word in _code(options) if "." not in word]
        assert set(named) <= set(there)


# --- commands ---


def _check_configuration(task: str, given: dict[str, Any]) -> None:
    """The configuration of a training exists, and takes what is set."""
    folder = {"detect": "detection", "classify": "classification"}.get(task, task)
    settings = importlib.import_module(f"rankwise.tasks.{folder}.settings").Settings
    source = given["config"]
    settings.read(ROOT / source if source.endswith(".yaml") else source, given["change"] or [])


def _check_test(path: str) -> None:
    """The folder, or the file, the class and the function of a test exist."""
    file, *names = path.split("::")
    if (ROOT / file).is_dir():
        assert list((ROOT / file).glob("test_*.py"))
        return
    body = ast.parse((ROOT / file).read_text()).body
    for name in names:
        found = [node for node in body if getattr(node, "name", "") == name]
        assert found, f"{file} has no {name}"
        body = found[0].body


@pytest.mark.parametrize("command", sorted({_code(row.command)[0] for row in ROWS}))
def test_every_command_parses(command):
    match shlex.split(command):
        case ["python", "-m", "reproductions", *words]:
            parse(reproductions.cli.app, words)
        case ["python", "-m", "pytest", path]:
            _check_test(path)
        case ["python", "-c", code]:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(code, command, "exec"), {})
            assert out.getvalue().strip()
        case ["rankwise", task, action, *words]:
            given = parse(rankwise.cli.app, [task, action, *words])
            if action == "train":
                _check_configuration(task, given)
        case other:
            pytest.fail(f"no such kind of command: {other}")


def test_a_wrong_command_does_notparse():
    usage_error = typer.BadParameter.__mro__[1]  # of typer's own copy of click
    for app, words in (
        (reproductions.cli.app, ["stability", "--fast"]),
        (reproductions.cli.app, ["stabilities"]),
        (rankwise.cli.app, ["retrieval", "train", "sop", "--folder", "DIR"]),
        (rankwise.cli.app, ["retrieval", "learn"]),
    ):
        with pytest.raises((usage_error, typer.Exit, SystemExit)):
            parse(app, words)
    wrong = {"config": "sop", "change": ["data.train_val=true"]}
    with pytest.raises(ValueError, match="train_val"):
        _check_configuration("retrieval", wrong)
    with pytest.raises(AssertionError, match="has no"):
        _check_test("tests/test_papers.py::test_that_is_not_there")
