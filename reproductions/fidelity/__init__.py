"""Every objective against every metric, on the data it was trained on."""

QUESTION = "Does training on an objective raise the metric it stands for?"
TIME = "15 min"
