from __future__ import annotations

import pytest
from tests.text import models


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("encoder")


@pytest.fixture
def encoder(encoder_folder):
    return models.bi_encoder(encoder_folder / "plain")


@pytest.fixture
def dropping_encoder(encoder_folder):
    return models.bi_encoder(encoder_folder / "dropout", dropout=0.3)


@pytest.fixture
def reranker(encoder_folder):
    return models.cross_encoder(encoder_folder / "reranker")


@pytest.fixture(scope="session")
def collection():
    return models.collection()
