"""A tab that is watched: what a page asks for, logs and looks like."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

Scheme = Literal["light", "dark"]
PHONE, DESKTOP = 390, 1280
HOSTILE = "</script><script>window.owned=1</script><img src=x onerror=window.owned=1>\u202eevil\x07"

CONTRASTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (colour) => rgb(colour).slice(0, 3).map((c) => c / 255)
    .map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, number) => sum + c * [0.2126, 0.7152, 0.0722][number], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (rgb(colour)[3] > 0) return colour;
    }
    return "white";
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || element.closest("script, style, noscript, :disabled")) continue;
    if (!element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const colour = element instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [light(colour), light(behind(element))].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), element.textContent.slice(0, 40), colour]);
  }
  return found;
}"""


@dataclass
class Watched:
    """A tab, and what it did that it should not."""

    page: "Page"
    address: str
    amiss: list[str] = field(default_factory=list)

    def shown(self, selector: str) -> "Locator":
        return self.page.locator(selector)

    def text(self, selector: str) -> str:
        return self.page.inner_text(selector)


def opened(
    browser: "Browser", file: Path, width: int, scheme: Scheme = "light"
) -> Iterator[Watched]:
    context = browser.new_context(
        viewport={"width": width, "height": 844}, color_scheme=scheme, offline=True
    )
    page = context.new_page()
    tab = Watched(page, file.as_uri())
    page.on("console", lambda message: tab.amiss.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: tab.amiss.append(f"error: {error}"))
    page.on("request", lambda request: tab.amiss.append(request.url))
    page.set_default_timeout(20_000)
    page.goto(tab.address)
    page.wait_for_selector("#list tbody tr")
    yield tab
    context.close()
    beside = file.parent.as_uri()
    assert [each for each in tab.amiss if not re.match(rf"{beside}/[\w./]+(#|$)", each)] == []


def episode_is_open(tab: Watched) -> None:
    tab.page.wait_for_selector("#episode .step")


def overflow(tab: Watched) -> int:
    found: int = tab.page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    return found


def pale(tab: Watched) -> list[Any]:
    """Texts that stand out from what is behind them by less than 4.5 (WCAG 2, AA)."""
    found = tab.page.evaluate(CONTRASTS)
    assert len(found) > 30
    return [each for each in found if each[0] < 4.5]


def picture(tab: Watched) -> "np.ndarray[Any, Any]":
    tab.page.evaluate("document.fonts.ready")
    shot = tab.page.screenshot(animations="disabled", caret="hide")
    return np.asarray(Image.open(BytesIO(shot)).convert("RGB")).astype(int)
