"""The browser that the episodes of a world share."""

import threading
from typing import TYPE_CHECKING

from envs.errors import WorldFault
from envs.miniwob.chromium import Chromium
from envs.miniwob.package import Package

if TYPE_CHECKING:
    from envs.miniwob.browser import Browser


class Pool:
    """One browser, started when it is first needed. Thread-safe.

    A browser that has ended is replaced at the next `acquire`; the episodes in it are lost.
    """

    def __init__(self, chromium: Chromium, package: Package) -> None:
        self._chromium = chromium
        self._package = package
        self._lock = threading.Lock()
        self._browser: Browser | None = None
        self._closed = False

    @property
    def browser(self) -> "Browser | None":
        """The running one; none before the first `acquire` and after `close`."""
        return self._browser

    def acquire(self) -> "Browser":
        """The browser for one more episode.

        Raises:
            WorldFault: it does not start, or the pool is closed.
        """
        from envs.miniwob.browser import Browser  # needs Playwright

        with self._lock:
            if self._closed:
                raise WorldFault("MiniWoB++ is closed: make episodes before TaskSet.close")
            if self._browser is not None and not self._browser.alive:
                self._drop()
            if self._browser is None:
                self._browser = Browser(self._chromium, self._package.html)
            return self._browser

    def close(self) -> None:
        """End the browser; may be called twice."""
        with self._lock:
            self._closed = True
            self._drop()

    def _drop(self) -> None:
        browser, self._browser = self._browser, None
        if browser is not None:
            browser.close()
