"""Our engine and the official package say the same at every step: all that an agent observes.

Runs wherever the extra `alfworld` is installed; on real games too where ALFWORLD_DATA leads to
them. GROUNDLING_ALFWORLD_GAMES is how many of each folder are compared.
"""

import os
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from envs.alfworld import AlfworldEpisode, Game, read_game
from envs.alfworld.goals import Kind
from envs.alfworld.official import TextWorld
from envs.alfworld.solver import solve
from envs.household import GameId, Settings, Split, make_game
from envs.world import Affordances, Observation
from tests.envs.alfworld_data import real_games
from tests.envs.toy_home import VERSIONS, reworded, toy_text
from tests.envs.walks import NONSENSE, draw

STEPS = 60
GENERATED_STEPS = 15
DOORS = ("go to", "open", "close", "examine")
GAMES = int(os.environ.get("GROUNDLING_ALFWORLD_GAMES", "3"))

Choice = Callable[[Observation], str | None]

ODDITIES = (
    "look",
    "examine countertop 1",
    "go to countertop 1",
    "go to cabinet 2",
    "look",
    "take apple 2 from countertop 1",
    "take knife 1 from countertop 1",
    "open cabinet 2",
    "move apple 2 to cabinet 2",
    "look",
    "take apple 2 from cabinet 2",
    "look",
    "move apple 2 to countertop 1",
    "look",
    "take mug 2 from countertop 1",
    "examine mug 2",
    "go to sidetable 1",
    "look",
    "move mug 2 to sidetable 1",
    "take mug 2 from sidetable 2",
    "use desklamp 1",
    "use desklamp 1",
    "go to cabinet 1",
    "open cabinet 1",
    "look",
    "move mug 2 to cabinet 1",
    "take bowl 1 from cabinet 1",
    "examine bowl 1",
    "inventory",
    "move bowl 1 to cabinet 1",
    "close cabinet 1",
    "examine cabinet 1",
    "inventory",
    "help",
    "go to countertop 1",
    "take knife 1 from countertop 1",
    "go to fridge 1",
    "slice tomato 1 with knife 1",
    "slice potato 1 with knife 1",
    "examine knife 1",
    "open fridge 1",
    "move knife 1 to fridge 1",
    "take tomato 1 from fridge 1",
    "examine tomato 1",
    "close fridge 1",
    "cool tomato 1 with fridge 1",
    "examine tomato 1",
    "go to sinkbasin 1",
    "look",
    "clean tomato 1 with sinkbasin 1",
    "examine tomato 1",
    "go to microwave 1",
    "heat tomato 1 with microwave 1",
    "examine tomato 1",
    "look",
    "go to toilet 1",
    "move tomato 1 to toilet 1",
    "go to fridge 1",
    "open fridge 1",
    "move tomato 1 to fridge 1",
    "take potato 1 from fridge 1",
    "examine potato 1",
    "go to microwave 1",
    "open microwave 1",
    "heat potato 1 with microwave 1",
    "examine potato 1",
    "move potato 1 to microwave 1",
    "close microwave 1",
    "look",
)
"""Through everything that is odd in the toy home, every verb included."""


def compare(official: TextWorld, text: str, choose: Choice) -> Counter[str]:
    """Play one game in both engines until nothing more is chosen; how often each verb was said,
    and whether it was won."""
    game = read_game(text)
    ours = AlfworldEpisode(game.task, game, Affordances.ADMISSIBLE)
    theirs = official.make(game.task, game, text, Affordances.ADMISSIBLE)
    seen, reference = ours.reset(), theirs.reset()
    said: Counter[str] = Counter(["reset"])
    lines: list[str] = []
    while True:
        assert seen == reference, (game.task, lines)
        line = None if seen.done else choose(seen)
        if line is None:
            theirs.close()
            said["won"] += seen.won
            return said
        lines.append(line)
        seen, reference = ours.step(line), theirs.step(line)
        said["nothing" if seen.invalid else line.split()[0]] += 1


def compare_all(official: TextWorld, games: Mapping[str, Sequence[Choice]]) -> Counter[str]:
    """As `compare`, every game with all that is chosen in it, on all cores."""

    def compared(text: str) -> Counter[str]:
        return sum((compare(official, text, choice) for choice in games[text]), Counter[str]())

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return sum(pool.map(compared, games), Counter[str]())


def script(lines: tuple[str, ...]) -> Choice:
    left = iter(lines)
    return lambda _: next(left, None)


def one_after_the_other(*choices: Choice) -> Choice:
    def choose(seen: Observation) -> str | None:
        return next(filter(None, (choice(seen) for choice in choices)), None)

    return choose


def walk(seed: int, steps: int) -> Choice:
    rng = random.Random(seed)
    left = iter(range(steps))

    def choose(seen: Observation) -> str | None:
        if next(left, None) is None:
            return None
        return rng.choice(NONSENSE) if rng.random() < 0.04 else draw(rng, seen.admissible)

    return choose


def cutting(game: Game) -> tuple[str, ...]:
    """Open and close a door, fetch a knife and cut whatever can be cut: too rare on a random
    walk.
    """
    home, names = game.home, game.home.names
    for knife in sorted(home.pickupable):
        found = [r for r in home.receptacles if knife in home.contents[r]]
        if home.object_type[knife] in ("knifetype", "butterknifetype") and found:
            break
    else:
        return ()
    doors = [f"{verb} {names[d]}" for d in sorted(home.openable)[:1] for verb in DOORS]
    lines = [*doors, f"go to {names[found[0]]}", f"open {names[found[0]]}"]
    lines += [f"take {names[knife]} from {names[found[0]]}"]
    for receptacle in home.receptacles:
        cut = sorted(home.contents[receptacle] & home.sliceable)
        lines += [f"go to {names[receptacle]}"] * bool(cut)
        lines += [f"slice {names[item]} with {names[knife]}" for item in cut]
    return (*lines, "look", "inventory", f"examine {names[knife]}")


@pytest.mark.parametrize("version", VERSIONS)
def test_toy_games_are_won_alike_in_both_engines(version: str, official: TextWorld) -> None:
    texts = [toy_text(kind, version) for kind in Kind]
    said = compare_all(official, {text: [script(solve(read_game(text)))] for text in texts})
    assert said["won"] == len(Kind)


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_odd_in_the_toy_home_is_the_same_in_both_engines(
    version: str, official: TextWorld
) -> None:
    text = toy_text(Kind.TWO, version)
    said = compare(official, text, script(tuple(reworded(line, version) for line in ODDITIES)))
    verbs = {reworded(line, version).split()[0] for line in ODDITIES}
    assert said.keys() >= verbs - ({"help"} if version == "2.1.1" else set()) | {"nothing"}
    compare(official, text, walk(int(version[-1]), STEPS))


@pytest.mark.parametrize("version", VERSIONS)
def test_generated_games_of_every_type_are_the_same_in_both_engines(
    version: str, official: TextWorld
) -> None:
    """A small home for each type, and one as large as ALFWorld's for every other type."""
    which = VERSIONS.index(version)
    games: dict[str, list[Choice]] = {}
    for kind, difficulty in [
        *((kind, "easy") for kind in Kind),
        *((kind, "normal") for kind in list(Kind)[which::2]),
    ]:
        settings = Settings(difficulty=difficulty)
        name = GameId(kind=kind, split=Split.TEST, number=which, settings=settings)
        text = make_game(name).text(version)
        game = read_game(text)
        walks = (walk(len(games), GENERATED_STEPS), script(cutting(game)))
        games[text] = [script(game.walkthrough), one_after_the_other(*walks)]
    said = compare_all(official, games)
    assert said["won"] >= len(games)
    put = "put" if version == "2.1.1" else "move"
    assert said.keys() >= {"go", "open", "take", put, "clean", "heat", "cool", "use", "slice"}
    assert said.keys() >= {"close", "examine", "inventory", "look", "nothing"}


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["json_2.1.1", "json_2.1.2"])
def test_real_games_are_the_same_in_both_engines(
    folder: str, official: TextWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = real_games(folder)
    said: Counter[str] = Counter()
    for path in random.Random(0).sample(paths, min(GAMES, len(paths))):
        file = path.read_text()
        game = read_game(file)
        said += compare(official, file, script(solve(game)))
        said += compare(official, file, script(cutting(game)))
        said += compare(official, file, walk(said.total(), STEPS))
    with capsys.disabled():
        print(f"\n{folder}: {said.total()} states of {min(GAMES, len(paths))} games alike: {said}")
