"""Which tasks a configuration of MiniWoB++ means, and what is wrong with others; no browser."""

import stat
from pathlib import Path

import pytest

from envs.errors import WorldSetupError
from envs.miniwob import MiniWob, find_browser
from envs.miniwob.package import find_package
from envs.miniwob.selection import locate
from envs.miniwob.tasks import FEEDBACK, FIRST_TRAIN_SEED, PAPER, SEEDS, Split, split_of
from envs.world import Task


def ids(config: MiniWob) -> list[str]:
    return [task.id for task in config.select()]


def test_the_paper_has_nine_tasks_with_feedback_and_fifty_three_in_all() -> None:
    assert (len(set(FEEDBACK)), len(set(PAPER))) == (9, 53)
    assert set(FEEDBACK) < set(PAPER)


def test_without_words_all_fifty_three_tasks_are_meant() -> None:
    tasks = MiniWob().select()
    assert len(tasks) == 530
    assert {task.kind for task in tasks} == set(PAPER)


def test_sets_pages_and_single_episodes_can_be_named_and_nothing_comes_twice() -> None:
    config = MiniWob(tasks=["feedback", "login-user/17", "terminal/1"], variations=2)
    chosen = ids(config)
    assert chosen[:2] == ["search-engine/0", "search-engine/1"]
    assert chosen[18:] == ["login-user/17"]
    assert config.select()[-1] == Task(id="login-user/17", kind="login-user", name="login-user")


def test_seeds_of_the_splits_are_apart() -> None:
    assert ids(MiniWob(tasks=["terminal"], variations=2)) == ["terminal/0", "terminal/1"]
    train = MiniWob(tasks=["terminal"], split="train", variations=2)
    assert ids(train) == [f"terminal/{FIRST_TRAIN_SEED}", f"terminal/{FIRST_TRAIN_SEED + 1}"]
    assert not set(Split.TEST.seeds) & set(Split.TRAIN.seeds)
    assert (split_of(0), split_of(FIRST_TRAIN_SEED)) == (Split.TEST, Split.TRAIN)


def test_seeds_that_are_named_are_taken_whatever_the_split() -> None:
    config = MiniWob(tasks=["terminal", "click-tab"], seeds=[3, 12345], split="train", limit=3)
    assert ids(config) == ["terminal/3", "terminal/12345", "click-tab/3"]


def test_an_id_says_the_page_and_the_seed() -> None:
    located = locate(Task(id="login-user/17", kind="login-user", name="login-user"))
    assert (located.page, located.seed) == ("login-user", 17)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (MiniWob(tasks=["login-usr"]), ["'login-usr'", "did you mean 'login-user'", "feedback"]),
        (MiniWob(tasks=["choose-date"]), ["no task 'choose-date' here"]),
        (MiniWob(tasks=["terminal/x"]), ["'x'", str(SEEDS)]),
        (MiniWob(seeds=[SEEDS]), [str(SEEDS)]),
        (MiniWob(split="dev"), ["env.split=dev", "train or test"]),
        (MiniWob(mode="default"), ["env.mode=default", "train or test"]),
        (MiniWob(invalid="ignore"), ["env.invalid=ignore", "fail or tell"]),
        (MiniWob(variations=0), ["env.variations=0", "1 or more"]),
        (MiniWob(html_limit=3), ["env.html_limit=3"]),
        (MiniWob(tasks=[7]), ["env.tasks holds 7"]),  # type: ignore[list-item]
    ],
)
def test_a_mistake_is_one_line_with_the_value_and_a_way_out(
    config: MiniWob, words: list[str]
) -> None:
    with pytest.raises(WorldSetupError) as caught:
        config.select()
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)


def test_pages_that_the_package_lacks_are_named_with_the_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    html = tmp_path / "miniwob" / "html" / "miniwob"
    html.mkdir(parents=True)
    for name in ("miniwob", "playwright"):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "__init__.py").touch()
        (tmp_path / f"{name}-0.9.dist-info").mkdir()
        (tmp_path / f"{name}-0.9.dist-info" / "METADATA").write_text(f"Name: {name}\nVersion: 0.9")
    for page in PAPER:
        (html / f"{page}.html").touch()
    for lacking in ("terminal", "use-spinner"):
        (html / f"{lacking}.html").unlink()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        WorldSetupError, match="miniwob 0.9 .* lacks .* terminal, use-spinner: inst"
    ):
        find_package()


def program(path: Path, *lines: str) -> str:
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_a_browser_that_is_named_is_taken_before_that_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = program(tmp_path / "one", "echo 'Chromium 1.0 built on  Debian'")
    two = program(tmp_path / "two", "echo Chromium 2.0")
    monkeypatch.setenv("GROUNDLING_BROWSER", two)
    assert find_browser(one).version == "Chromium 1.0 built on Debian"
    assert find_browser().path == two


@pytest.mark.parametrize("lines", [["echo no libnss3.so >&2", "exit 127"], ["exit 0"]])
def test_a_browser_that_does_not_run_is_one_line_with_what_it_said_and_the_fix(
    lines: list[str], tmp_path: Path
) -> None:
    broken = program(tmp_path / "chromium", *lines)
    with pytest.raises(WorldSetupError, match="chromium does not run.*apt-get install") as caught:
        find_browser(broken)
    assert "\n" not in str(caught.value)
    assert ("no libnss3.so" in str(caught.value)) == (len(lines) == 2)


def test_a_missing_browser_is_one_line_with_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(WorldSetupError, match="env.browser=/nowhere is no browser.*apt-get"):
        find_browser("/nowhere")
    monkeypatch.setattr("envs.miniwob.chromium.CANDIDATES", ("no-such-browser",))
    monkeypatch.delenv("GROUNDLING_BROWSER", raising=False)
    with pytest.raises(WorldSetupError, match="no Chromium or Chrome.*GROUNDLING_BROWSER=PATH"):
        find_browser()
