"""Train a skorch classifier with a rankwise objective as its criterion, scored by AP."""

import torch
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skorch import NeuralNetBinaryClassifier
from skorch.callbacks import EpochScoring
from torch import Tensor, nn

from rankwise.objectives import SOPRC


def probabilities(logits: Tensor) -> Tensor:
    """Return class probabilities for predict_proba; skorch infers them only for cross-entropy."""
    positive = torch.sigmoid(logits)
    return torch.stack([1 - positive, positive], dim=1)


def main() -> tuple[float, float]:
    """Fit; return the test AP before and after."""
    torch.manual_seed(0)
    x, y = make_classification(4_000, weights=[0.97], flip_y=0, class_sep=1.5, random_state=0)
    x, x_test, y, y_test = train_test_split(
        x.astype("float32"), y, stratify=y, test_size=0.5, random_state=0
    )
    net = NeuralNetBinaryClassifier(
        nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(0)),
        criterion=SOPRC,
        criterion__prior=float(y.mean()),  # an option of the objective, available to a grid search
        predict_nonlinearity=probabilities,
        optimizer=torch.optim.Adam,
        lr=0.01,
        batch_size=256,
        max_epochs=10,
        callbacks=[EpochScoring("average_precision", lower_is_better=False, name="valid_ap")],
    )
    untrained = net.initialize().predict_proba(StandardScaler().fit(x).transform(x_test))
    before = average_precision_score(y_test, untrained[:, 1])
    model = make_pipeline(StandardScaler(), net).fit(x, y)
    after = average_precision_score(y_test, model.predict_proba(x_test)[:, 1])
    print(f"test AP: {before:.3f} before, {after:.3f} after")
    return float(before), float(after)


if __name__ == "__main__":
    main()
