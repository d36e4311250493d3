"""The page in a real browser, on a phone and on a desktop, light and dark: it is looked at, clicked
through, and watched for errors and requests.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest
from PIL import Image

from agents.evaluation.loaded import load
from agents.evaluation.page import build as building
from agents.evaluation.page import packs
from agents.evaluation.page.build import build
from tests.agents.page import recorded

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.miniwob

Scheme = Literal["light", "dark"]
PHONE, DESKTOP = 390, 1280
LOOKS = [(width, scheme) for width in (PHONE, DESKTOP) for scheme in ("light", "dark")]
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


@pytest.fixture(params=LOOKS, ids=[f"{width}-{scheme}" for width, scheme in LOOKS])
def look(request: pytest.FixtureRequest, browser: "Browser", report: Path) -> Iterator[Watched]:
    width, scheme = request.param
    yield from opened(browser, report, width, scheme)


@pytest.fixture
def tab(report: Path, browser: "Browser") -> Iterator[Watched]:
    yield from opened(browser, report, DESKTOP)


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


# ---- looks


def test_nothing_sticks_out_and_everything_can_be_read(look: Watched) -> None:
    """The list with all that can be unfolded, then an episode with the same."""
    for address in ("", "#episode/A/c%2F0%230", "#episode/A/c%2F1%230"):
        look.page.goto(look.address + address)
        if address:
            episode_is_open(look)
        look.page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true })")
        assert overflow(look) == 0, address
        assert pale(look) == [], address


def test_a_reader_sees_first_which_run_is_best_and_how_sure_that_is(look: Watched) -> None:
    headline = look.shown(".headline").first
    box = headline.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 844, "without scrolling"
    assert "comes first" in headline.inner_text()


def test_plots_follow_the_colours_of_the_page_and_have_a_drawing_for_its_width(
    look: Watched,
) -> None:
    shown = [each for each in look.shown("figure svg").all() if each.is_visible()]
    assert len(shown) == look.shown("figure").count() >= 2
    paper = look.page.evaluate("getComputedStyle(document.body).backgroundColor")
    for each in shown:
        box = each.bounding_box()
        assert box is not None
        assert box["width"] > 250 and box["height"] > 60
        letter = each.locator("text").first
        assert letter.evaluate("(e) => getComputedStyle(e).fill") != paper
        assert letter.bounding_box()["height"] >= 9, "letters on a phone are no smaller"  # type: ignore[index]


def test_it_looks_the_same_each_time_and_dark_where_that_is_asked_for(look: Watched) -> None:
    """The picture is compared with one of a second load, so no font of another machine breaks
    it.
    """
    first = picture(look)
    look.page.reload()
    look.page.wait_for_selector("#list tbody tr")
    again = picture(look)
    assert first.shape == again.shape
    assert (abs(first - again).max(axis=2) > 32).mean() < 0.001
    dark = look.page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    middle = np.median(first, axis=(0, 1)).mean()
    assert middle < 60 if dark else middle > 200
    inked = (abs(first - np.median(first, axis=(0, 1))).max(axis=2) > 60).mean()
    assert 0.01 < inked < 0.5, "neither empty nor overfull"


# ---- clicks


def test_an_episode_is_a_click_away_and_back_is_where_one_was(look: Watched) -> None:
    look.page.click("[data-page=next]")
    look.shown("#list tbody a").nth(3).scroll_into_view_if_needed()
    name = look.shown("#list tbody a").nth(3).inner_text()
    before = look.page.evaluate("window.scrollY")
    look.shown("#list tbody a").nth(3).click()
    episode_is_open(look)
    assert look.text("#episode h1") == name
    assert look.page.evaluate("window.scrollY") == 0
    assert not look.shown("#report").is_visible()
    look.page.go_back()
    look.page.wait_for_selector("#list tbody a")
    assert look.text("#page") == "2 / 5"
    assert abs(look.page.evaluate("window.scrollY") - before) < 50


def test_pages_are_turned_to_both_ends(tab: Watched) -> None:
    assert tab.text("#shown") == "1 to 50 of 240 episodes"
    assert tab.shown("[data-page=back]").is_disabled()
    tab.page.click("[data-page=next]")
    assert tab.text("#shown") == "51 to 100 of 240 episodes"
    tab.page.click("[data-page=last]")
    assert tab.text("#shown") == "201 to 240 of 240 episodes"
    assert tab.shown("[data-page=next]").is_disabled()
    tab.page.click("[data-page=back]")
    tab.page.click("[data-page=first]")
    assert tab.shown("#list tbody tr").count() == 50


def test_episodes_are_chosen_by_run_result_task_cause_and_name(tab: Watched) -> None:
    tab.page.select_option("[name=run]", "1")
    assert tab.text("#shown") == "1 to 50 of 120 episodes, chosen from 240"
    tab.page.select_option("[name=state]", label="won")
    assert tab.text("#shown") == "No episode is like that; choose less above."
    tab.page.select_option("[name=run]", label="all")
    won = tab.text("#shown")
    assert "of 87 episodes" in won
    tab.page.select_option("[name=state]", label="not evaluated")
    assert "of 114 episodes" in tab.text("#shown")
    assert tab.shown("#list tbody a").count() == 0
    tab.page.select_option("[name=state]", label="all")
    tab.page.fill("[name=text]", "c/11")
    assert tab.shown("#list tbody tr").count() == 22
    tab.page.select_option("[name=cause]", "infrastructure")
    assert tab.shown("#list tbody tr").count() == 13
    assert tab.page.locator("[name=kind] option").all_inner_texts() == ["all", "c"]


def test_the_list_is_put_in_order_by_its_headings(tab: Watched) -> None:
    def first() -> str:
        return tab.shown("#list tbody tr").first.inner_text()

    tab.page.click("th button:text('actions')")
    assert "c/0#0" in first(), "the longest first"
    tab.page.click("th button:text('actions')")
    assert "c/0#0" not in first()
    tab.page.click("th button:text('actions')")
    assert "c/0#0" in first(), "as it was"


def test_the_next_episode_is_the_next_of_those_chosen(tab: Watched) -> None:
    tab.page.select_option("[name=state]", label="lost")
    tab.shown("#list tbody a").first.click()
    episode_is_open(tab)
    assert tab.text("#episode h1") == "c/0#0"
    tab.page.click("#episode >> text=Next")
    tab.page.wait_for_selector("#episode h1:text('c/1#0')")
    tab.page.click("#all")
    tab.page.wait_for_selector("#list")


def test_who_comes_by_a_link_to_an_episode_finds_the_list_behind_it(tab: Watched) -> None:
    tab.page.goto(f"{tab.address}#episode/A/c%2F5%230")
    tab.page.reload()
    episode_is_open(tab)
    assert tab.page.title() == "c/5#0 (A)"
    tab.page.click("#all")
    tab.page.wait_for_selector("#list")
    assert tab.page.evaluate("document.getElementById('episodes').getBoundingClientRect().top") < 99
    assert tab.page.title().startswith("2 runs")


# ---- what a trajectory shows


def test_a_trajectory_shows_all_that_its_record_holds(tab: Watched) -> None:
    tab.page.goto(f"{tab.address}#episode/A/c%2F0%230")
    episode_is_open(tab)
    tab.page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true })")
    said = tab.text("#episode")
    for words in (
        "Walk. Task: walk to the east end",  # the first prompt
        "A corridor runs from west to east.",
        "the plan asked, the model answered",
        "shelf 1, shelf 2",
        "eat the moon",
        "not a command: not sent to the world",
        "think: back again",
        "sent otherwise than written",
        "reward +50",
        "reached: seen, taken",
        "the world did not understand",
        "Revision 1",
        "It was not there.",
        "the plan before broke off at step 1",
        "Note on a sub-goal",
        "Going back helped.",
        "Note on the failure",
        "2 notes from memory in the prompts from here",
        "sweet, c/0, round 1, step 3: Going back helped.",
        "the model itself gave 25% to a token (geometric mean of 2), 6.3% to the whole",
        "its own first choice was allowed at 1 of 2",
        "2 turns left out of the prompt",
        "mended on the way: TimedOut",
        "What was appended to the prompt before",
        "read 100 (80 cached), said 3",
        "0.5 s",
        "memory before: aaaa",
        "think: too late",
        "seed 7",
    ):
        assert words in said, words
    assert tab.shown(".diff .plus").all_inner_texts() == ["+         agent.goto('shelf 2')"]
    assert tab.shown(".diff .minus").all_inner_texts() == ["-         agent.goto('shelf 1')"]


def test_what_a_model_wrote_is_text_and_nothing_else(tab: Watched) -> None:
    tab.page.goto(f"{tab.address}#episode/A/c%2F1%230")
    episode_is_open(tab)
    seen = HOSTILE.replace("\u202e", "⟨U+202E⟩").replace("\x07", "⟨U+0007⟩")
    assert tab.text("#episode .goal") == seen
    assert tab.text("#episode .action") == seen
    assert tab.shown("#episode img").count() == 0
    assert tab.page.evaluate("window.owned") is None


def test_a_script_that_got_in_would_not_run(tab: Watched) -> None:
    """Were there a mistake of ours, the page's policy still stands."""
    tab.page.evaluate(
        """() => {
            const image = "<img src='data:,' onerror='window.owned=1'>";
            document.body.insertAdjacentHTML("beforeend", image);
            const script = document.createElement("script");
            script.textContent = "window.owned = 1";
            document.body.append(script);
            fetch("http://127.0.0.1:9/").catch(() => {});
        }"""
    )
    tab.page.wait_for_timeout(200)
    assert tab.page.evaluate("window.owned") is None
    refused = [each for each in tab.amiss if "Content Security Policy" in each]
    assert len(refused) >= 3
    assert not [each for each in tab.amiss if each.startswith("http")], "no request was made"
    tab.amiss.clear()


def test_trajectories_beside_the_page_are_read_when_they_are_looked_at(
    browser: "Browser", packed: Path
) -> None:
    for tab in opened(browser, packed, PHONE):
        assert not [each for each in tab.amiss if each.endswith(".js")]
        tab.shown("#list tbody a").nth(7).click()
        episode_is_open(tab)
        assert tab.text("#episode h1") == "c/7#0"
        assert len([each for each in tab.amiss if each.endswith(".js")]) == 1


def test_a_pack_that_is_missing_or_of_another_report_is_named(
    browser: "Browser", packed: Path
) -> None:
    first, second, *_ = sorted((packed.parent / "report.data").iterdir())
    kept = first.read_text(), second.read_text()
    first.unlink()
    second.write_text(kept[1].replace('","', '0","', 1))
    try:
        for tab in opened(browser, packed, PHONE):
            for task, words in (("0", "is not beside this page"), ("1", "another report")):
                tab.page.goto(f"{tab.address}#episode/A/c%2F{task}%230")
                tab.page.wait_for_selector(f"#episode .warning:has-text('{words}')")
            tab.amiss = [each for each in tab.amiss if "ERR_FILE_NOT_FOUND" not in each]
    finally:
        first.write_text(kept[0])
        second.write_text(kept[1])
