"""Free text as TF-IDF features of the frequent terms of the training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from rankwise.estimators.preparation._columns import Column
from rankwise.estimators.preparation._learned import Floats, Learned, Weight, word_of

TERMS = 256
_RARE, _COMMON = 2, 0.5  # least rows, and largest share of the rows, of a term


@dataclass(frozen=True)
class Text(Learned):
    """Terms with their inverse document frequencies; rows have length 1, or 0 without a term."""

    terms: tuple[str, ...]
    idf: tuple[float, ...]

    kind: ClassVar[str] = "text"

    @classmethod
    def learn(cls, values: Sequence[object], weight: Weight) -> Text:
        """Learn the most frequent terms that are in 2 rows at least and in half of them at most."""
        vectorizer = CountVectorizer()
        try:
            counts = vectorizer.fit_transform([word_of(value) for value in values])
        except ValueError:  # not a single term in all the rows
            return cls((), ())
        rows = np.ones(len(values)) if weight is None else weight
        frequency = rows @ (counts > 0)
        total, terms = float(rows.sum()), vectorizer.get_feature_names_out()
        useful = np.flatnonzero((frequency >= _RARE) & (frequency <= _COMMON * total))
        kept = sorted(useful, key=lambda place: (-frequency[place], terms[place]))[:TERMS]
        idf = np.log((1 + total) / (1 + frequency[kept])) + 1
        return cls(tuple(map(str, terms[kept])), tuple(idf.tolist()))

    @property
    def width(self) -> int:
        return len(self.terms)

    def names(self, name: str) -> list[str]:
        return [f"{name}: {term!r}" for term in self.terms]

    def write(self, column: Column, out: Floats) -> None:
        if not self.terms:
            return
        values = [word_of(value) for value in column.values]
        counts = CountVectorizer(vocabulary=self.terms).transform(values)
        often = csr_array(counts, dtype=np.float64)
        often.data = 1 + np.log(often.data)
        scaled = normalize(often * np.asarray(self.idf), copy=False).tocoo()
        out[scaled.coords] = scaled.data
