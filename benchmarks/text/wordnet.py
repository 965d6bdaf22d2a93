"""A search task from WordNet 3.0: find the definitions of a word among those of all words.

A query is a word and its relevant documents are the glosses of its senses, so a query has several.
The files are in Debian's package ``wordnet-base`` (``apt-get download wordnet-base`` and
``dpkg-deb -x``, folder ``usr/share/wordnet``), under the WordNet 3.0 license, which permits use,
copy and modification for any purpose. Nothing of it is part of this repository.
"""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path

from rankwise.text import TextCollection

PARTS = ("noun", "verb", "adj", "adv")
SENSES = range(2, 7)  # senses of a word that is a query
SPLITS = {"train": 500, "validation": 120, "test": 300}


def glosses(folder: Path) -> tuple[dict[str, str], dict[str, list[str]]]:
    """The gloss of every sense, without its examples, and the senses of every word."""
    texts: dict[str, str] = {}
    senses: dict[str, list[str]] = defaultdict(list)
    for part in PARTS:
        for line in (folder / f"data.{part}").read_text().splitlines():
            if line.startswith("  "):  # the license
                continue
            fields, _, gloss = line.partition(" | ")
            offset, _, kind, count, *rest = fields.split()
            text = gloss.partition('; "')[0].strip()
            if text.startswith('"'):
                continue
            sense = f"{kind}{offset}"
            texts[sense] = text
            for word in rest[: 2 * int(count, 16) : 2]:
                if word.isalpha() and word.islower():
                    senses[word].append(sense)
    return texts, senses


def collections(folder: Path, seed: int = 0) -> dict[str, TextCollection]:
    """The splits: words drawn at random of which no two share a sense, one corpus for all."""
    texts, senses = glosses(folder)
    words = sorted(word for word, own in senses.items() if len(set(own)) in SENSES)
    random.Random(seed).shuffle(words)
    taken: set[str] = set()
    chosen: list[str] = []
    for word in words:
        own = set(senses[word])
        if not own & taken and len({texts[sense] for sense in own}) == len(own):
            chosen.append(word)
            taken |= own
        if len(chosen) == sum(SPLITS.values()):
            break
    documents = {sense: texts[sense] for sense in sorted(taken)}
    queries = {word: word for word in chosen}
    found, start = {}, 0
    for split, size in SPLITS.items():
        part = chosen[start : start + size]
        start += size
        qrels = {word: dict.fromkeys(sorted(set(senses[word])), 1) for word in part}
        found[split] = TextCollection(queries, documents, qrels)
    return found
