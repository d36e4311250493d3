"""What an episode of MiniWoB++ promises, in a real browser."""

import struct
from collections.abc import Iterator
from dataclasses import replace

import pytest

from envs.errors import EpisodeOver, WorldSetupError
from envs.miniwob import MiniWob, MiniWobTasks
from envs.world import Affordances, Observation, Task, TaskSet, TextEnv

pytestmark = pytest.mark.miniwob


def task(name: str, seed: int = 0) -> Task:
    return Task(id=f"{name}/{seed}", kind=name, name=name)


def play(
    world: TaskSet, which: Task, *actions: str, affordances: Affordances = Affordances.NONE
) -> list[Observation]:
    episode: TextEnv = world.make(which, affordances)
    try:
        return [episode.reset(), *(episode.step(action) for action in actions)]
    finally:
        episode.close()


@pytest.fixture(scope="module")
def lenient(miniwob_config: MiniWob) -> Iterator[MiniWobTasks]:
    """The other choice of every rule."""
    world = replace(
        miniwob_config,
        invalid="tell",
        fields=False,
        html_limit=200,
        screenshots=True,
        mode="test",
    ).open(slots=1)
    yield world
    world.close()


LOGIN = """<div id="area">
 <div id="form">
  <p>
   <label class="bold">Username</label>
   <input type="text" id="username">
  </p>
  <p>
   <label class="bold">Password</label>
   <input type="password" id="password">
  </p>
  <button id="subbtn" class="secondary-action">Login</button>
 </div>
</div>"""


def test_reset_gives_the_utterance_as_the_goal_and_the_html_as_the_state(
    miniwob: MiniWobTasks,
) -> None:
    (first,) = play(miniwob, task("login-user"))
    assert first.goal == (
        'Enter the username "thaddeus" and the password "UT" into the text fields and press login.'
    )
    assert first.text == LOGIN
    assert (first.reward, first.score, first.done, first.won) == (0, 0, False, False)
    assert (first.names, first.admissible) == ({}, ())
    assert "click XPATH" in first.templates


def test_what_was_typed_and_chosen_is_shown_and_the_right_end_is_won(
    miniwob: MiniWobTasks,
) -> None:
    seen = play(
        miniwob,
        task("login-user"),
        "click //input[@id='username']",
        "type thaddeuss",
        "press backspace",
        "press tab",
        "type UT",
        "click //button[@id='subbtn']",
    )
    assert 'value="thaddeuss"' in seen[2].text and 'value="thaddeus"' in seen[3].text
    assert 'id="password" value="UT"' in seen[5].text
    end = seen[-1]
    assert (end.reward, end.score, end.done, end.won) == (100, 100, True, True)
    assert end.text == "The task has ended with reward 1."
    assert all(step.reward == 0 and not step.invalid for step in seen[:-1])


def test_a_wrong_end_is_lost(miniwob: MiniWobTasks) -> None:
    end = play(miniwob, task("login-user"), "click //button")[-1]
    assert (end.reward, end.score, end.done, end.won) == (-100, -100, True, False)


def test_a_part_of_the_reward_is_not_won(miniwob: MiniWobTasks) -> None:
    boxes = ("click //*[@id='ch1']", "click //*[@id='ch2']", "click //*[@id='subbtn']")
    seen = play(miniwob, task("click-checkboxes"), *boxes)  # the third of three is left out
    assert "checked" in seen[1].text
    assert 0 < seen[-1].score < 100
    assert seen[-1].done and not seen[-1].won


def test_the_same_seed_is_the_same_task_and_another_one_another(miniwob: MiniWobTasks) -> None:
    one, again, other = (play(miniwob, task("login-user", seed))[0] for seed in (5, 5, 6))
    assert one == again
    assert one.goal != other.goal


@pytest.mark.parametrize(
    ("page", "xpath", "says"),
    [
        (
            "login-user",
            "//button[@id='gone']",
            "No element of the page matches //button[@id='gone']",
        ),
        ("guess-number", "//*[@id='lower']", '<div id="lower" class="hide"> matches'),
        ("login-user", "//*[@id='reward-display']", "No element of the page matches"),
        ("login-user", "//*[@id='query']", "No element of the page matches"),
    ],
)
def test_an_xpath_that_finds_nothing_shown_does_nothing_and_says_so(
    page: str, xpath: str, says: str, miniwob: MiniWobTasks
) -> None:
    for verb in ("click", "click option", "move mouse on"):
        end = play(miniwob, task(page), f"{verb} {xpath}")[-1]
        assert end.text.startswith(says) and end.text.endswith("; nothing happened.")
        assert end.invalid and not end.done


def test_of_several_elements_the_first_shown_is_taken_and_their_number_told(
    miniwob: MiniWobTasks,
) -> None:
    seen = play(miniwob, task("login-user"), "click //input", "type abc")
    assert seen[1].text == (
        "<!-- 2 elements match //input; the first shown was taken -->\n" + LOGIN
    )
    assert not seen[1].invalid
    assert 'id="username" value="abc"' in seen[2].text


def test_a_hidden_one_of_several_is_passed_over_in_silence(miniwob: MiniWobTasks) -> None:
    seen = play(miniwob, task("guess-number"), "click //div[@id='feedback']/div")
    assert not seen[1].text.startswith("<!--")


def test_a_popup_covers_what_is_below_it_until_it_is_answered(miniwob: MiniWobTasks) -> None:
    seen = play(
        miniwob,
        task("login-user-popup", 6),  # one whose popup comes with the username
        "click //input[@id='username']",
        "type lost",
        "click //input[@id='username']",
        "click //button[@id='popup-cancel']",
        "click //input[@id='username']",
        "type kept",
    )
    assert "popup-cancel" in seen[1].text and "lost" not in seen[2].text
    assert seen[3].invalid
    assert 'cannot be reached: <div id="popup"> covers it; nothing happened.' in seen[3].text
    assert "popup" not in seen[4].text
    assert 'value="kept"' in seen[6].text


def test_what_is_disabled_cannot_be_clicked(miniwob: MiniWobTasks) -> None:
    episode = miniwob.make(task("click-test"), Affordances.NONE)
    episode.reset()
    assert episode._page is not None
    disable = 'document.querySelector("button").disabled = true'
    episode._browser.run(episode._page._page.evaluate(disable), "disabling")
    seen = episode.step("click //button")
    episode.close()
    assert seen.invalid and seen.text.endswith("is disabled; nothing happened.")


INVALID = ("click the button", "press F1", "click //button[", "click option //button", "")


@pytest.mark.parametrize("line", INVALID)
def test_an_invalid_action_fails_the_episode_as_in_the_paper(
    line: str, miniwob: MiniWobTasks
) -> None:
    episode = miniwob.make(task("click-test"), Affordances.NONE)
    episode.reset()
    end = episode.step(line)
    assert (end.reward, end.score, end.done, end.won) == (-100, -100, True, False)
    assert end.invalid and end.text.endswith("The task has failed by an invalid action.")
    with pytest.raises(EpisodeOver, match="came after an invalid action"):
        episode.step("click //button")
    episode.close()


def test_where_it_is_told_instead_an_invalid_action_does_nothing(lenient: MiniWobTasks) -> None:
    seen = play(lenient, task("click-test"), *INVALID, "click //button")
    assert [step.invalid for step in seen] == [False, *[True] * len(INVALID), False]
    assert seen[1].text.endswith("Nothing happened.")
    assert seen[-1].won


def test_the_html_alone_does_not_show_what_was_typed(lenient: MiniWobTasks) -> None:
    seen = play(lenient, task("enter-text"), "click //input", "type Tora")
    assert seen[-1].text == seen[0].text


def test_html_that_is_too_long_is_cut_and_says_by_how_much(lenient: MiniWobTasks) -> None:
    first = play(lenient, task("social-media"))[0]
    cut = first.text.partition("\n<!-- ")[2]
    assert len(first.text) < 260
    assert cut.endswith(" more characters are not shown -->")


def test_a_picture_of_the_task_comes_with_each_observation_where_asked_for(
    lenient: MiniWobTasks, miniwob: MiniWobTasks
) -> None:
    seen = play(lenient, task("click-test"), "move mouse on //button", "click //button")
    for step in seen:
        assert step.screenshot.startswith(b"\x89PNG")
        assert struct.unpack(">II", step.screenshot[16:24]) == (160, 210)
    assert seen[0].screenshot == play(lenient, task("click-test"))[0].screenshot
    assert play(miniwob, task("click-test"))[0].screenshot == b""


def test_taking_pictures_changes_nothing_that_an_agent_sees(
    miniwob_config: MiniWob, miniwob: MiniWobTasks
) -> None:
    which = task("login-user-popup", 6)
    actions = ("click //input[@id='username']", "type lost", "click //input[@id='username']")
    world = replace(miniwob_config, screenshots=True).open(slots=1)
    try:
        pictured = play(world, which, *actions, affordances=Affordances.ADMISSIBLE)
        styled = world.make(which, Affordances.NONE)
        styled.reset()
        styled.step(actions[0])
        assert styled._page is not None
        left = "document.querySelectorAll('input[style]').length"
        assert styled._browser.run(styled._page._page.evaluate(left), "counting") == 0
        styled.close()
    finally:
        world.close()
    plain = play(miniwob, which, *actions, affordances=Affordances.ADMISSIBLE)
    assert all(step.screenshot for step in pictured)
    assert [replace(step, screenshot=b"") for step in pictured] == plain


def test_the_pages_own_modes_have_other_wordings(
    lenient: MiniWobTasks, miniwob: MiniWobTasks
) -> None:
    which = task("email-inbox-forward-nl")
    assert play(lenient, which)[0].goal.startswith("Get ")  # the only wording of mode test
    assert not play(miniwob, which)[0].goal.startswith("Get ")


def test_an_option_is_chosen_from_its_list_by_either_click(miniwob: MiniWobTasks) -> None:
    somalia = "//option[text()='Somalia']"
    for verb in ("click", "click option"):
        seen = play(miniwob, task("choose-list"), f"{verb} {somalia}", "click //button")
        assert "<option selected>Somalia</option>" in seen[1].text
        assert seen[1].text.count("selected") == 1
        assert seen[2].won


def test_in_a_list_of_several_choices_they_add_up(miniwob: MiniWobTasks) -> None:
    chosen = [f"click option //option[text()='{name}']" for name in ("Brazil", "Mauritania")]
    seen = play(miniwob, task("click-scroll-list"), *chosen, "click //button")
    assert seen[2].text.count("selected") == 2
    assert seen[3].won


def test_menus_open_under_the_mouse(miniwob: MiniWobTasks) -> None:
    seen = play(
        miniwob,
        task("click-menu"),
        "click //div[text()='Melinde']",
        "move mouse on //div[text()='Xaviera']",
        "move mouse on //div[text()='Laurie']",
        "click //div[text()='Melinde']",
    )
    assert seen[1].invalid and "is not shown now" in seen[1].text
    assert seen[4].won


def test_delayed_answers_of_a_page_are_there_at_once(miniwob: MiniWobTasks) -> None:
    first = play(miniwob, task("use-autocomplete"))[0]
    start = first.goal.split('"')[1]
    seen = play(miniwob, task("use-autocomplete"), "click //input", f"type {start}")
    assert 'class="ui-menu-item"' in seen[-1].text


def test_dates_are_typed_from_their_first_part_on(miniwob: MiniWobTasks) -> None:
    seen = play(miniwob, task("enter-date"), "click //input", "type 10202017", "click //button")
    assert 'value="2017-10-20"' in seen[2].text
    assert seen[3].won


def test_the_clipboard_is_the_episodes_own(miniwob: MiniWobTasks) -> None:
    one = miniwob.make(task("login-user"), Affordances.NONE)
    two = miniwob.make(task("login-user"), Affordances.NONE)
    for episode, text in ((one, "mine"), (two, "yours")):
        episode.reset()
        for line in ("click //input", f"type {text}", "press ctrl+a", "press ctrl+x"):
            seen = episode.step(line)
        assert "value" not in seen.text
    assert 'value="mine"' in one.step("press ctrl+v").text
    assert 'value="yours"' in two.step("press ctrl+v").text
    assert 'value="mine"' in one.step("press ctrl+c").text
    one.close()
    two.close()


def test_affordances_grow_with_their_level(miniwob: MiniWobTasks) -> None:
    none, objects, admissible = (
        play(miniwob, task("login-user"), affordances=level)[0] for level in Affordances
    )
    assert (none.names, objects.admissible) == ({}, ())
    assert objects.names == admissible.names
    assert objects.names["ID"] == ("area", "form", "password", "subbtn", "username")
    assert {"thaddeus", "UT", "login"} < set(objects.names["WORDS"])
    assert "//input[@id='username']" in objects.names["XPATH"]
    assert {"click //button[@id='subbtn']", "type thaddeus", "press tab"} < set(
        admissible.admissible
    )


def test_asking_what_can_be_done_changes_nothing(miniwob: MiniWobTasks) -> None:
    actions = ("click //input[@id='search-text']", "type Truman", "click //button")
    told, quiet = (
        [step.text for step in play(miniwob, task("search-engine"), *actions, affordances=level)]
        for level in (Affordances.ADMISSIBLE, Affordances.NONE)
    )
    assert told == quiet


def test_options_are_named_apart_from_other_elements(miniwob: MiniWobTasks) -> None:
    names = play(miniwob, task("choose-list"), affordances=Affordances.OBJECTS)[0].names
    assert "//option[text()='Somalia']" in names["OPTION"]
    assert not any("option[text" in xpath for xpath in names["XPATH"])


def test_steps_before_reset_after_the_end_and_after_close_are_refused(
    miniwob: MiniWobTasks,
) -> None:
    episode = miniwob.make(task("click-test"), Affordances.NONE)
    with pytest.raises(EpisodeOver, match="before reset"):
        episode.step("click //button")
    episode.reset()
    with pytest.raises(EpisodeOver, match="reset came twice"):
        episode.reset()
    assert episode.step("click //button").won
    with pytest.raises(EpisodeOver, match="click-test/0: 'press tab' came after the end"):
        episode.step("press tab")
    episode.close()
    episode.close()
    closed = miniwob.make(task("click-test"), Affordances.NONE)
    closed.close()
    with pytest.raises(EpisodeOver, match="after close"):
        closed.reset()


def test_an_unknown_task_is_refused(miniwob: MiniWobTasks) -> None:
    with pytest.raises(WorldSetupError, match="no task 'click-tset'"):
        miniwob.make(task("click-tset"), Affordances.NONE)


def test_the_card_names_everything_that_changes_numbers(
    miniwob: MiniWobTasks, miniwob_config: MiniWob
) -> None:
    card = miniwob.card
    assert len(card["html sha256"]) == 64
    assert card["time limits of the pages"] == "off"
    assert {"browser", "playwright", "miniwob", "invalid actions", "won"} < set(card)
    assert all(isinstance(value, str) for value in card.values())
    mixed = replace(miniwob_config, tasks=["terminal/0", "terminal/20000"]).open(slots=1)
    assert mixed.card["split"] == "train,test"
    mixed.close()


def test_the_doctor_finds_every_page_sound(miniwob_config: MiniWob) -> None:
    world = replace(miniwob_config, tasks=["click-test", "terminal"]).open(slots=1)
    try:
        assert list(world.check()) == []
    finally:
        world.close()
