"""The SHA-256 of a trial in the store of trials, and the trials that a killed process left."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

import optuna
from optuna.storages import RDBStorage
from optuna.trial import FrozenTrial, TrialState

from rankwise.errors import UsageError

_SEAL, _STOPPED = "sha256", "stopped"


def seal_trial(trial: optuna.Trial, value: float | None, state: TrialState) -> None:
    """Store the SHA-256 of a trial that is about to end with a value and a state."""
    trial.set_user_attr(_SEAL, _digest(trial.params, trial.user_attrs, value, state))


def leave_stopped(study: optuna.Study, storage: RDBStorage) -> None:
    """End the trials of a process that was stopped; they count as never begun."""
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        # First the mark: one that had its seal already is otherwise taken for a failed trial.
        storage.set_trial_user_attr(trial._trial_id, _STOPPED, True)
        study.tell(trial.number, state=TrialState.FAIL)


def is_done(study: optuna.Study, trial: FrozenTrial) -> bool:
    """Whether a trial came to an end and was not stopped.

    Raises:
        UsageError: If it was changed since.
    """
    attributes = trial.user_attrs
    if _STOPPED in attributes or _SEAL not in attributes:
        return False
    value = trial.value if trial.state == TrialState.COMPLETE else None
    if attributes[_SEAL] != _digest(trial.params, attributes, value, trial.state):
        raise UsageError(
            f"study.db: trial {trial.number} of {study.study_name} was changed or damaged, its "
            "SHA-256 is not the one that was stored; restore the file, or start the run in another "
            "folder with --out"
        )
    return True


def _digest(
    params: Mapping[str, object],
    attributes: Mapping[str, object],
    value: float | None,
    state: TrialState,
) -> str:
    kept = {name: each for name, each in attributes.items() if name != _SEAL}
    known = [dict(params), kept, value if state == TrialState.COMPLETE else None, state.name]
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()
