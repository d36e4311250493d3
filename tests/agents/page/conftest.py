"""Pages and a browser to look at them with.

The browser is started by Playwright's synchronous side, whose event loop runs as long as it does:
so it lives no longer than a module, and the tests of that module are synchronous.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agents.evaluation.loaded import load
from agents.evaluation.page import build as building
from agents.evaluation.page import packs
from agents.evaluation.page.build import build
from envs.errors import WorldSetupError
from envs.miniwob import find_browser
from tests.agents.page import recorded
from tests.agents.page.watching import DESKTOP, HOSTILE, PHONE, Watched, opened

LOOKS = [(width, scheme) for width in (PHONE, DESKTOP) for scheme in ("light", "dark")]

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


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of a hundred and some episodes; some text of theirs is out to get the reader."""
    place = tmp_path_factory.mktemp("report")
    hostile = recorded.episode(
        "c/1",
        won=False,
        goal=HOSTILE,
        steps=[recorded.step(HOSTILE, HOSTILE, calls=(recorded.call("c/1#0.a1.c0", HOSTILE),))],
    )
    many = [recorded.episode(f"c/{n}", won=n % 4 > 0) for n in range(2, 118)]
    first = recorded.write(place / "a", [recorded.full(), hostile, *many], tasks=120)
    second = recorded.write(
        place / "b",
        [recorded.episode(f"c/{n}", won=False) for n in range(8)],
        tasks=120,
        agent="react",
    )
    runs = load([first, second])
    return build(runs, place / "page" / "index.html").page


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page whose trajectories lie beside it."""
    place = tmp_path_factory.mktemp("packed")
    episodes = [recorded.full(f"c/{n}") for n in range(12)]
    folder = recorded.write(place / "a", episodes, tasks=12)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "EMBEDDED", 0)
        patch.setattr(packs, "PACK_BYTES", 4000)
        runs = load([folder])
        return build(runs, place / "report.html").page


@pytest.fixture(params=LOOKS, ids=[f"{width}-{scheme}" for width, scheme in LOOKS])
def look(request: pytest.FixtureRequest, browser: "Browser", report: Path) -> Iterator[Watched]:
    width, scheme = request.param
    yield from opened(browser, report, width, scheme)


@pytest.fixture
def tab(report: Path, browser: "Browser") -> Iterator[Watched]:
    yield from opened(browser, report, DESKTOP)
