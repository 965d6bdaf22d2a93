"""Steps of our text losses against their peers, and the search of hard negatives.

The encoder is an embedding of words, so that the time is that of the losses. The reranker is a BERT
of one layer.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from benchmarks.timing import Result, least_processor_seconds
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.cross_encoder.losses import LambdaLoss
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from rankwise.objectives import NDCG, AveragePrecision
from rankwise.text import BiEncoderLoss, CrossEncoderLoss, TextCollection, hard_negatives

QUERIES, DOCUMENTS, BATCH, WORDS, WIDTH = 500, 10_000, 256, 2_000, 384
LISTS, LENGTH = 16, 16


def bi_encoder() -> Iterator[Result]:
    """Forward and backward of a batch of 256 pairs; four negatives of 500 queries."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    tokenizer = Tokenizer(models.WordLevel({str(w): w for w in range(WORDS)}, unk_token="0"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    embedding = StaticEmbedding(tokenizer, embedding_dim=WIDTH)
    encoder = SentenceTransformer(modules=[embedding], device="cpu")
    texts = torch.randint(0, WORDS, (QUERIES + DOCUMENTS, 8)).tolist()
    words = [" ".join(map(str, row)) for row in texts]
    queries, documents = dict(enumerate(words[:QUERIES])), dict(enumerate(words[QUERIES:]))
    train = TextCollection(queries, documents, {q: {q: 1} for q in queries})
    rows = train.pairs()
    features = [encoder.preprocess(rows[name][:BATCH]) for name in ("query", "document")]
    labels = torch.tensor(rows["label"][:BATCH])

    def step(loss: Callable[..., torch.Tensor]) -> Callable[[], None]:
        def call() -> None:
            encoder.zero_grad()
            loss([dict(each) for each in features], labels).backward()

        return call

    loss = BiEncoderLoss(encoder, AveragePrecision(outer="log"), collection=train)
    peer = step(MultipleNegativesRankingLoss(encoder))
    ours, theirs = least_processor_seconds([step(loss), peer], 10)
    detail = {"pairs": BATCH, "ms": 1e3 * ours, "theirs_ms": 1e3 * theirs}
    name = f"BiEncoderLoss(AveragePrecision), {BATCH} pairs, forward + backward"
    yield Result(name, ours / theirs, "× MultipleNegativesRankingLoss", "", detail)
    found, encoded = least_processor_seconds(
        [
            partial(hard_negatives, encoder, train, num_negatives=4),
            lambda: (encoder.encode(words[:QUERIES]), encoder.encode(words[QUERIES:])),
        ],
        1,
    )
    detail = {"queries": QUERIES, "documents": DOCUMENTS, "seconds": found}
    name = "hard_negatives, 4 of each of 500 queries among 10⁴ documents"
    yield Result(name, found / encoded, "× encoding all texts", "", detail)


def cross_encoder() -> Iterator[Result]:
    """Forward and backward of 16 lists of 16 documents with grades."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    words = {"[PAD]": 0} | {f"w{w}": w for w in range(1, WORDS)}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[PAD]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    sizes = {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 1, "num_labels": 1}
    config: Any = BertConfig.from_dict({**sizes, "vocab_size": WORDS, "num_attention_heads": 2})
    kind: Any = BertForSequenceClassification  # without types, as the next one
    fast: Any = PreTrainedTokenizerFast
    with tempfile.TemporaryDirectory() as folder:
        kind(config).save_pretrained(folder)
        fast(tokenizer_object=tokenizer, pad_token="[PAD]").save_pretrained(folder)
        reranker = CrossEncoder(folder, device="cpu")
    drawn = torch.randint(1, WORDS, (LISTS, LENGTH + 1, 8)).tolist()
    texts = [[" ".join(f"w{w}" for w in text) for text in row] for row in drawn]
    inputs = [[row[0] for row in texts], [row[1:] for row in texts]]
    grades = list(torch.randint(0, 3, (LISTS, LENGTH)))

    def step(loss: Callable[..., torch.Tensor]) -> Callable[[], None]:
        def call() -> None:
            reranker.zero_grad()
            loss(inputs, grades).backward()

        return call

    losses = (CrossEncoderLoss(reranker, NDCG()), LambdaLoss(reranker))
    ours, theirs = least_processor_seconds([step(loss) for loss in losses], 5)
    detail = {"lists": LISTS, "documents": LENGTH, "ms": 1e3 * ours, "theirs_ms": 1e3 * theirs}
    name = f"CrossEncoderLoss(NDCG), {LISTS} lists of {LENGTH}, forward + backward"
    yield Result(name, ours / theirs, "× LambdaLoss", "", detail)


ALL = [bi_encoder, cross_encoder]
