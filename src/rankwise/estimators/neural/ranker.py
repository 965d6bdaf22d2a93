"""The network as an estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rankwise.checks import require_count, require_positive
from rankwise.estimators.base import Calibration, Ranker, State
from rankwise.estimators.data import Floats, Training
from rankwise.estimators.names import entry_of
from rankwise.estimators.neural.encoding import Encoding, learn_encoding
from rankwise.estimators.neural.network import Network
from rankwise.estimators.neural.training import Plan, train_network
from rankwise.estimators.threshold import Rule
from rankwise.extras import require

__all__ = ["NeuralRanker"]

_BLOCK = 1 << 15  # rows scored at a time


class NeuralRanker(Ranker):
    """A multilayer perceptron trained on batches of the objective, after some cross-entropy.

    Columns of numbers are standardized, missing ones become the mean with a mark beside it;
    columns of words get embeddings. The epoch with
    the best metric on the rows held out is kept. The same rows and ``random_state`` give the same
    model; the global random state is left as it was.

    hidden
        Units of the hidden layers.
    epochs, warm_start_epochs, patience
        Most epochs, how many of them are cross-entropy first, and after how many without a better
        metric to stop.
    batch_size, positives
        Rows of a batch, and how many of them are positives (None: an eighth, or their share in the
        data if that is more). With ``groups`` a batch is whole lists of about that many rows.
    learning_rate, weight_decay
        Of AdamW.
    device
        Where it is trained and run, as torch names it.
    verbose
        1 shows a progress bar with the metric.

    Fitted: ``n_iter_`` epochs, ``history_`` the metric of each on the rows held out. For the other
    parameters see :class:`~rankwise.estimators.base.Ranker`.
    """

    takes_missing: ClassVar[bool] = True
    takes_categories: ClassVar[bool] = True

    network_: Network
    encoding_: Encoding
    history_: list[float]
    n_iter_: int

    def __init__(
        self,
        objective: str = "ap",
        *,
        hidden: tuple[int, ...] = (64, 32),
        epochs: int = 200,
        warm_start_epochs: int = 5,
        patience: int = 20,
        batch_size: int = 512,
        positives: int | None = None,
        learning_rate: float = 3e-3,
        weight_decay: float = 1e-4,
        device: str = "cpu",
        verbose: int = 0,
        metric: str | None = None,
        threshold: str | float = 0.5,
        calibration: Calibration = "sigmoid",
        validation_fraction: float = 0.2,
        random_state: Any = None,
        text: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            objective,
            metric=metric,
            threshold=threshold,
            calibration=calibration,
            validation_fraction=validation_fraction,
            random_state=random_state,
            text=text,
        )
        self.hidden = hidden
        self.epochs = epochs
        self.warm_start_epochs = warm_start_epochs
        self.patience = patience
        self.batch_size = batch_size
        self.positives = positives
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.device = device
        self.verbose = verbose

    def _check_options(self) -> Rule:
        for name in ("epochs", "patience", "batch_size"):
            require_count(name, getattr(self, name))
        if self.positives is not None:
            require_count("positives", self.positives)
        if isinstance(self.hidden, str) or not isinstance(self.hidden, Sequence):
            raise ValueError(f"hidden must be units of layers as (64, 32), got {self.hidden!r}")
        for units in self.hidden:
            require_count("hidden", units)
        require_positive("learning_rate", self.learning_rate)
        for name in ("warm_start_epochs", "weight_decay"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must be >= 0, got {getattr(self, name)!r}")
        entry_of(self.objective)
        self._device()
        return super()._check_options()

    def _device(self) -> torch.device:
        try:
            return torch.device(self.device)
        except (RuntimeError, TypeError):
            raise ValueError(
                f"device must be one that torch knows, such as 'cpu' or 'cuda', got {self.device!r}"
            ) from None

    def _work(self, data: Training) -> float:
        widths = [data.train.X.shape[1], *self.hidden, 1]
        weights = sum(above * below for above, below in pairwise(widths))
        return float(self.batch_size * weights)

    def _fit_scores(self, data: Training) -> None:
        device = self._device()
        train = data.train
        self.encoding_ = learn_encoding(train.X, train.weight, self.preparation_.categories)
        # Where all rows are one batch a row of weight 2 is the row twice, but for rounding.
        dtype = torch.float64 if len(train) <= self.batch_size else torch.float32
        network = self._made(data.seed).to(device, dtype)
        rows = train.X if hasattr(train.X, "toarray") else self.encoding_(train.X, dtype)

        def forward(chosen: NDArray[np.int64]) -> Tensor:
            if isinstance(rows, tuple):  # dense rows are encoded once
                part = tuple(t[torch.from_numpy(chosen)] for t in rows)
            else:
                part = self.encoding_(rows[chosen], dtype)
            scores: Tensor = network(*(t.to(device) for t in part))
            return scores

        plan = Plan(
            self.objective,
            self.epochs,
            self.warm_start_epochs,
            self.batch_size,
            self.positives,
            self.learning_rate,
            self.weight_decay,
            self.patience,
            device,
        )
        with _progress(self.verbose, self.epochs) as tell:
            self.history_ = train_network(
                network,
                data,
                plan,
                forward=forward,
                held_out_scores=lambda: self._run(network, data.held_out.X),
                tell=tell,
            )
        self.n_iter_ = len(self.history_)
        # Scores in double precision do not depend on how many rows are scored at once.
        self.network_ = network.cpu().double()

    def _made(self, seed: int) -> Network:
        encoding = self.encoding_
        with torch.random.fork_rng(devices=[]):  # the caller's random numbers are not touched
            torch.manual_seed(seed)
            return Network(encoding.inputs, encoding.sizes.tolist(), self.hidden)

    def _run(self, network: Network, X: Any) -> Floats:
        """Scores without a graph, block by block, where and in the precision the network is."""
        like = next(network.parameters())
        with torch.no_grad():
            blocks = []
            for start in range(0, X.shape[0], _BLOCK):
                numbers, codes = self.encoding_(X[start : start + _BLOCK], like.dtype)
                blocks.append(network(numbers.to(like.device), codes.to(like.device)).cpu())
        return np.asarray(torch.cat(blocks).numpy())

    def _scores(self, X: Any) -> Floats:
        return self._run(self.network_, X)

    def _state(self) -> State:
        weights = self.network_.state_dict()
        state: State = {f"network.{name}": t.numpy() for name, t in weights.items()}
        state |= {f"encoding.{name}": array for name, array in self.encoding_.state().items()}
        return state | {"history": np.array(self.history_, dtype=np.float64)}

    def _restore(self, state: Mapping[str, Any]) -> None:
        def part(name: str) -> dict[str, Any]:
            return {k[len(name) :]: v for k, v in state.items() if k.startswith(name)}

        self.encoding_ = Encoding.of_state(part("encoding."))
        self.network_ = self._made(0).double()
        weights = {name: torch.from_numpy(array) for name, array in part("network.").items()}
        try:
            self.network_.load_state_dict(weights)
        except RuntimeError as error:
            raise ValueError(str(error)) from None
        self.history_ = state["history"].tolist()
        self.n_iter_ = len(self.history_)


@contextmanager
def _progress(verbose: int, epochs: int) -> Iterator[Callable[[int, float], None]]:
    """A bar that is told of every epoch, or nothing."""
    if not verbose:
        yield lambda epoch, value: None
        return
    require("rankwise.estimators", "rich")
    from rich.progress import Progress  # noqa: PLC0415  (only who watches needs it)

    with Progress() as bar:
        task = bar.add_task("training", total=epochs)
        yield lambda epoch, value: bar.update(
            task, completed=epoch, description=f"epoch {epoch}, metric {value:.4f}"
        )
