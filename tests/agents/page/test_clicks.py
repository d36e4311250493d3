"""The page is clicked through in a real browser, and watched for errors and requests."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.agents.page.watching import HOSTILE, PHONE, Watched, episode_is_open, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.miniwob


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
