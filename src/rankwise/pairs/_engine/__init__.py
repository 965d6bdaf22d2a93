"""The n log n sums: one sort of the smaller side, then prefix sums and decayed scans."""
