"""Whole applications on top of the library, one folder each."""
