"""Scores of the model under the parameters of the previous step (StableAP, Eq. 6)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.func import functional_call


class PreviousModel(nn.Module):
    """Model with the parameters of the previous training call, without a gradient.

    It is called like the model. In training a call returns the scores under the parameters it
    keeps, then keeps the current ones; the first call uses the current ones. The copies are
    buffers: saved, loaded and moved with the module. Batch statistics are those of the model and
    stay unchanged.

    Args:
        model: The model that is trained; it is not saved with this module.

    Example:
        >>> import torch
        >>> from rankwise.memory import PreviousModel
        >>> model = torch.nn.Linear(1, 1, bias=False)
        >>> previous, x = PreviousModel(model), torch.ones(1, 1)
        >>> _ = previous(x)  # keeps the current weight
        >>> before = model(x).item()
        >>> _ = torch.nn.init.constant_(model.weight, 5.0)  # a training step
        >>> previous(x).item() == before, previous(x).item()
        (True, 5.0)

    Reference:
        StableAP, Eq. 6: ``loss(model(x), y, previous_scores=previous(x))``.
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        if not isinstance(model, nn.Module):
            raise ValueError(f"model must be a torch.nn.Module, got {type(model).__name__}")
        self._model = [model]  # in a list, so that the model is not saved as a submodule
        for name, parameter in model.named_parameters():
            self.register_buffer(_key(name), parameter.detach().clone())
        self.register_buffer("started", torch.zeros((), dtype=torch.bool))

    @torch.no_grad()
    def forward(self, *inputs: object, **options: object) -> Tensor:
        """Return the model's output for ``inputs`` under the previous parameters."""
        (model,) = self._model
        current = dict(model.named_parameters())
        earlier = {name: self.get_buffer(_key(name)) for name in current}
        if not self.started:
            earlier = {name: parameter.detach() for name, parameter in current.items()}
        # Buffers are passed as copies: a second forward must not count twice in running means.
        buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
        scores: Tensor = functional_call(model, {**earlier, **buffers}, inputs, options)
        if self.training:
            for name, parameter in current.items():
                self.get_buffer(_key(name)).copy_(parameter)
            self.get_buffer("started").fill_(True)
        return scores


def _key(name: str) -> str:
    return "previous_" + name.replace(".", "__")
