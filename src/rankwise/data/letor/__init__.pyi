from rankwise.data.letor._clicks import Clicks, read_clicks
from rankwise.data.letor._letor import Letor, read_letor
from rankwise.data.letor._propensity import (
    estimate_propensities,
    read_propensities,
    with_clicks,
)
from rankwise.data.letor._trec import Qrels, Run, read_qrels, read_run, write_qrels, write_run

__all__ = [
    "read_letor",
    "Letor",
    "read_clicks",
    "Clicks",
    "estimate_propensities",
    "read_propensities",
    "with_clicks",
    "read_run",
    "write_run",
    "Run",
    "read_qrels",
    "write_qrels",
    "Qrels",
]
