"""Export of a saved model to ONNX."""

from __future__ import annotations

from pathlib import Path

import rankwise
from rankwise.errors import UsageError, foreign_errors
from rankwise.extras import require
from rankwise.files import read_npz, write_whole
from rankwise.serving.calibration import Calibrator, slope_beyond
from rankwise.serving.files import RANKS, Header, Parts, ranker_file, read_model_header, read_ranker
from rankwise.serving.scorer import Floats, ranker_parts, require_two_classes

require("rankwise.serving", "onnx")

from rankwise.serving.onnx.columns import add_inputs, prepared  # noqa: E402  (after the check)
from rankwise.serving.onnx.graph import Graph  # noqa: E402
from rankwise.serving.onnx.models import raw_scores  # noqa: E402


def export_onnx(path: str | Path, out: str | Path) -> Path:
    """Write a saved linear, boosted or neural model as a graph of ONNX.

    The outputs are ``score`` and ``probability``, both double of shape (rows,): those of
    :meth:`Scorer.scores` and :meth:`Scorer.probabilities`. A model of columns without names has
    the input ``X``, double of shape (rows, columns). Others have one input of shape (rows, 1) for
    every column, by its name: double for numbers (NaN is missing), string for words (``""`` is
    missing), int64 for dates (microseconds since 1970 in UTC, numpy's NaT for missing).

    Args:
        path: File of :meth:`Ranker.save <rankwise.estimators.Ranker.save>`, or folder of a run
            of ``rankwise compare``, ``rankwise rank`` or of a model.
        out: File to write.

    Returns:
        The file.

    Raises:
        UsageError: It is not such a file, or has a column of free text or more than two classes.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> import onnxruntime
        >>> from rankwise.estimators import LinearRanker
        >>> from rankwise.serving import export_onnx
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> model = LinearRanker("ap", random_state=0).fit(X, X[:, 0] > 1)
        >>> folder = tempfile.mkdtemp()
        >>> path = export_onnx(model.save(folder + "/model.rank"), folder + "/model.onnx")
        >>> score, probability = onnxruntime.InferenceSession(path).run(None, {"X": X})
        >>> bool(np.allclose(score, model.decision_function(X)))
        True
    """
    path, out = Path(path), Path(out)
    if not path.exists():
        raise UsageError(f"{path}: there is no such model")
    with foreign_errors(
        f"{path}: is not a run of compare or rank, or a saved estimator, that can be exported",
        ours_too=True,
    ):
        members, knots = _read(path)
        for _, parts in members:
            require_two_classes(parts)
        graph = Graph()
        known = [ranker_parts(*member) for member in members]
        inputs = add_inputs(graph, known[0]["preparation"], known[0]["names"])
        scores, probabilities = [], []
        for number, (header, parts) in enumerate(members):
            own = known[number]
            if own["preparation"].inputs != known[0]["preparation"].inputs:
                raise ValueError("its members have different columns")
            rows = prepared(graph, own["preparation"], inputs)
            raw = raw_scores(graph, header, parts, rows)
            probabilities.append(_probability(graph, raw, own["calibrator"]))
            score = graph.affine(raw, 1.0, -own["threshold"])
            scores.append(score if knots is None else _rank(graph, score, knots[number]))
        graph.output("score", scores[0] if knots is None else graph.mean(scores))
        graph.output("probability", graph.mean(probabilities))
        content = graph.model(rankwise.__version__).SerializeToString()
    return write_whole(out, content)


def _read(path: Path) -> tuple[list[tuple[Header, Parts]], list[Floats] | None]:
    """Return the rankers of a model, and the ranks of their scores where there are several."""
    if (ranker := ranker_file(path)) is not None:
        return [read_ranker(ranker)], None
    folder, header = read_model_header(path)
    places = [str(number) for number in range(header["members"])]
    members = [read_ranker(folder / f"{place}.ranker") for place in places]
    ranks = read_npz(folder / RANKS)
    return members, None if len(members) == 1 else [ranks[place] for place in places]


def _probability(graph: Graph, raw: str, by: Calibrator) -> str:
    smooth = graph.op("Sigmoid", graph.affine(raw, by.slope, by.intercept))
    if not len(by.knots):
        return smooth
    line = graph.interpolate(raw, by.knots, by.values)
    return graph.op(
        "Add", graph.affine(line, 1 - by.share, 0.0), graph.affine(smooth, by.share, 0.0)
    )


def _rank(graph: Graph, score: str, knots: Floats) -> str:
    beyond = graph.op("Sub", score, graph.clip(score, knots[0]))
    inside = graph.interpolate(score, *knots)
    return graph.op("Add", inside, graph.affine(beyond, slope_beyond(knots), 0.0))
