"""The network that is trained: images to logits."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import linear, normalize

from rankwise.tasks.classification.settings import Settings
from rankwise.vision.backbones import Backbone, make_backbone
from rankwise.vision.network import ProjectedNetwork


class Classifier(ProjectedNetwork):
    """Images in [0, 1] to features by a backbone, and those to logits by a linear map.

    With ``cosine`` a logit is the cosine of the features and its class's vector, for which the
    margins of LDAM are meant.
    """

    def __init__(
        self,
        backbone: Backbone,
        logits: int,
        *,
        cosine: bool = False,
        freeze_batch_norm: bool = False,
    ) -> None:
        super().__init__(backbone, logits, freeze_batch_norm=freeze_batch_norm)
        self.cosine = cosine

    def forward(self, images: Tensor) -> Tensor:
        """Return logits (n, logits)."""
        features = self.backbone(self.standardize(images))
        if self.cosine:
            vectors = normalize(self.projection.weight.float(), dim=-1)
            return linear(normalize(features.float(), dim=-1), vectors)
        logits: Tensor = self.projection(features).float()
        return logits


def make_classifier(settings: Settings, logits: int) -> Classifier:
    """Make the network of the settings; what is new in it comes from torch's global generator."""
    chosen = settings.network
    backbone = make_backbone(chosen.backbone, chosen.weights, chosen.options)
    return Classifier(
        backbone, logits, cosine=settings.cosine, freeze_batch_norm=chosen.freeze_batch_norm
    )
