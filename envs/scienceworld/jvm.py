"""The Java process. Imported when the first episode is made: py4j is not in a base installation.

It ends when its standard input does: on `close`, and also when this process is killed. Connections
need a secret, since any user of a shared machine can reach a port of the loopback interface.
"""

import logging
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from py4j.java_gateway import (  # type: ignore[import-untyped,import-not-found,unused-ignore]
    GatewayClient,
    GatewayParameters,
    JavaGateway,
    find_jar_path,
)
from py4j.protocol import (  # type: ignore[import-untyped,import-not-found,unused-ignore]
    Py4JError,
    Py4JJavaError,
    Py4JNetworkError,
    is_fatal_error,
)

from envs.errors import WorldFault
from envs.scienceworld.java import DETERMINISM, THRIFT, Java

TYPES = "object_type_ids.tsv"
"""ScienceWorld reads and writes this table in the current folder."""

START_SECONDS = 60.0
CALL_SECONDS = 300.0
"""The slowest call seen is a gold path of mendelian-genetics, 23 seconds on a busy machine."""


class Jvm:
    """A running Java process. Thread-safe.

    Raises:
        WorldFault: Java did not start.
    """

    def __init__(self, java: Java, jar: Path, heap_mb: int) -> None:
        self.jar = jar
        self._folder = tempfile.TemporaryDirectory(
            prefix="scienceworld-", ignore_cleanup_errors=True
        )
        self._log = Path(self._folder.name) / "java.log"
        types = jar.with_name(TYPES)
        if types.exists():  # else simulators that start together would overwrite each other's copy
            shutil.copy(types, self._folder.name)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [
                    java.path,
                    *DETERMINISM,
                    *THRIFT,
                    f"-Xmx{heap_mb}m",
                    "-classpath",
                    os.pathsep.join((find_jar_path(), str(jar))),
                    "py4j.GatewayServer",
                    "--die-on-broken-pipe",
                    "--enable-auth",
                    "0",
                ],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self._folder.name,
                bufsize=0,
                process_group=0,  # Ctrl-C is for the harness, which ends its episodes in order
            )
        assert self._process.stdin is not None
        # A forked child would hold the pipe open, and Java alive, after this process was killed.
        os.register_at_fork(after_in_child=self._process.stdin.close)
        # Each failure reaches the caller as WorldFault; py4j would print stack traces of it, too.
        logging.getLogger("py4j").setLevel(logging.CRITICAL)
        try:
            self._port, self._secret = self._address()
            self._settle()
        except WorldFault:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """Of the Java process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether Java still runs."""
        return self._process.poll() is None

    def connect(self) -> "Connection":
        """A new connection; it opens its socket at the first call."""
        return Connection(self._port, self._secret)

    def close(self) -> None:
        """End Java and wait until it is gone; may be called twice."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()

    @contextmanager
    def boundary(self, doing: str) -> Iterator[None]:
        """Turn what py4j raises into a `WorldFault` with the first line of what Java said."""
        try:
            yield
        except Py4JJavaError as error:
            raise WorldFault(f"ScienceWorld crashed on {doing}: {_java_message(error)}") from error
        except Py4JError as error:
            reason = self._silent_because(error)
            raise WorldFault(f"ScienceWorld did not answer on {doing}: {reason}") from error

    def _address(self) -> tuple[int, str]:
        """The port and the secret, which Java prints first."""
        deadline = time.monotonic() + START_SECONDS
        while self.alive and time.monotonic() < deadline:
            printed = self._log.read_text(errors="replace")
            if match := re.search(r"^(\d+)\n(\S+)\n", printed, re.MULTILINE):
                os.truncate(self._log, 0)  # the secret is not for error messages
                return int(match[1]), match[2]
            time.sleep(0.01)
        state = f"no address within {START_SECONDS:.0f} s" if self.alive else self._last_words()
        raise WorldFault(f"Java did not start for ScienceWorld: {state}")

    def _settle(self) -> None:
        """Have Java print nothing and, should we be killed, remove the folder itself.

        ScienceWorld prints every observation, which nobody reads.
        """
        connection = self.connect()
        with self.boundary("start"):
            java = connection.gateway.jvm.java
            # Java deletes in the reverse order of what it is told here: the folder last, empty.
            for path in (self._log.parent, self._log, self._log.with_name(TYPES)):
                java.io.File(str(path)).deleteOnExit()
            sink = java.io.BufferedOutputStream(java.io.FileOutputStream(os.devnull))
            java.lang.System.setOut(java.io.PrintStream(sink))
        connection.disconnect()

    def _silent_because(self, error: Exception) -> str:
        try:
            self._process.wait(1)  # the socket closes a moment before the process ends
        except subprocess.TimeoutExpired:
            return f"{str(error).splitlines()[0]} (Java is still running)"
        return self._last_words()

    def _last_words(self) -> str:
        try:
            log = self._log.read_text(errors="replace")
        except FileNotFoundError:
            return "Java was told to stop"
        # Java repeats itself in general terms behind `Error: ` and quotes its environment
        lines = [
            line.strip()
            for line in log.splitlines()
            if line.strip() and not line.startswith(("Error: ", "Picked up "))
        ]
        said = lines[-1] if lines else "it said nothing"
        fix = " (raise env.java_heap_mb)" if "OutOfMemoryError" in said else ""
        return f"Java has ended with exit status {self._process.poll()}: {said}{fix}"


class Connection(GatewayClient):  # type: ignore[misc,unused-ignore]
    """The way of one simulator to Java.

    Shared between simulators, py4j's cache of methods, kept by class name in a Java thread, would
    mix their classes. It differs from its base in trying once: a world must not be stepped twice,
    and a dead one not be asked a dozen times.
    """

    def __init__(self, port: int, secret: str) -> None:
        parameters = GatewayParameters(
            port=port, auth_token=secret, auto_field=True, read_timeout=CALL_SECONDS
        )
        super().__init__(gateway_parameters=parameters)
        self.gateway: Any = JavaGateway(gateway_client=self, gateway_parameters=parameters)

    def send_command(self, command: str, retry: bool = True, binary: bool = False) -> Any:
        """One message to Java and its answer."""
        connection = self._get_connection()
        try:
            answer = connection.send_command(command)
        except Py4JNetworkError:
            connection.close()
            self.disconnect()
            raise
        if is_fatal_error(answer):
            connection.close()
        else:
            self._give_back_connection(connection)
        return answer

    def disconnect(self) -> None:
        """Close the sockets; may be called twice. Later calls raise `Py4JNetworkError`."""
        self.is_connected = False
        self.close()


def _java_message(error: Any) -> str:
    """The exception's first line; its str() would fetch the whole stack trace."""
    try:
        return str(error.java_exception.toString()).splitlines()[0]
    except (Py4JError, IndexError):
        return str(error.errmsg).splitlines()[0]
