"""Contrastive training of an image network without labels, evaluated by its features."""
