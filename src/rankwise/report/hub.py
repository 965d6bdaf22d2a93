"""Runs on the Hugging Face Hub: nothing is sent or fetched unless it is asked for."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwise._record import require_unchanged
from rankwise.errors import UsageError, foreign_errors
from rankwise.extras import require
from rankwise.report.card import CARD, write_card
from rankwise.report.results import read_summary

if TYPE_CHECKING:
    from huggingface_hub import HfApi

# What a run needs to be used again. Left out: predictions, row numbers and hashes of the training
# rows, checkpoints, interactions of people, trials.
_SENT: tuple[str, ...] = ("run.json", "config.json", "config.yaml", "results.json", "model.ranker")
_SENT += ("model.safetensors", "model/*.ranker", "model/model.json", "model/ranks.npz", CARD)
_COMMANDS = ("compare", "rank", "classify", "retrieval")
_PICKLED = (".pkl", ".pickle", ".joblib", ".pt", ".pth", ".bin", ".ckpt", ".dill", ".h5")


def push_to_hub(
    folder: str | Path, repo: str, *, private: bool = True, token: str | None = None
) -> str:
    """Upload the model, the settings and the results of a finished run, with a model card.

    Predictions, checkpoints and everything about single rows of the data stay here.

    Args:
        folder: Folder of a finished run.
        repo: Name of the repository, such as ``"me/fraud"``; it is made where it does not exist.
        private: Whether a new repository is private.
        token: Access token; None: that of ``hf auth login``.

    Returns:
        The address of the commit.

    Raises:
        UsageError: The folder holds no finished run, or the Hub refuses.
    """
    folder = Path(folder)
    summary = read_summary(folder)
    if summary is None or summary.command not in _COMMANDS:
        held = "no results" if summary is None else f"a run of rankwise {summary.command}"
        raise UsageError(
            f"{folder}: holds {held}; pass a run of rankwise {', '.join(_COMMANDS)} (a recommender "
            "holds the interactions of people, and stays where it is)"
        )
    sent = [path for name in _SENT for path in folder.glob(name)]
    require_unchanged(folder, *(path.relative_to(folder).as_posix() for path in sent))
    api = _api(token)
    with tempfile.TemporaryDirectory(prefix="rankwise-") as made:
        card = write_card(folder, Path(made) / CARD, name=repo.rpartition("/")[2])
        with foreign_errors(f"{repo}: cannot be uploaded to the Hugging Face Hub"):
            api.create_repo(repo, private=private, exist_ok=True)
            api.upload_folder(
                repo_id=repo,
                folder_path=folder,
                allow_patterns=[name for name in _SENT if name != CARD],
                commit_message="Upload a run of rankwise",
            )
            done: Any = api.upload_file(
                path_or_fileobj=card,
                path_in_repo=CARD,
                repo_id=repo,
                commit_message="Add the model card",
            )
    return str(getattr(done, "commit_url", done))


def from_hub(
    repo: str,
    *,
    revision: str | None = None,
    folder: str | Path | None = None,
    token: str | None = None,
) -> Path:
    """Download a run that :func:`push_to_hub` uploaded; its readers verify the SHA-256.

    A repository with a file that may hold pickles is refused: whoever loads such a file runs it.

    Args:
        repo: Name of the repository.
        revision: Commit, tag or branch; a commit always gives the same files.
        folder: Where to write; None: the cache of the Hub.
        token: Access token; None: that of ``hf auth login``.

    Returns:
        The folder of the run, for ``rankwise predict`` or :func:`rankwise.serving.load_scorer`.

    Raises:
        UsageError: The repository is not there, holds pickles, or holds no run.
    """
    api = _api(token)
    with foreign_errors(f"{repo}: cannot be read from the Hugging Face Hub"):
        files = list(api.list_repo_files(repo, revision=revision))
    pickled = sorted(name for name in files if name.lower().endswith(_PICKLED))
    if pickled:
        raise UsageError(
            f"{repo}: holds {pickled[0]}, which may be a pickle and run programs of others when it "
            "is loaded; rankwise writes none, so this is not a run that it uploaded"
        )
    if not {"model/model.json", "model.ranker", "model.safetensors"} & set(files):
        raise UsageError(f"{repo}: holds no run that rankwise uploaded (no model file)")
    with foreign_errors(f"{repo}: cannot be downloaded from the Hugging Face Hub"):
        found = api.snapshot_download(
            repo,
            revision=revision,
            local_dir=None if folder is None else str(folder),
            allow_patterns=list(_SENT),
        )
    return Path(str(found))


def _api(token: str | None) -> HfApi:
    require("rankwise.report", "huggingface_hub")
    from huggingface_hub import HfApi  # noqa: PLC0415  (only where it is asked for)

    return HfApi(token=token)
