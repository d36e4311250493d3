"""Who turns messages into the token ids that are sent to a server."""

from typing import Protocol

from inference.engine import Message
from inference.mask import Vocabulary
from inference.renderer import Renderer
from inference.sending import Host, Sender


class Prompter(Protocol):
    """Who turns messages into the token ids to send."""

    async def tokens(self, messages: tuple[Message, ...]) -> tuple[int, ...]:
        """The prompt's ids.

        Raises:
            RequestError: the chat template refuses the messages.
        """
        ...

    def vocabulary(self) -> Vocabulary | None:
        """What the ids stand for; None where the tokenizer is not on this machine."""
        ...


class LocalPrompter:
    """By the model's own files, on this machine."""

    def __init__(self, renderer: Renderer) -> None:
        """Takes the renderer over: it belongs to one event loop."""
        self._renderer = renderer
        self._latest: tuple[Message, ...] | None = None
        self._latest_tokens: tuple[int, ...] = ()

    async def tokens(self, messages: tuple[Message, ...]) -> tuple[int, ...]:
        """The ids, for milliseconds of the event loop: the renderer is not thread-safe.

        The latest prompt is remembered, because an agent counts its tokens and then sends it.
        """
        if messages != self._latest:
            self._latest_tokens = self._renderer.render(messages)
            self._latest = messages
        return self._latest_tokens

    def vocabulary(self) -> Vocabulary | None:
        """See `Prompter`; the first call takes about a second."""
        return self._renderer.vocabulary


class ServerPrompter:
    """By the server's tokenizer, for a model whose files are not on this machine."""

    def __init__(self, host: Host) -> None:
        """Asks whichever server the host has."""
        self._sender = Sender(host)

    async def tokens(self, messages: tuple[Message, ...]) -> tuple[int, ...]:
        """The ids, one more round trip for each prompt."""
        return await self._sender.send("for tokens", lambda client: client.tokenize(messages), [])

    def vocabulary(self) -> Vocabulary | None:
        """Not known here."""
        return None
