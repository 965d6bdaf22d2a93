"""The gap between training and test risk against the size of the sample, beside the bounds."""

QUESTION = "How fast does the gap of training and test risk fall, and do the bounds say so?"
TIME = "5 min"
DATA = "optional: --data DIR with tabular/"
