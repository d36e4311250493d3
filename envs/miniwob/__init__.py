"""MiniWoB++: small tasks on web pages, in a real browser. Needs Chromium and the extra `miniwob`.

`MiniWob` is the configuration and opens a `MiniWobTasks`; `find_browser` tells which Chromium is
used. Nothing of Playwright is imported and no browser started before the first episode.
"""

from envs.miniwob.chromium import Chromium, find_browser
from envs.miniwob.world import MiniWob, MiniWobTasks

__all__ = ["Chromium", "MiniWob", "MiniWobTasks", "find_browser"]
