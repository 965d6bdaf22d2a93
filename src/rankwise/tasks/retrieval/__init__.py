"""Image retrieval: an embedding trained on, and evaluated by, the order of a gallery."""
