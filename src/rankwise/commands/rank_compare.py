"""``rankwise rank compare``: two runs on the same judgments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankwise.commands.guard import Debug
from rankwise.commands.outputs import require_other
from rankwise.commands.rank_files import TREC, read_judged_run, whole_relevance
from rankwise.commands.shared import Seed, names_of, one_line, say, show


def compare(  # noqa: PLR0917  (a command line is called by names)
    run_a: Annotated[Path, typer.Argument(help="Run file of TREC.")],
    run_b: Annotated[Path, typer.Argument(help="Run file of TREC to compare it with.")],
    qrels: Annotated[Path, typer.Argument(help="Judgments: qrels of TREC.")],
    metrics: Annotated[str, typer.Option(help="Metrics, separated by commas.")] = TREC,
    relevant: Annotated[
        int, typer.Option(help="Smallest relevance of a document that counts as relevant.")
    ] = 1,
    seed: Seed = 0,
    json: Annotated[Path | None, typer.Option(help="JSON file for the numbers.")] = None,
    debug: Debug = False,
) -> None:
    """Compare two runs query by query: paired differences with intervals and p-values."""
    with one_line(debug=debug):
        from rankwise.data.letor import read_qrels  # noqa: PLC0415  (seconds to import)
        from rankwise.report import write_json  # noqa: PLC0415
        from rankwise.tasks import ranking as task  # noqa: PLC0415

        require_other("--json", json, run_a, run_b, qrels)
        names, least = names_of("metrics", metrics), whole_relevance(relevant)
        judgments = read_qrels(qrels)
        runs = []
        for path in (run_a, run_b):
            run, remarks = read_judged_run(path, judgments, qrels)
            runs.append(run)
            say(remarks, error=True)
        found = task.compare_runs(runs[0], runs[1], judgments, names, relevant=least, seed=seed)
        show(task.comparison_table(found, str(run_a), str(run_b)))
        if json is not None:
            numbers = {name: each.plain for name, each in found.items()}
            first, second = (task.queries_without_run(run, judgments) for run in runs)
            write_json(
                json,
                {
                    "run_a": str(run_a),
                    "run_b": str(run_b),
                    "qrels": str(qrels),
                    "relevant": least,
                    "queries_not_in_run_a": first,
                    "queries_not_in_run_b": second,
                    "metrics": numbers,
                },
            )
