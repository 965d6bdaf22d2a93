"""Object detection trained on average precision: a reference detector of one stage."""
