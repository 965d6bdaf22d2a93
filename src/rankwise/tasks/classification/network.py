"""The network that is trained: pictures to logits."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor
from torch.nn.functional import linear, normalize

from rankwise.tasks.classification.settings import Settings
from rankwise.tasks.retrieval.network import EmbeddingNet
from rankwise.vision.backbones import Backbone, make_backbone

__all__ = ["Classifier", "logits_for", "make_classifier"]


class Classifier(EmbeddingNet):
    """Pictures in [0, 1] to features by a backbone, and those to logits by a linear map.

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

    def forward(self, pictures: Tensor, mixing: Sequence[Tensor] = (), u: float = 0.9) -> Tensor:
        """Logits (n, logits); nothing is mixed."""
        features = self.backbone((pictures - self.mean) / self.deviation)
        if self.cosine:
            vectors = normalize(self.projection.weight.float(), dim=-1)
            return linear(normalize(features.float(), dim=-1), vectors)
        found: Tensor = self.projection(features).float()
        return found


def logits_for(classes: int, *, multi_label: bool) -> int:
    """One logit says which of two classes it is; else every class has its own."""
    return 1 if classes == 2 and not multi_label else classes


def make_classifier(settings: Settings, logits: int) -> Classifier:
    """The network of the settings, what is new in it by torch's own generator."""
    chosen = settings.network
    backbone = make_backbone(chosen.backbone, chosen.weights, chosen.options)
    return Classifier(
        backbone, logits, cosine=settings.cosine, freeze_batch_norm=chosen.freeze_batch_norm
    )
