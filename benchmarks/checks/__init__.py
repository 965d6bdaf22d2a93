"""Checks that explain a figure of the studies: each is a command, and the docs name it."""
