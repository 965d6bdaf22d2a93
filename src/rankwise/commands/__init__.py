"""The commands of ``rankwise``, one file each; ``rankwise.cli`` puts them together."""
