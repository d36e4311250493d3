"""How many steps an agent walks until it sees what it looks for, by the order of its search.

    python -m tests.benchmarks.search_orders [--games 60] [--data FOLDER]
        [--ways said,typed] [model=smollm2_135m engine=vllm ...]

Games are those of env=household, or real ones found under FOLDER (`**/game.tw-pddl`). Each order is
walked through to the end: a step to go to a receptacle, another to open a closed one. `typed` and
`said` are AdaPlanner's ways to answer `ask(..., list_of=...)`; `random` is the mean of 20 orders.
"""

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import fmean, median
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from agents.commands.configure import composed
from agents.decoding import Decoding
from agents.planners.adaplanner.asking import Asker, AskMode
from envs.alfworld.game import Game, read_game
from envs.alfworld.goals import Kind
from envs.alfworld.rules import start_of
from envs.household import GameId, Settings, Split, make_game
from inference.engine import Engine

QUESTION = "Where is a {word} most likely to be? Name the best places first."
"""As the worked examples ask."""
LONG = 40
"""Steps after which a game of 50 is as good as lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What is looked for, and where it is."""

    word: str
    receptacles: tuple[str, ...]
    """In the order of the first look."""
    holding: frozenset[str]
    """Receptacles that have one."""
    closed: frozenset[str]

    def steps(self, order: Sequence[str]) -> int:
        """Steps until one is seen."""
        steps = 0
        for receptacle in order:
            steps += 1 + (receptacle in self.closed)
            if receptacle in self.holding:
                break
        return steps


def search_in(game: Game) -> Search:
    """The search for the object of a game."""
    home, state = game.home, start_of(game.home)
    return Search(
        word=game.goal.object_type.removesuffix("type"),
        receptacles=tuple(home.names[each] for each in home.receptacles),
        holding=frozenset(
            home.names[receptacle]
            for receptacle in home.receptacles
            for item in state.contents[receptacle]
            if home.object_type.get(item) == game.goal.object_type
        ),
        closed=frozenset(home.names[each] for each in home.openable),
    )


def searches(games: int, data: Path | None) -> list[Search]:
    """From real games, in an order of our own, or from generated ones, of all types in turn."""
    if data:
        files = sorted(data.rglob("game.tw-pddl"))
        Random(0).shuffle(files)
        return [search_in(read_game(file.read_text("utf-8"))) for file in files[:games]]
    kinds = list(Kind)
    ids = [
        GameId(kind=kinds[n % len(kinds)], split=Split.TRAIN, number=n, settings=Settings())
        for n in range(games)
    ]
    return [search_in(make_game(each).play("2.1.2")) for each in ids]


async def ordered(engine: Engine, search: Search, mode: AskMode, number: int) -> list[str]:
    """The order that a plan is answered."""
    asker = Asker(engine, Decoding(), f"order#{mode}.{number}", lambda n: n, mode, lambda _: None)
    question = QUESTION.format(word=search.word)
    answer = await asker.ask(question, {"list_of": list(search.receptacles)}, "household")
    assert isinstance(answer, list)
    return answer


async def compare(
    overrides: Sequence[str], found: Sequence[Search], ways: Sequence[AskMode], console: Console
) -> None:
    """Walk every order and print how far it is."""
    table = Table("order", "mean", "median", f"over {LONG}", "of")

    def add(name: str, steps: Sequence[float]) -> None:
        long = sum(each > LONG for each in steps)
        row = f"{fmean(steps):.1f}", f"{median(steps):.1f}", str(long), str(len(steps))
        table.add_row(name, *row)

    chance = Random(0)
    shuffled = [
        fmean(s.steps(chance.sample(s.receptacles, len(s.receptacles))) for _ in range(20))
        for s in found
    ]
    add("random", shuffled)
    add("as listed", [search.steps(search.receptacles) for search in found])
    config = composed([*overrides, "run_dir=unused"])
    with TemporaryDirectory() as folder:
        async with config.engine.open(config.model, Path(folder)) as engine:
            for mode in ways:
                orders = await asyncio.gather(
                    *(ordered(engine, search, mode, n) for n, search in enumerate(found))
                )
                pairs = zip(found, orders, strict=True)
                add(mode, [search.steps(order) for search, order in pairs])
    console.print(table)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="how long a search is, by its order")
    parser.add_argument("--games", type=int, default=60)
    parser.add_argument("--data", type=Path, help="a folder with real games")
    parser.add_argument("--ways", default="said,typed", help="joined by commas")
    parser.add_argument("overrides", nargs="*", help="e.g. model=smollm2_135m engine=vllm")
    options = parser.parse_args()
    found = searches(options.games, options.data)
    ways = [AskMode(way) for way in options.ways.split(",")]
    asyncio.run(compare(options.overrides, found, ways, Console(width=100)))


if __name__ == "__main__":
    main()
