"""The retrieval tables of SOPRC and StableAP in small."""

QUESTION = "Which loss ranks images of unseen classes best?"
TIME = "70 min"
DATA = "--data DIR with images/"
