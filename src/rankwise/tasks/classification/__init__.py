"""Long-tailed classification: every class ranks all images, and is evaluated by that."""
