from rankwise.objectives.listwise.list_net import ListNet

__all__ = ["ListNet"]
