"""What the tests of engines share: a fake server and a tiny model."""

from pathlib import Path

import pytest

from tests.inference.fake_server import Fake
from tests.inference.tiny_model import make_model


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    state = tmp_path / "state"
    state.mkdir()
    return Fake(state)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a two-layer Llama with random weights; nobody may change it."""
    folder = tmp_path_factory.mktemp("tiny")
    make_model(folder)
    return folder
