"""How the page looks in a real browser: on a phone and on a desktop, light and dark."""

import numpy as np
import pytest

from tests.agents.page.watching import Watched, episode_is_open, overflow, pale, picture

pytestmark = pytest.mark.miniwob


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
