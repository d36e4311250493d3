"""From messages to the token ids of a prompt, by the model's own tokenizer and chat template.

Used by every engine, so that all of them send the same ids for the same messages. Not thread-safe:
one renderer belongs to one thread or one event loop. Needs no weights and no network.

What a template refuses is found out once, when the renderer is made:

- A system role that the template rejects, drops, or moves behind later turns (which would break
  the rule that prompts grow only at the end) becomes the user's, joined to the user's next message.
- Neighbours of equal role that the template rejects are merged, a blank line between them.

Templates that print today's date are given a fixed one, so that a prompt is the same tomorrow.
"""

import datetime
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from inference.engine import Message
from inference.errors import ModelError, RequestError
from inference.growing import GrowingEncoder
from inference.mask import Vocabulary
from inference.model import PromptStyle
from inference.torch_files import keep_torch_files_in_cache

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_BLANK_LINE = "\n\n"
_DATE = datetime.datetime(2024, 7, 26)


class Renderer:
    """Turns messages into token ids and ids back into text.

    A transcript that grew at the end renders to ids that begin with the earlier ids, except that
    the last earlier token may differ where the tokenizer joins it to what follows (an answer that
    begins with a line break, say).
    """

    def __init__(self, directory: Path, style: PromptStyle) -> None:
        """Load the tokenizer from a resolved model's folder.

        Raises:
            ModelError: the tokenizer cannot be read, or the style is chat and there is no template.
        """
        keep_torch_files_in_cache()
        from transformers import AutoTokenizer

        try:
            self._tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(
                directory, local_files_only=True
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            line = " ".join(str(error).split())
            raise ModelError(f"cannot read the tokenizer in {directory}: {line}") from error
        self._directory = directory
        self._style = style
        if style is PromptStyle.chat:
            if not self._tokenizer.chat_template:
                raise ModelError(
                    f"the tokenizer in {directory} has no chat template; set model.prompt=base"
                )
            self._takes_system = self._keeps_system()
            self._takes_neighbours = self._keeps("user", "user")

    @property
    def tokenizer(self) -> "PreTrainedTokenizerBase":
        """The tokenizer as transformers loaded it."""
        return self._tokenizer

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """The ids that end an answer; the tokenizer's first, which grammars allow."""
        names = ("generation_config.json", "config.json")
        path = next((path for name in names if (path := self._directory / name).exists()), None)
        of_model = json.loads(path.read_text()).get("eos_token_id") if path else None
        listed = of_model if isinstance(of_model, list) else [of_model]
        known = [self._tokenizer.eos_token_id, *listed]
        return tuple(dict.fromkeys(end for end in known if end is not None))

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """What the ids stand for; the first use takes about a second.

        Raises:
            ValueError: the tokenizer is not one of the fast ones.
        """
        from llguidance.hf import from_tokenizer

        return Vocabulary(from_tokenizer(self._tokenizer), self.ends)  # type: ignore[arg-type]

    def render(self, messages: tuple[Message, ...]) -> tuple[int, ...]:
        """The ids to send; if the last message is the assistant's, the model goes on writing it.

        Raises:
            RequestError: there are no messages, or the template refuses them.
        """
        if not messages:
            raise RequestError("a prompt needs at least one message")
        text = self._plain(messages) if self._style is PromptStyle.base else self._chat(messages)
        return self._grown.encode(text) if self._grown else tuple(self._encode(text))

    def decode(self, ids: tuple[int, ...]) -> str:
        """The text of generated ids, special tokens left out."""
        return str(
            self._tokenizer.decode(
                list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )

    def _encode(self, text: str) -> list[int]:
        # A chat template writes the beginning-of-text token itself, where there is one.
        return list(
            self._tokenizer.encode(text, add_special_tokens=self._style is PromptStyle.base)
        )

    @cached_property
    def _grown(self) -> GrowingEncoder | None:
        """Reads transcripts that grow; None where this tokenizer has to read them whole."""
        if self._style is PromptStyle.base:
            return None
        marks = [
            token.content
            for token in self._tokenizer.added_tokens_decoder.values()
            if token.special and not (token.lstrip or token.normalized or token.single_word)
        ]
        encoder = GrowingEncoder(self._encode, marks)
        try:
            return encoder if all(map(encoder.exact_for, self._trials())) else None
        except _template_errors():
            return None

    def _trials(self) -> Iterator[str]:
        """Chats that are hard to cut, if anything is."""
        for said in ("a", " b", "\n\nc ", "é\t"):
            messages = [Message("user", said), Message("assistant", said), Message("user", said)]
            yield self._apply(messages, ask=True)

    def _plain(self, messages: tuple[Message, ...]) -> str:
        text = _BLANK_LINE.join(message.content for message in messages)
        return text if messages[-1].role == "assistant" else text + _BLANK_LINE

    def _chat(self, messages: tuple[Message, ...]) -> str:
        if not self._takes_system:
            messages = tuple(
                replace(message, role="user") if message.role == "system" else message
                for message in messages
            )
        if not (self._takes_system and self._takes_neighbours):
            messages = _neighbours_merged(messages)
        *earlier, last = messages
        begun = last.content if last.role == "assistant" else ""
        try:
            return self._apply(earlier if last.role == "assistant" else messages, ask=True) + begun
        except _template_errors() as error:
            line = " ".join(str(error).split())
            raise RequestError(f"the model's chat template refuses the messages: {line}") from error

    def _apply(self, messages: list[Message] | tuple[Message, ...], *, ask: bool) -> str:
        return str(
            self._tokenizer.apply_chat_template(
                [{"role": message.role, "content": message.content} for message in messages],
                tokenize=False,
                add_generation_prompt=ask,
                strftime_now=_DATE.strftime,
                date_string=_DATE.strftime("%d %b %Y"),
            )
        )

    def _keeps(self, *roles: str) -> bool:
        """Whether messages of these roles are taken, and all of them said."""
        messages = _probes(*roles)
        try:
            text = self._apply(messages, ask=False)
        except _template_errors():
            return False
        return all(message.content in text for message in messages)

    def _keeps_system(self) -> bool:
        if not self._keeps("system", "user"):
            return False
        grown = _probes("system", "user", "assistant", "user")
        try:
            # Some templates put the system text into the last user turn.
            return self._apply(grown, ask=False).startswith(self._apply(grown[:2], ask=False))
        except _template_errors():
            return True


def _template_errors() -> tuple[type[Exception], ...]:
    from jinja2 import TemplateError

    return (TemplateError, TypeError, ValueError)


def _probes(*roles: str) -> list[Message]:
    return [
        Message(role, f"probe-{number}")  # type: ignore[arg-type]
        for number, role in enumerate(roles)
    ]


def _neighbours_merged(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    return tuple(
        Message(role, _BLANK_LINE.join(message.content for message in group))
        for role, group in groupby(messages, key=lambda message: message.role)
    )
