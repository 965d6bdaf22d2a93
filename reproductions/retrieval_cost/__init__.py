"""Losses of image retrieval at equal training time and equal memory."""

QUESTION = "Which loss ranks unseen classes best at equal time and memory?"
TIME = "3 h"
DATA = "--data DIR with images/"
