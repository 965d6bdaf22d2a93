"""``rankwise rank compare`` and ``rankwise rank fuse``: run files of TREC."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankwise import report
from rankwise.commands.console import require_other, say, show
from rankwise.commands.fuse import fusion_options
from rankwise.commands.options import CORRECTIONS, Seed, names_of
from rankwise.errors import UsageError
from rankwise.tasks import ranking as task  # its modules are imported where they are used
from rankwise.tasks.ranking.settings import TREC

if TYPE_CHECKING:
    from rankwise.data import letor


def compare(  # noqa: PLR0917  (a command line is called by names)
    runs: Annotated[list[Path], typer.Argument(help="Run files of TREC, two or more.")],
    qrels: Annotated[Path, typer.Argument(help="Judgments: qrels of TREC.")],
    metrics: str = ",".join(TREC),
    relevant: int = 1,
    correction: str = "randomized-tukey",
    seed: Seed = 0,
    json: Path | None = None,
) -> None:
    """Compare runs query by query: paired differences with intervals and p-values.

    Args:
        metrics: Metrics, separated by commas.
        relevant: Smallest relevance of a document that counts as relevant.
        correction: Adjustment of the p-values of more than two runs: randomized-tukey, tukey-hsd
            (studentized range) or holm.
        json: JSON file for the numbers.
    """
    from rankwise.data import letor  # noqa: PLC0415  (needs an extra)

    if len(runs) < 2:
        raise UsageError(f"a comparison needs two run files and qrels, got {len(runs)} run file")
    if correction not in CORRECTIONS:
        raise UsageError(
            f"--correction must be one of {', '.join(CORRECTIONS)}, got {correction!r}"
        )
    require_other("--json", json, *runs, qrels)
    names, judgments = names_of("metrics", metrics), letor.read_qrels(qrels)
    read = {str(path): read_run(path, judgments, qrels) for path in runs}
    if len(read) < len(runs):
        raise UsageError("every run file must be given once")
    files: dict[str, object] = {"qrels": str(qrels), "relevant": relevant}
    if len(runs) > 2:
        method = CORRECTIONS[correction]
        every = task.compare_all_runs(
            read, judgments, names, relevant=relevant, method=method, seed=seed
        )
        for name, pairs in every.items():
            show(task.pairs_table(pairs), title=name, words=("B",))
        say([
            "Means over the queries with a relevant document. p: two-sided, adjusted for the "
            f"number of pairs by {method}, not for the number of metrics."
        ])  # fmt: skip
        listed = {
            name: [{"a": a, "b": b, **asdict(each)} for (a, b), each in pairs.items()]
            for name, pairs in every.items()
        }
        if json is not None:
            report.write_json(json, {**files, "runs": list(read), "metrics": listed})
        return
    first, second = read.values()
    found = task.compare_runs(first, second, judgments, names, relevant=relevant, seed=seed)
    show(task.comparison_table(found, *read))
    if json is not None:
        files |= {"run_a": str(runs[0]), "run_b": str(runs[1])}
        missing = {
            f"queries_not_in_run_{name}": len(judgments.keys() - run.keys())
            for name, run in {"a": first, "b": second}.items()
        }
        numbers = {name: each.plain for name, each in found.items()}
        report.write_json(json, {**files, **missing, "metrics": numbers})


def fuse(
    runs: Annotated[list[Path], typer.Argument(help="Run files of TREC, two or more.")],
    out: Annotated[Path, typer.Option(help="Run file to write.")],
    method: str = "rrf",
    k: float = 60.0,
    normalize: str = "min-max",
) -> None:
    """Combine several run files into one, by rank or by score.

    Args:
        method: Fusion method: rrf (reciprocal rank fusion), combsum or combmnz.
        k: Constant of rrf; the larger, the less the first ranks count.
        normalize: Normalization of the scores per query, for combsum and combmnz: min-max or none.
    """
    from rankwise.data import letor  # noqa: PLC0415  (needs an extra)

    options = fusion_options(method, k, normalize)
    require_other("--out", out, *runs)
    if len(runs) < 2:
        raise UsageError(f"fusion needs at least two run files, got {len(runs)}")
    fused = task.fuse_runs([letor.read_run(path) for path in runs], **options)
    letor.write_run(out, fused, tag=method)
    documents = sum(map(len, fused.values()))
    say([f"{documents:,} documents of {len(fused):,} queries: {out}"], error=True)


def read_run(path: Path, judgments: letor.Qrels, qrels: Path) -> letor.Run:
    """Read a run file; report which queries only it or only the judgments have."""
    from rankwise.data import letor  # noqa: PLC0415  (needs an extra)

    if path.is_dir():
        raise UsageError(
            f"{path} is a folder, not a run file; write the ranking of a finished run with "
            f"rankwise rank predict {path} FILE --out run.txt"
        )
    run = letor.read_run(path)
    say(task.run_remarks(run, judgments, path, qrels), error=True)
    return run
