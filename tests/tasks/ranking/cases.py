"""Small lists whose second feature says how relevant a document is, roughly; random runs."""

from __future__ import annotations

import numpy as np

from rankwise.data.letor import write_qrels, write_run


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


def random_files(folder, seed, ties):
    """A run and qrels of 30 queries, one of which the run does not have."""
    rng = np.random.default_rng(seed)
    run, qrels = {}, {}
    for query in range(30):
        documents = [f"d{number}" for number in rng.permutation(60)[:40]]
        scores = rng.normal(size=25)
        scores = np.round(scores, 0 if ties else 6)
        run[f"q{query}"] = dict(zip(documents[:25], scores.tolist(), strict=True))
        # Some of what is judged was not retrieved, some of what was retrieved is not judged.
        judged = [*documents[:15], *documents[25:]]
        qrels[f"q{query}"] = {d: int(rng.integers(-1, 4)) for d in judged}
    del run["q3"]
    write_run(folder / "run.txt", run)
    write_qrels(folder / "qrels.txt", qrels)
    return folder / "run.txt", folder / "qrels.txt"
