"""A port that is ours from before the server binds it until after it is gone."""

import socket

from inference.errors import ServerSetupError

HOST = "127.0.0.1"


class ReservedPort:
    """Holds a port without listening, so that nobody is given it while a server loads.

    Works because a server that sets SO_REUSEADDR, as vLLM does, may bind beside a socket that has
    it too and does not listen, while a search for any free port passes it over.
    """

    def __init__(self, wanted: int) -> None:
        """`wanted` 0 takes any free port.

        Raises:
            ServerSetupError: somebody listens there.
        """
        self._socket = socket.socket()
        try:
            if wanted:
                # Connections of a server that just ended do not count as somebody.
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind((HOST, wanted))
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        except OSError as error:
            self._socket.close()
            raise ServerSetupError(
                f"engine.port={wanted} cannot be had on {HOST} ({error.strerror}); "
                "engine.port=0 finds a free one"
            ) from error
        self.number: int = self._socket.getsockname()[1]

    def release(self) -> None:
        """Others may have it."""
        self._socket.close()
