"""What the project depends on: pinned, hashed, licensed; tests reach this machine only."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest
from pytest_socket import SocketConnectBlockedError

ROOT = Path(__file__).parent.parent
PERMISSIVE = re.compile(r"MIT|BSD|Apache|ISC|PSF|Python Software Foundation|Zlib|HPND|CC0|3-Clause")
BY_FILE = re.compile(r"MPL|Mozilla")  # copyleft by file: used unchanged, as from an index
ASKED = {"axe-playwright-python": "MIT"}  # declares none; that of its repository


def pins(name):
    lines = (ROOT / name).read_text().splitlines()
    found = (re.match(r"([\w.-]+)==([\w.+!-]+)", line) for line in lines)
    return {
        match[1].lower().replace("_", "-").replace(".", "-"): match[2] for match in found if match
    }


def licenses():
    text = (ROOT / "docs/licenses.md").read_text()
    rows = re.findall(r"^\| *([\w.-]+) *\| *(\S+) *\| *(.*?) *\|$", text, re.MULTILINE)
    return {name.lower().replace("_", "-").replace(".", "-"): words for name, _, words in rows[2:]}


def test_the_lock_file_has_the_pinned_versions_without_torch():
    wanted = pins("constraints.txt")
    del wanted["torch"]
    assert pins("requirements.lock") == wanted


def test_every_locked_version_has_the_hash_of_a_file():
    text = (ROOT / "requirements.lock").read_text()
    blocks = re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]
    assert len(blocks) == len(pins("requirements.lock"))
    for block in blocks:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", block), block


def test_every_pinned_package_is_in_the_table_of_licenses():
    assert set(pins("constraints.txt")) <= set(licenses())


@pytest.mark.parametrize(("name", "words"), licenses().items())
def test_the_license_of_every_package_allows_its_use(name, words):
    words = ASKED.get(name, words)
    assert PERMISSIVE.search(words) or BY_FILE.search(words), words
    assert not re.search(r"(?<!L)GPL", words)


def test_a_test_cannot_reach_another_machine():
    address = ("192.0.2.1", 80)  # kept for documentation by RFC 5737
    with pytest.warns(UserWarning, match=address[0]), pytest.raises(SocketConnectBlockedError):
        socket.socket().connect(address)
