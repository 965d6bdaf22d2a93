"""Small lists whose second feature says how relevant a document is, roughly."""

from __future__ import annotations

import numpy as np


def written(path, queries=24, documents=6, seed=0, first=0):
    rng = np.random.default_rng(seed)
    lines = []
    for query in range(first, first + queries):
        noise = rng.normal(size=(documents, 3))
        relevance = rng.permutation(documents) % 3
        for document in range(documents):
            values = noise[document].copy()
            values[1] += 2 * relevance[document]
            features = " ".join(f"{n + 1}:{value:.4f}" for n, value in enumerate(values))
            lines.append(
                f"{relevance[document]} qid:{query} {features} #docid = q{query}d{document}"
            )
    path.write_text("\n".join(lines) + "\n")
    return path
