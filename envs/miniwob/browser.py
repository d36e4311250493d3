"""The browser process. Imported when the first episode is made: Playwright is not in a base
installation.

Playwright belongs to one event loop, so that loop has a thread of its own here, and episodes send
it coroutines from theirs. Playwright talks through pipes to a process of its own, and that one to
Chromium. Both end when their pipe does: on `close`, and also when this process is killed.

Nothing outside can be reached from a page. Its requests are answered from files by `page.py`; what
does not pass there (WebSockets, name look-ups, WebRTC) meets a proxy that does not exist.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from playwright.async_api import (  # type: ignore[import-not-found,unused-ignore]
    Error,
    Playwright,
    async_playwright,
)

from envs.errors import WorldFault
from envs.miniwob.chromium import Chromium
from envs.miniwob.page import Page

CALL_SECONDS = 120.0
"""A step takes 10 to 100 ms, a page 0.3 to 3 s on a busy machine."""

CLOSE_SECONDS = 45.0
"""Until Playwright is killed, which ends a browser but leaves its folder of temporary files."""

NO_NETWORK = (
    "--proxy-server=http://nowhere.invalid:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)

T = TypeVar("T")


class Browser:
    """A running Chromium for many pages. Thread-safe.

    Raises:
        WorldFault: it did not start.
    """

    def __init__(self, chromium: Chromium, html: Path) -> None:
        self._chromium = chromium
        self._html = html
        self._playwright: Playwright | None = None
        self._browser: Any = None
        self._closed = False
        self._loop = asyncio.new_event_loop()
        # Each failure reaches the caller as WorldFault; the loop would print stack traces, too.
        self._loop.set_exception_handler(lambda loop, context: None)
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="miniwob browser", daemon=True
        )
        self._thread.start()
        try:
            self.run(self._start(), "start")
        except WorldFault:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """Of Playwright's process, whose descendants are all of the browser's."""
        return int(self._driver.pid)

    @property
    def alive(self) -> bool:
        """Whether pages can be opened."""
        # Playwright takes a browser for connected also when its own process has gone.
        return (
            not self._closed
            and bool(self._browser.is_connected())
            and not self._driver.stdout.at_eof()
        )

    def open(self, name: str) -> Page:
        """A page of MiniWoB++ in a context of its own.

        Raises:
            WorldFault: the browser has ended or the page cannot be loaded.
        """
        return self.run(Page.open(self._browser, self._html, name), f"opening {name}")

    def run(self, call: Coroutine[Any, Any, T], doing: str) -> T:
        """Have the browser's thread do this, and wait for it.

        Raises:
            WorldFault: the browser failed or did not answer.
        """
        if self._closed:
            call.close()
            raise WorldFault(f"the browser of MiniWoB++ was closed before {doing}")
        future = asyncio.run_coroutine_threadsafe(call, self._loop)
        try:
            return future.result(CALL_SECONDS)
        except TimeoutError as error:
            future.cancel()
            raise WorldFault(
                f"the browser did not answer on {doing} within {CALL_SECONDS:.0f} s"
            ) from error
        except (Error, OSError) as error:
            said = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise WorldFault(f"the browser failed on {doing}: {said}") from error

    def close(self) -> None:
        """End the browser and wait until it is gone; may be called twice."""
        if self._closed:
            return
        try:
            with suppress(WorldFault):  # it may be gone already
                self.run(self._stop(), "close")
        finally:
            self._closed = True
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _start(self) -> None:
        manager: Any = async_playwright()
        self._playwright = await manager.start()
        # Playwright's own names for the process and its pipe: it offers no others.
        self._driver: Any = manager._client._transport._proc
        pipe = self._driver.stdin.get_extra_info("pipe")
        # A forked child would hold the pipe open, and the browser alive, after we were killed.
        os.register_at_fork(after_in_child=pipe.close)
        self._browser = await self._playwright.chromium.launch(
            executable_path=self._chromium.path,
            args=list(NO_NETWORK),
            timeout=0,
            handle_sigint=False,  # Ctrl-C is for the harness, which ends its episodes in order
        )

    async def _stop(self) -> None:
        """End all processes in order. Playwright gives the browser 30 seconds, then kills it."""
        if self._playwright is None:
            return
        with suppress(Error, TimeoutError):
            await asyncio.wait_for(self._playwright.stop(), CLOSE_SECONDS)
        if self._driver.returncode is None:
            self._driver.kill()
            await self._driver.wait()
