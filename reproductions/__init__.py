"""The papers' tables and figures, each one command: ``python -m reproductions NAME``."""
