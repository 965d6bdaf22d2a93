"""Losses of a whole list by the probability of each item to come first."""

from rankwise.objectives.listwise.list_net import ListNet

__all__ = ["ListNet"]
