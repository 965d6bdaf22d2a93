"""SoDeep: ranks from a small network that has learned to sort."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from rankwise.lists import Lists
from rankwise.objectives import Objective
from rankwise.objectives.base import Reduction

WEIGHTS = Path(__file__).with_name("sodeep_sorter.npz")
"""File of the sorter's weights, written by ``python -m reproductions.train_sodeep``."""

_STEPS, _HIDDEN = 32, 64


class Sorter(nn.Module):
    """Bidirectional LSTM from scores to their ranks divided by the length, best first.

    It reads the scores of a list in sequence, in units of their spread, through ``_STEPS`` soft
    steps, together with the logarithm of the length. Once trained, its output depends little on
    their order.
    """

    def __init__(self) -> None:
        super().__init__()
        self.steps = nn.Linear(1, _STEPS)
        self.lstm = nn.LSTM(_STEPS + 1, _HIDDEN, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * _HIDDEN + _STEPS, 1)
        # Ranking is counting: start with steps over the whole range and an open forget gate.
        with torch.no_grad():
            self.steps.weight.fill_(4.0)
            self.steps.bias.copy_(-4 * torch.linspace(-2.5, 2.5, _STEPS))
            for name, value in self.lstm.named_parameters():
                if name.startswith("bias_ih"):
                    value[_HIDDEN : 2 * _HIDDEN] = 4.0  # the forget gate

    def forward(self, scores: Tensor, lengths: Tensor) -> Tensor:
        """Return about (rank − ½)/length for the first ``lengths`` items of each row."""
        size = lengths.unsqueeze(-1)
        read = torch.tanh(self.steps(_in_units_of_spread(scores, size).unsqueeze(-1)))
        length = size.to(read.dtype).log().unsqueeze(-1).expand_as(read[..., :1])
        states = self._states(torch.cat([read, length], dim=-1), lengths)
        fractions: Tensor = self.out(torch.cat([states, read], dim=-1)).squeeze(-1)
        return fractions

    def _states(self, sequence: Tensor, lengths: Tensor) -> Tensor:
        longest = sequence.shape[1]
        if bool((lengths == longest).all()):  # nothing to pack, and three times as fast
            states: Tensor = self.lstm(sequence)[0]
            return states
        packed = pack_padded_sequence(
            sequence, lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        unpacked = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=longest)
        return unpacked[0]


def _in_units_of_spread(scores: Tensor, size: Tensor) -> Tensor:
    """Return scores minus their mean, divided by their spread, both without a gradient."""
    with torch.no_grad():
        present = torch.arange(scores.shape[-1], device=scores.device) < size
        mean = torch.where(present, scores, 0).sum(-1, keepdim=True) / size
        square = torch.where(present, (scores - mean) ** 2, 0).sum(-1, keepdim=True) / size
        spread = torch.where(square > 0, square, 1).sqrt()
    return (scores - mean) / spread


class SoDeepAP(Objective):
    """Mean rank of the positives, with ranks from a network trained to sort (SoDeep).

    The loss is mean_{i∈P} rank_i / n. The ranks come from a bidirectional LSTM that was trained on
    synthetic lists of up to 128 scores by ``python -m reproductions.train_sodeep`` and is frozen;
    the gradient reaches the scores through it. It has one layer of 64 units; those of the authors
    (technicolor-research/sodeep, ``model.py``) have two of 128 or 512, for one length. As
    published, the loss is a proxy of AP and not AP itself. The network reads positives first, then
    negatives; ``weight`` enters the mean, while ranks count every item of positive weight once.

    Args:
        reduction: See :class:`~rankwise.objectives.Objective`.

    Example:
        >>> import torch
        >>> from rankwise.baselines import SoDeepAP
        >>> scores, target = torch.tensor([2.0, 1.0, 0.0, -1.0]), torch.tensor([0, 0, 1, 1])
        >>> round(SoDeepAP()(scores, target).item(), 1)  # close to (2.5 + 3.5)/2/4
        0.8

    Reference:
        Engilberge et al. 2019, "SoDeep: A sorting deep net to learn ranking loss surrogates".
    """

    def __init__(self, *, reduction: Reduction = "mean") -> None:
        super().__init__(reduction=reduction)
        self.sorter = load_sorter()

    def risk(self, lists: Lists) -> Tensor:
        lists = lists.widened()
        scores, weight = lists.scores, lists.weight
        absent = weight == 0
        order = absent.to(torch.int8).argsort(dim=-1, stable=True)  # present items first
        sorter_dtype = self.sorter.out.weight.dtype
        ranks = self.sorter(scores.gather(-1, order).to(sorter_dtype), (~absent).sum(-1))
        positive = order < lists.positives.shape[-1]
        mass = torch.where(positive, weight.gather(-1, order), 0)
        total: Tensor = (ranks.to(scores.dtype) * mass).sum(-1)
        return total / lists.n_positives.squeeze(-1)


def load_sorter() -> Sorter:
    """Load the sorter with the weights of this package, frozen."""
    with np.load(WEIGHTS, allow_pickle=False) as arrays:
        state = {name: torch.from_numpy(arrays[name]) for name in arrays.files}
    sorter = Sorter()
    sorter.load_state_dict(state)
    return sorter.requires_grad_(False)
