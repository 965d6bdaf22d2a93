from rankwise._record import command_of, require_unchanged
from rankwise.training._tracking import tracking
from rankwise.training.callbacks import Callback, Step, Validation
from rankwise.training.checkpoint import CHECKPOINT
from rankwise.training.devices import (
    PRECISIONS,
    Devices,
    Place,
    require_one_process,
    world_size,
)
from rankwise.training.gradient_cache import cached_backward
from rankwise.training.learner import Learner
from rankwise.training.optimizers import (
    MomentumSGD,
    cosine_rate,
    make_optimizer,
    milestone_rate,
    parameter_groups,
    set_rate,
)
from rankwise.training.row_adam import RowAdamW
from rankwise.training.run_folder import (
    RunFolder,
    is_empty,
    open_folder,
    require_free,
)
from rankwise.training.task import (
    CachedLoss,
    Moment,
    Options,
    Record,
    Stage,
    Task,
    previous_outputs,
)
from rankwise.training.threads import reproducible
from rankwise.training.trackers import Tracker, make_tracker
from rankwise.training.trainer import Fitted, Trainer, fit

__all__ = [
    "CHECKPOINT",
    "PRECISIONS",
    "CachedLoss",
    "Callback",
    "Devices",
    "Fitted",
    "Learner",
    "Moment",
    "MomentumSGD",
    "Options",
    "Place",
    "Record",
    "RowAdamW",
    "RunFolder",
    "Stage",
    "Step",
    "Task",
    "Tracker",
    "Trainer",
    "Validation",
    "cached_backward",
    "command_of",
    "cosine_rate",
    "fit",
    "is_empty",
    "make_optimizer",
    "make_tracker",
    "milestone_rate",
    "open_folder",
    "parameter_groups",
    "previous_outputs",
    "reproducible",
    "require_free",
    "require_one_process",
    "require_unchanged",
    "set_rate",
    "tracking",
    "world_size",
]
