"""The rows of the table of names."""
