"""Train a Hugging Face model with a rankwise objective as ``compute_loss_func``."""

import tempfile
from typing import Any

import torch
import transformers
from torch import Tensor

from rankwise.metrics import average_precision
from rankwise.objectives import SOPRC


def rare_texts(texts: int, seed: int) -> list[dict[str, Tensor]]:
    """Return texts of eight random words; one text in twenty contains the word 7."""
    random = torch.Generator().manual_seed(seed)
    words = torch.randint(8, 40, (texts, 8), generator=random)
    positive = torch.rand(texts, generator=random) < 0.05
    words[positive, torch.randint(0, 8, (texts,), generator=random)[positive]] = 7
    return [{"input_ids": w, "labels": y} for w, y in zip(words, positive.long(), strict=True)]


def compute_metrics(prediction: transformers.EvalPrediction) -> dict[str, float]:
    """Compute the metric that the Trainer reports as eval_ap."""
    return {"ap": float(average_precision(prediction.predictions[:, 0], prediction.label_ids))}


def main() -> tuple[float, float]:
    """Train a tiny BERT from scratch; return the AP on new texts before and after."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "vocab_size": 40, "num_labels": 1}
    config = transformers.BertConfig(num_hidden_layers=2, num_attention_heads=2, **sizes)
    model = transformers.BertForSequenceClassification(config)
    model.criterion = SOPRC(prior=0.05)  # an attribute: checkpoints include its memory

    def loss(outputs: Any, labels: Tensor, num_items_in_batch: Tensor | None = None) -> Tensor:
        return model.criterion(outputs.logits.squeeze(-1), labels)

    with tempfile.TemporaryDirectory() as folder:
        batch = {"per_device_train_batch_size": 128, "per_device_eval_batch_size": 500}
        options = {"use_cpu": True, "report_to": [], "learning_rate": 3e-3, **batch}
        trainer = transformers.Trainer(
            model,
            transformers.TrainingArguments(folder, **options),
            train_dataset=rare_texts(2_000, seed=1),
            eval_dataset=rare_texts(1_000, seed=2),
            compute_loss_func=loss,
            compute_metrics=compute_metrics,
        )
        before = trainer.evaluate()["eval_ap"]
        trainer.train()
        after = trainer.evaluate()["eval_ap"]
    print(f"AP: {before:.3f} before, {after:.3f} after")
    return before, after


if __name__ == "__main__":
    main()
