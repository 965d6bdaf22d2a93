"""The network that is trained: images to logits."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import linear, normalize

from rankwise.tasks.classification.settings import Settings
from rankwise.vision.backbones import make_backbone
from rankwise.vision.network import ProjectedNetwork


class Classifier(ProjectedNetwork):
    """Images in [0, 1] to features by a backbone, and those to logits by a linear map.

    What is new in it comes from torch's global generator. With ``settings.cosine`` a logit is the
    cosine of the features and its class's vector, for which the margins of LDAM are meant.
    """

    def __init__(self, settings: Settings, logits: int) -> None:
        chosen = settings.network
        backbone = make_backbone(chosen.backbone, chosen.weights, chosen.options)
        super().__init__(backbone, logits, freeze_batch_norm=chosen.freeze_batch_norm)
        self.cosine = settings.cosine

    def forward(self, images: Tensor) -> Tensor:
        """Return logits (n, logits)."""
        features = self.backbone(self.standardize(images))
        if self.cosine:
            vectors = normalize(self.projection.weight.float(), dim=-1)
            return linear(normalize(features.float(), dim=-1), vectors)
        logits: Tensor = self.projection(features).float()
        return logits
