"""`groundling games make`: household games as files, for whatever plays ALFWorld's."""

import sys
from collections import Counter
from pathlib import Path

from agents.commands.configure import ConfigError, composed
from agents.errors import RunError
from envs.household import Household, make_game, write_game_folder

USAGE = "usage: groundling games make --out DIR [env.OPTION=VALUE ...]"

HELP = f"""{USAGE}

Writes the games that env=household plays with the same overrides into DIR, in ALFWorld's format
and layout (test games as valid_unseen): with ALFWORLD_DATA=DIR the official package plays them.
They are none of ALFWorld's games, so results in them are no results in ALFWorld, and env=alfworld
refuses them; here env=household plays them, without files.

  env.tasks=[clean,two/test-0007]   types or single games; default: all six types
  env.split=test|train              they share no home
  env.variations=3                  the first so many games of each type
  env.difficulty=easy|normal|hard   normal: like ALFWorld's homes; env.receptacles, env.closed and
                                    env.objects change its parts one by one
  env.wording=2.1.2|2.1.1           of ALFWorld's sentences; the official package plays both
  env.seed=0                        another seed, other games
"""


class GamesError(RunError):
    """The games cannot be written."""


def main(words: list[str]) -> int:
    """Write the games that the overrides say; 2 if the words make no command."""
    if words in (["--help"], ["-h"], ["make", "--help"], ["make", "-h"]):
        print(HELP, end="")
        return 0
    out, overrides = _parse(words[1:])
    if words[:1] != ["make"] or not out:
        print(USAGE, file=sys.stderr)
        return 2
    config = composed(["env=household", *overrides])
    if not isinstance(config.env, Household):
        raise ConfigError(f"configuration: env={config.env.name} has no games to make")
    _make(config.env, Path(out))
    return 0


def _parse(words: list[str]) -> tuple[str, list[str]]:
    """The folder, and the rest."""
    out, rest = "", []
    left = iter(words)
    for word in left:
        if word == "--out":
            out = next(left, "")
        elif word.startswith("--out="):
            out = word.removeprefix("--out=")
        else:
            rest.append(word)
    return out, rest


def _make(world: Household, folder: Path) -> None:
    games = world.games()
    try:
        if folder.exists() and any(folder.iterdir()):
            raise GamesError(f"{folder} is not empty; choose another --out")
        written: Counter[Path] = Counter()
        for game in games:
            written[write_game_folder(make_game(game), folder, world.wording).parents[1]] += 1
    except OSError as error:
        raise GamesError(
            f"{error.filename} cannot be written ({error.strerror}); choose another --out"
        ) from error
    for split, count in written.items():
        print(f"{count} games in {split}")
    print(f"ALFWORLD_DATA={folder.absolute()} lets the official package play them")
