"""Games, won step by step in both wordings, and how fast that goes."""

import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from envs.alfworld import AlfworldEpisode, read_game
from envs.alfworld.goals import Kind
from envs.alfworld.solver import solve
from envs.world import Affordances
from tests.envs.alfworld_data import real_games
from tests.envs.toy_home import VERSIONS, reworded, toy_game
from tests.envs.walks import walk


def is_won(path: Path, commands: Iterable[str]) -> bool:
    """Whether the commands are all admissible and the last one wins."""
    env = AlfworldEpisode(path.parent.name, read_game(path.read_bytes()), Affordances.ADMISSIBLE)
    observation = env.reset()
    for command in commands:
        assert command in observation.admissible, (path, command)
        observation = env.step(command)
    return observation.won


@pytest.mark.parametrize("folder", ["json_2.1.1", "json_2.1.2"])
def test_a_walkthrough_wins_each_game_of_valid_seen(folder: str) -> None:
    paths = real_games(folder)
    won = [is_won(path, solve(read_game(path.read_bytes()))) for path in paths]
    assert (len(won), sum(won)) == (140, 140)


def test_the_files_own_walkthroughs_win_in_both_wordings() -> None:
    """Some files of 2.1.2 have none."""
    old, new = real_games("json_2.1.1"), real_games("json_2.1.2")
    assert [path.parts[-3:] for path in old] == [path.parts[-3:] for path in new]
    for older, newer in zip(old, new, strict=True):
        if commands := read_game(newer.read_bytes()).walkthrough:
            assert is_won(newer, commands)
            assert is_won(older, [reworded(command, "2.1.1") for command in commands])


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", Kind)
def test_the_solver_wins_the_toy_games(kind: Kind, version: str) -> None:
    game = toy_game(kind, version)
    env = AlfworldEpisode("toy", game, Affordances.ADMISSIBLE)
    env.reset()
    *before, last = map(env.step, solve(game))
    assert (last.won, any(o.won or o.invalid for o in before)) == (True, False)


def test_the_solver_refuses_what_cannot_be_won() -> None:
    game = toy_game(Kind.HEAT, "2.1.2")
    cold = replace(game, home=replace(game.home, heatable=frozenset()))
    with pytest.raises(ValueError, match="put a hot potato in sidetable.': the game cannot"):
        solve(cold)


@pytest.mark.slow
def test_the_engine_is_thousands_of_times_faster_than_a_model(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The bound is a tenth of what one slow core does."""
    texts = [path.read_bytes() for path in real_games("json_2.1.2")]
    started = time.process_time()
    games = [read_game(text) for text in texts]
    loaded = time.process_time()
    steps = sum(1 for seed, game in enumerate(games) for _ in walk(game, seed, 100))
    walked = time.process_time()
    milliseconds = (loaded - started) / len(games) * 1000
    rate = steps / (walked - loaded)
    with capsys.disabled():
        print(f"\nALFWorld: {milliseconds:.1f} ms a game to load, {rate:.0f} steps/s of CPU time")
    assert (milliseconds < 60, rate > 1000) == (True, True)
