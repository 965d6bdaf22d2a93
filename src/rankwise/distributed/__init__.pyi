from rankwise.distributed.across_processes import AcrossProcesses
from rankwise.distributed.gather import gather_with_gradient

__all__ = ["AcrossProcesses", "gather_with_gradient"]
