"""A saved ranker behind HTTP: `uvicorn examples.serving.fastapi_app:app`."""

import os
from typing import Any

from fastapi import FastAPI, HTTPException

from rankwise.errors import UsageError
from rankwise.serving import load_scorer  # numpy alone: no torch, no LightGBM

app = FastAPI(title="rankwise")
scorer = load_scorer(os.environ["RANKWISE_MODEL"])


@app.post("/score")
def score(rows: list[dict[str, Any]]) -> dict[str, list[float]]:
    """Return the score and the probability of every row."""
    try:
        found = {"score": scorer.scores(rows), "probability": scorer.probabilities(rows)}
    except UsageError as error:  # a column is missing, or holds something else
        raise HTTPException(422, str(error)) from error
    return {name: values.tolist() for name, values in found.items()}
