from rankwise.distributed.across_processes import AcrossProcesses
from rankwise.distributed.checkpoint import load_sharded, save_sharded
from rankwise.distributed.gather import gather_with_gradient
from rankwise.distributed.sharded_memory import shard_memories

__all__ = [
    "AcrossProcesses",
    "gather_with_gradient",
    "load_sharded",
    "save_sharded",
    "shard_memories",
]
