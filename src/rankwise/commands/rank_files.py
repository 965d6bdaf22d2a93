"""What the commands of ``rankwise rank`` read of TREC's files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankwise.data.letor import Qrels, Run


TREC = "ndcg@10,ndcg@10(gain=linear),ap,mrr,precision@10,recall@100"
"""The metrics of a run file where none are named."""


def read_judged_run(path: Path, judgments: Qrels, qrels: Path) -> tuple[Run, list[str]]:
    """A run file, and which queries only it or only the judgments have."""
    from rankwise.data.letor import read_run  # noqa: PLC0415  (seconds to import)
    from rankwise.tasks import ranking as task  # noqa: PLC0415

    if path.is_dir():
        raise task.UsageError(
            f"{path} is a folder, not a run file; write the ranking of a finished run with "
            f"rankwise rank predict {path} FILE --out run.txt"
        )
    run = read_run(path)
    return run, task.run_remarks(run, judgments, path, qrels)


def whole_relevance(relevant: float | None) -> int:
    """The smallest relevance that counts, 1 by default; qrels have whole numbers."""
    from rankwise.errors import UsageError  # noqa: PLC0415

    if relevant is not None and not float(relevant).is_integer():
        raise UsageError(f"qrels have whole numbers; --relevant must be one, got {relevant}")
    return 1 if relevant is None else int(relevant)
