"""A browser for looking at pages, started by Playwright's synchronous side: its event loop runs
while it does, so it lives no longer than a module, and tests beside it are synchronous.
"""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from envs.errors import WorldSetupError
from envs.miniwob import find_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """Skips without Playwright or a Chromium, unless GROUNDLING_REQUIRE names miniwob."""
    try:
        path = find_browser().path
        from playwright.sync_api import sync_playwright
    except (WorldSetupError, ImportError) as error:
        if "miniwob" in os.environ.get("GROUNDLING_REQUIRE", "").split(","):
            pytest.fail(f"GROUNDLING_REQUIRE names miniwob, but: {error}")
        pytest.skip(f"no browser to look at the page with: {error}")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()
