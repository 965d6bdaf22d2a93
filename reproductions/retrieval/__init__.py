"""Which loss ranks images of unseen classes best? SOPRC's and StableAP's tables, in small."""

from reproductions.retrieval.study import study

__all__ = ["study"]
