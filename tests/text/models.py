"""Small models with random weights, and a collection of random words."""

from __future__ import annotations

import torch
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.base.modules import Transformer
from sentence_transformers.sentence_transformer.modules import Pooling
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    PreTrainedTokenizerFast,
)

from rankwise.text import TextCollection

WORDS = 60
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def tokenizer() -> PreTrainedTokenizerFast:
    words = (*SPECIAL, *(f"w{n}" for n in range(WORDS)))
    made = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token"), SPECIAL, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=32, **names)


def config(dropout: float = 0.0, **more: int) -> BertConfig:
    return BertConfig(
        vocab_size=WORDS + len(SPECIAL),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        **more,
    )


def saved(folder, model_class, **options) -> str:
    torch.manual_seed(0)
    model_class(config(**options)).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return str(folder)


def bi_encoder(folder, dropout: float = 0.0) -> SentenceTransformer:
    path = saved(folder, BertModel, dropout=dropout)
    transformer = Transformer(path)
    pooling = Pooling(16)
    return SentenceTransformer(modules=[transformer, pooling], device="cpu")


def cross_encoder(folder, dropout: float = 0.0) -> CrossEncoder:
    path = saved(folder, BertForSequenceClassification, dropout=dropout, num_labels=1)
    return CrossEncoder(path, device="cpu")


def collection(queries: int = 12, documents: int = 40, seed: int = 0) -> TextCollection:
    """Queries of random words; relevant documents have some of their words, graded 1 or 2."""
    rng = torch.Generator().manual_seed(seed)

    def text(length: int) -> list[str]:
        return [f"w{n}" for n in torch.randint(0, WORDS, (length,), generator=rng).tolist()]

    asked = {f"q{n}": text(4) for n in range(queries)}
    found = {f"d{n}": text(3 + n % 5) for n in range(documents)}
    qrels: dict[str, dict[str, int]] = {query: {} for query in asked}
    for n in range(documents * 2 // 3):
        query = f"q{n % queries}"
        found[f"d{n}"] += asked[query][:2]
        qrels[query][f"d{n}"] = 1 + n % 2
    qrels["q0"]["d1"] = 1  # relevant to two queries
    return TextCollection(
        {name: " ".join(words) for name, words in asked.items()},
        {name: " ".join(words) for name, words in found.items()},
        qrels,
    )
