"""Small changes of a valid file: of its bytes, its words, its JSON, what is compressed in it."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable
from random import Random

from rankwise import seals

_BYTES = (0, 1, 0x0A, 0x0D, 0x20, 0x22, 0x2C, 0x3A, 0x5F, 0x7F, 0x80, 0xFF)
_WORDS = (
    *(b"", b"-1", b"0", b"1_0", b"nan", b"inf", b"1e309", b"-0", b"1e-400", b"0x10", b"9" * 25),
    *(b"9" * 5000, b"2147483648", b"9223372036854775808", b"1000000", b"1000001", b"\0", b"\r"),
    *(b"\xff\xfe", b"\xed\xa0\x80", "ä".encode(), "\u0661".encode(), b"../../x", b"/etc/passwd"),
    *(b"x" * 20_000, b'"', b"'", b"[" * 5000, b"{" * 300, b"&a [*a]", b"\x1f\x8b", b"#", b"%"),
)
_VALUES: tuple[object, ...] = (
    *(None, True, False, -1, 0, 1, 2**31, 2**63, 10**30, 1e308, -0.5, "", "1_0", "nan", "x" * 5000),
    *("../../x", "/etc/passwd", "a\0b", "\ud800", [], {}, [[]], [None], {"a": []}, 1.5),
)
_NPY, _ZIP, _GZIP = b"\x93NUMPY", b"PK\x03\x04", b"\x1f\x8b"
_WINDOW = 4000  # bytes in which words are looked for: a database has very many
_TOKEN = re.compile(rb"[\w.+-]+|[^\w\s]")


def mutated(random: Random, content: bytes, others: list[bytes]) -> bytes:
    """Return a file with one to a few changes; ``others`` are valid files of the same kind."""
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        content = random.choice(_KINDS)(random, content, others)
    return content


def resealed(content: bytes) -> bytes:
    """Return a file with the right SHA-256 in it, as whoever means harm would write it.

    Else the reader looks at nothing behind a seal. A file without a place for one is unchanged.
    """
    if content.startswith(_NPY):  # a cache of LETOR files: arrays, and the SHA-256 of them
        return content[:-32] + hashlib.sha256(content[:-32]).digest()
    if content.startswith(_ZIP) and content[-22:].startswith(b"PK\x05\x06\0\0\0\0"):
        return seals.sealed_zip(content)  # written anew, without its comment
    place = seals._place(content)
    if place is None or len(content) < place + 64:
        return content
    return content[:place] + seals._digest(content, place) + content[place + 64 :]


def _flip(random: Random, content: bytes, _: list[bytes]) -> bytes:
    if not content:
        return b"\0"
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 2, 5))):
        place = random.randrange(len(changed))
        changed[place] = random.choice((changed[place] ^ (1 << random.randrange(8)), *_BYTES))
    return bytes(changed)


def _ends(random: Random, content: bytes) -> tuple[int, int]:
    start = random.randrange(len(content) + 1)
    return start, min(len(content), start + random.choice((1, 2, 4, 16, 64, 1000)))


def _truncate(random: Random, content: bytes, _: list[bytes]) -> bytes:
    return content[: random.randrange(len(content) + 1)]


def _delete(random: Random, content: bytes, _: list[bytes]) -> bytes:
    start, end = _ends(random, content)
    return content[:start] + content[end:]


def _repeat(random: Random, content: bytes, _: list[bytes]) -> bytes:
    start, end = _ends(random, content)
    return content[:end] + content[start:end] * random.choice((1, 2, 50)) + content[end:]


def _splice(random: Random, content: bytes, others: list[bytes]) -> bytes:
    other = random.choice(others)
    return content[: random.randrange(len(content) + 1)] + other[random.randrange(len(other) + 1) :]


def _insert(random: Random, content: bytes, _: list[bytes]) -> bytes:
    place = random.randrange(len(content) + 1)
    return content[:place] + random.choice(_WORDS) + content[place:]


def _word(random: Random, content: bytes, _: list[bytes]) -> bytes:
    start = random.randrange(max(1, len(content) - _WINDOW))
    found = list(_TOKEN.finditer(content, start, start + _WINDOW))
    if not found:
        return content
    one, other = random.choice(found), random.choice(found)
    new = random.choice((random.choice(_WORDS), other.group()))
    return content[: one.start()] + new + content[one.end() :]


def _line(random: Random, content: bytes, _: list[bytes]) -> bytes:
    lines = content.splitlines(keepends=True)
    if not lines:
        return content
    one, other = (random.randrange(len(lines)) for _ in range(2))
    kind = random.randrange(4)
    if kind == 0:
        lines[one], lines[other] = lines[other], lines[one]
    elif kind == 1:
        lines.insert(one, lines[other])
    elif kind == 2:
        del lines[one]
    else:
        return content.replace(b"\n", random.choice((b"\r", b"\r\n", b"\n\n", b"")))
    return b"".join(lines)


def _json(random: Random, content: bytes, others: list[bytes]) -> bytes:
    """Change the type of a value, or put another one in its place."""
    try:
        tree = json.loads(content)
    except (ValueError, RecursionError):
        return _word(random, content, others)
    places: list[tuple[object, object]] = []
    waiting = [tree]
    while waiting and len(places) < 5000:
        node = waiting.pop()
        keys = (
            node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        )
        places += [(node, key) for key in keys]
        waiting += [node[key] for key in keys]
    if not places:
        return json.dumps(random.choice(_VALUES)).encode()
    node, key = random.choice(places)
    other, its = random.choice(places)
    if isinstance(node, dict) and random.random() < 0.15:
        del node[key]  # type: ignore[arg-type]
    elif random.random() < 0.1:
        tree = node
    else:
        new = random.choice((random.choice(_VALUES), json.loads(json.dumps(other[its]))))  # type: ignore[index]
        node[key] = new  # type: ignore[index]
    return json.dumps(tree).encode()


def _member(random: Random, content: bytes, others: list[bytes]) -> bytes:
    """Change what is compressed, and write a zip or gzip that is whole again."""
    kinds: list[Callable[[Random, bytes, list[bytes]], bytes]] = [_flip, _truncate, _word, _json]
    if content.startswith(_GZIP):
        try:
            plain = gzip.decompress(content)
        except Exception:
            return _flip(random, content, others)
        return gzip.compress(random.choice([*kinds, _insert, _line])(random, plain, [plain]), 1)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            members = {one.filename: file.read(one) for one in file.infolist()}
    except Exception:
        return _flip(random, content, others)
    if not members:
        return content
    name = random.choice(list(members))
    changed = random.choice(kinds)(random, members[name], list(members.values()))
    if random.random() < 0.1:
        del members[name]
    else:
        members[name] = changed
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return made.getvalue()


_KINDS = (_flip, _flip, _truncate, _delete, _repeat, _splice, _insert, _word, _word, _line)
_KINDS += (_json, _json, _member, _member)
