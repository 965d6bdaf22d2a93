"""Training curves under the gain as printed and the annealed gain."""

QUESTION = "Do the losses as printed stall, and does the annealed gain prevent it?"
TIME = "1 min"
