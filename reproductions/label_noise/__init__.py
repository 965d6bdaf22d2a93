"""Pairwise surrogates for AUC trained on labels of which a part is wrong."""

QUESTION = "When do symmetric surrogates help against wrong labels?"
TIME = "2 min"
