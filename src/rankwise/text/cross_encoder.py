"""A ranking objective as the loss of a cross-encoder."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import torch
from sentence_transformers import CrossEncoder
from sentence_transformers.base.losses.gradcache import CachedLossMixin, RandContext
from torch import Tensor, nn

from rankwise.checks import require_count
from rankwise.distributed import AcrossProcesses
from rankwise.objectives import Objective
from rankwise.text._lists import ranked, require_objective

Features = dict[str, Any]


class CrossEncoderLoss(CachedLossMixin, nn.Module):
    """Loss of :class:`CrossEncoderTrainer`: each query ranks its own list of documents.

    A row is a query, a list of documents and the list of their grades, of any length. A graded
    objective, such as :class:`~rankwise.objectives.NDCG`, uses the grades; others count every grade
    above 0 as relevant. A list in which all documents are relevant, or none, contributes nothing.
    Under ``torch.distributed`` the value is the mean over the lists of all processes. Objectives
    with a memory by list or item cannot be used, since a row has no id.

    Args:
        model: Cross-encoder to train, with one output.
        objective: Objective of lists, such as ``NDCG()``.
        mini_batch_size: Number of pairs in a forward pass. If given, gradients are cached: the
            memory is that of one mini-batch and the cost one more forward pass, and the value and
            the gradient stay those of the whole batch.

    Raises:
        ValueError: If the model has several outputs.

    Example:
        >>> from rankwise.objectives import ListNet
        >>> from rankwise.text import CrossEncoderLoss
        >>> CrossEncoderLoss(None, ListNet())
        Traceback (most recent call last):
        ...
        ValueError: model must be a CrossEncoder with one output, got NoneType
    """

    def __init__(
        self, model: CrossEncoder, objective: Objective, *, mini_batch_size: int | None = None
    ) -> None:
        super().__init__()
        if not isinstance(model, CrossEncoder) or model.num_labels != 1:
            outputs = f" with {model.num_labels}" if isinstance(model, CrossEncoder) else ""
            raise ValueError(
                f"model must be a CrossEncoder with one output, got {type(model).__name__}{outputs}"
            )
        require_objective(objective)
        if mini_batch_size is not None:
            require_count("mini_batch_size", mini_batch_size)
        self.model = model
        self.objective = AcrossProcesses(objective)
        self.mini_batch_size = mini_batch_size  # type: ignore[assignment]  # None: not cached
        self.uses_gradient_cache = mini_batch_size is not None

    def forward(
        self,
        inputs: Sequence[Sequence[Any]],
        labels: Sequence[Tensor],
        prompt: str | None = None,
        task: str | None = None,
    ) -> Tensor:
        """Compute the loss of a batch, as the trainer calls it.

        Args:
            inputs: The queries and the list of documents of each.
            labels: The grades of the documents of each query.
            prompt: Prompt of the model's preprocessing.
            task: Task of the model's preprocessing.
        """
        if len(inputs) != 2:
            raise ValueError(f"inputs must be queries and lists of documents, got {len(inputs)}")
        queries, documents = inputs
        sizes = [len(each) for each in documents]
        if isinstance(labels, Tensor) or [len(grades) for grades in labels] != sizes:
            received = "one number each" if isinstance(labels, Tensor) else list(map(len, labels))
            raise ValueError(f"labels must have one grade per document, {sizes}, got {received}")
        pairs = [
            (query, document)
            for query, own in zip(queries, documents, strict=True)
            for document in own
        ]
        # The trainer may have wrapped the model, which then has no device.
        device: torch.device = next(self.model.parameters()).device
        tokens = self.model.preprocess(pairs, prompt=prompt, task=task)
        features = {
            name: value.to(device) if isinstance(value, Tensor) else value
            for name, value in tokens.items()
        }
        if self.uses_gradient_cache:
            loss: Tensor = self.forward_cached([features], labels)  # type: ignore[arg-type]
            return loss
        return self.calculate_loss([[self._scores(features)]], labels)

    def calculate_loss(
        self, reps: list[list[Tensor]], labels: Any = None, *, with_backward: bool = False
    ) -> Tensor:
        """Compute the loss from the scores of the mini-batches."""
        flat = torch.cat(reps[0])
        sizes = torch.tensor([len(grades) for grades in labels], device=flat.device)
        mask = torch.arange(int(sizes.max()), device=flat.device) < sizes.unsqueeze(1)
        blank = flat.new_zeros(mask.shape)
        grades = torch.cat([each.to(flat.device, flat.dtype) for each in labels])
        # True entries in row-major order are the pairs as they came.
        scores, target = blank.masked_scatter(mask, flat), blank.masked_scatter(mask, grades)
        loss = ranked(self.objective, scores, target, mask=mask)
        if with_backward:
            loss.backward()
            loss = loss.detach()
        return loss

    def embed_minibatch(  # noqa: PLR0917  (the call of the base class)
        self,
        sentence_feature: Features,
        begin: int,
        end: int,
        with_grad: bool,
        copy_random_state: bool,
        random_state: RandContext | None = None,
    ) -> tuple[Tensor, RandContext | None]:
        """Compute the scores of some pairs, with the random numbers of ``random_state``."""
        part = _rows(sentence_feature, begin, end)
        with nullcontext() if random_state is None else random_state:
            kept = RandContext(*part.values()) if copy_random_state else None
            with torch.set_grad_enabled(with_grad):
                return self._scores(part), kept

    def get_config_dict(self) -> dict[str, Any]:
        """Return the options that a model card shows."""
        return {
            "objective": repr(self.objective.objective),
            "mini_batch_size": self.mini_batch_size,
        }

    def _scores(self, features: Features) -> Tensor:
        scores: Tensor = self.model(features)["scores"]
        return scores.reshape(-1).to(torch.promote_types(scores.dtype, torch.float32))


def _rows(features: Features, begin: int, end: int) -> Features:
    """Return some rows of padded tokens, without the columns that only pad them."""
    used = features["attention_mask"][begin:end].any(0).nonzero()
    width, stop = features["attention_mask"].shape[1], int(used.max()) + 1
    return {
        name: value[begin:end, :stop]
        if isinstance(value, Tensor) and value.dim() > 1 and value.shape[1] == width
        else value[begin:end]
        if isinstance(value, Tensor)
        else value
        for name, value in features.items()
    }
