"""Training curves under the gain as published and the annealed gain."""

QUESTION = "Do the published losses stall, and does the annealed gain prevent it?"
TIME = "1 min"
