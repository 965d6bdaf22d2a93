"""Losses of text retrieval on WordNet, with the encoder all-MiniLM-L6-v2."""
