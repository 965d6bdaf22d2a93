"""The network as an estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from rankwise.checks import require_count, require_number, require_positive
from rankwise.estimators._classes import log_odds
from rankwise.estimators.base import Ranker
from rankwise.estimators.data import Floats, Loaded, Matrix, State, Training
from rankwise.estimators.neural._training import Encoding, Network, Rows, train_network
from rankwise.estimators.processes import joined_scores, world_size
from rankwise.extras import require

_BLOCK = 1 << 15  # rows scored at a time


@dataclass(kw_only=True, eq=False, repr=False)
class NeuralRanker(Ranker):
    """A multilayer perceptron trained on batches of the objective, after some cross-entropy.

    Columns of numbers are standardized, missing ones become the mean with an indicator; columns of
    words get embeddings. More than two classes have a logit each, trained on the softmax
    cross-entropy and then on the mean of the objective over the classes. The epoch with the best
    metric on the rows held out is kept. The same rows and ``random_state`` give the same model; the
    global random state is left as it was.

    Args:
        hidden: Units of the hidden layers.
        epochs: Maximum number of epochs.
        warm_start_epochs: Number of epochs of cross-entropy before those of the objective.
        patience: Epochs without a better metric after which the training stops.
        batch_size: Rows of a batch. With ``groups`` a batch is whole lists of about this number of
            rows.
        positives: Positives of a batch. None: an eighth of it, or their share in the data if that
            is more. With more than two classes a batch has about the shares of the data.
        learning_rate: Learning rate of AdamW.
        weight_decay: Weight decay of AdamW.
        device: Device of training and prediction, as torch names it.
        verbose: 1 shows a progress bar with the metric.
        objective, metric, threshold, calibration, validation_fraction, random_state, text:
            See :class:`Ranker`, which also has the other attributes.

    Attributes:
        n_iter_: Number of epochs.
        history_: The metric of every epoch on the rows held out.

    Example:
        >>> import numpy as np
        >>> from rankwise.estimators import NeuralRanker
        >>> X = np.random.default_rng(0).normal(size=(200, 2))
        >>> y = X[:, 0] > 1
        >>> model = NeuralRanker("ap", epochs=30, learning_rate=0.03, random_state=0).fit(X, y)
        >>> round(model.score(X, y), 2)
        1.0
    """

    takes_missing = True
    takes_categories = True
    takes_disk = True
    takes_partial_epochs = True
    takes_classes = True

    hidden: tuple[int, ...] = (64, 32)
    epochs: int = 200
    warm_start_epochs: int = 5
    patience: int = 20
    batch_size: int = 512
    positives: int | None = None
    learning_rate: float = 3e-3
    weight_decay: float = 1e-4
    device: str = "cpu"
    verbose: int = 0

    network_: Network = field(init=False)
    encoding_: Encoding = field(init=False)
    history_: list[float] = field(init=False)
    n_iter_: int = field(init=False)

    def _check_options(self) -> None:
        self._require(require_count, "epochs", "patience", "batch_size", "positives")
        if isinstance(self.hidden, str) or not isinstance(self.hidden, Sequence):
            raise ValueError(f"hidden must be units of layers as (64, 32), got {self.hidden!r}")
        for units in self.hidden:
            require_count("hidden", units)
        require_positive("learning_rate", self.learning_rate)
        self._require(require_number, "warm_start_epochs", "weight_decay", minimum=0)
        self._device()
        super()._check_options()

    def _device(self) -> torch.device:
        try:
            return torch.device(self.device)
        except (RuntimeError, TypeError):
            raise ValueError(
                f"device must be one that torch knows, such as 'cpu' or 'cuda', got {self.device!r}"
            ) from None

    def _work(self, data: Training) -> float:
        widths = [data.train.X.shape[1], *self.hidden, _outputs(data.train.classes)]
        weights = sum(above * below for above, below in pairwise(widths))
        return float(self.batch_size * weights)

    def _fit_scores(self, data: Training) -> None:
        device = self._device()
        train = data.train
        if data.shares is not None and world_size() > 1:
            raise ValueError(
                f"a fit that {world_size()} processes share is for two classes, got "
                f"{train.classes}; fit it in one process"
            )
        self.encoding_ = Encoding.learn(train.X, train.weight, self.preparation_.categories)
        # Where all rows are one batch a row of weight 2 is the row twice, but for rounding.
        joined = world_size() * self.batch_size
        dtype = torch.float64 if len(train) <= joined else torch.float32
        network = self._make_network(data.seed).to(device, dtype)
        rows = train.X if not isinstance(train.X, np.ndarray) else self.encoding_(train.X, dtype)

        def forward(chosen: Rows) -> Tensor:
            if isinstance(rows, tuple):  # dense rows are encoded once
                part = tuple(t[torch.from_numpy(chosen)] for t in rows)
            else:
                part = self.encoding_(rows[chosen], dtype)
            scores: Tensor = network(*(t.to(device) for t in part))
            return scores

        run = partial(self._run, network)
        with _progress(self.verbose, self.epochs) as progress:
            self.history_ = train_network(
                network,
                data,
                self,
                forward=forward,
                held_out_scores=lambda: joined_scores(run, data.held_out.X),
                progress=progress,
            )
        self.n_iter_ = len(self.history_)
        # Scores in double precision do not depend on the size of the blocks.
        self.network_ = network.cpu().double()

    def _make_network(self, seed: int) -> Network:
        encoding = self.encoding_
        with torch.random.fork_rng(devices=[]):  # the caller's random numbers are not touched
            torch.manual_seed(seed)
            outputs = _outputs(len(self.classes_))
            return Network(encoding.inputs, encoding.sizes.tolist(), self.hidden, outputs)

    def _run(self, network: Network, X: Matrix) -> Floats:
        """Return scores without a graph, by blocks, on the device and in the dtype of a network."""
        like = next(network.parameters())
        with torch.no_grad():
            several = _outputs(len(self.classes_)) > 1
            empty = (0, len(self.classes_)) if several else (0,)
            blocks = [torch.zeros(empty, dtype=like.dtype)]  # a process may have no rows
            for start in range(0, X.shape[0], _BLOCK):
                numbers, codes = self.encoding_(X[start : start + _BLOCK], like.dtype)
                blocks.append(network(numbers.to(like.device), codes.to(like.device)).cpu())
        found = torch.cat(blocks)
        return np.asarray((log_odds(found) if several else found).numpy())

    def _scores(self, X: Matrix) -> Floats:
        return self._run(self.network_, X)

    def _state(self) -> State:
        weights = self.network_.state_dict()
        state: State = {f"network.{name}": t.numpy() for name, t in weights.items()}
        state |= {f"encoding.{name}": array for name, array in vars(self.encoding_).items()}
        return state | {"history": np.array(self.history_, dtype=np.float64)}

    def _restore(self, state: Loaded) -> None:
        def part(name: str) -> Loaded:
            return {k[len(name) :]: v for k, v in state.items() if k.startswith(name)}

        self.encoding_ = Encoding(**part("encoding."))
        self.network_ = self._make_network(0).double()
        weights = {name: torch.from_numpy(array) for name, array in part("network.").items()}
        try:
            self.network_.load_state_dict(weights)
        except RuntimeError as error:
            raise ValueError(str(error)) from None
        self.history_ = state["history"].tolist()
        self.n_iter_ = len(self.history_)


def _outputs(classes: int) -> int:
    """Return the number of scores of a row: one for two classes."""
    return 1 if classes == 2 else classes


@contextmanager
def _progress(verbose: int, epochs: int) -> Iterator[Callable[[int, float], None]]:
    """Yield a function that shows an epoch in a progress bar, or does nothing."""
    if not verbose:
        yield lambda epoch, value: None
        return
    require("rankwise.estimators", "rich")
    from rich.progress import Progress  # noqa: PLC0415  (only a progress bar needs it)

    with Progress() as bar:
        task = bar.add_task("training", total=epochs)
        yield lambda epoch, value: bar.update(
            task, completed=epoch, description=f"epoch {epoch}, metric {value:.4f}"
        )
