"""Lists of games in files, such as the ones that other benchmarks publish.

Two forms: JSON that gives lists of paths by type (AgentBench), or plain text with a path a line.
A path may begin above the folder of the split and may end in the name of the game file.
"""

import json
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from envs.alfworld.files import GAME, Split
from envs.errors import WorldSetupError


def read_list(path: Path, split: Split) -> tuple[tuple[str, ...], ...]:
    """The ids of the games, in the order of the file, by the lists that it holds.

    Args:
        path: of the file.
        split: where games are whose path names none.

    Raises:
        WorldSetupError: the file cannot be read or holds something else.
    """
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise WorldSetupError(f"env.list={path} cannot be read ({error}): name a file") from error
    groups = tuple(
        tuple(_identifier(path, line, split) for line in group) for group in _groups(path, text)
    )
    if not any(groups):
        raise WorldSetupError(f"env.list={path} names no game: write a path a line")
    return groups


def _groups(path: Path, text: str) -> Iterator[list[object]]:
    if not text.lstrip().startswith(("{", "[")):
        lines = (line.strip() for line in text.splitlines())
        yield [line for line in lines if line and not line.startswith("#")]
        return
    try:
        held = json.loads(text)
    except ValueError as error:
        raise WorldSetupError(f"env.list={path} is no JSON ({error}): write it anew") from error
    for group in held.values() if isinstance(held, dict) else [held]:
        if not isinstance(group, list):
            raise WorldSetupError(
                f"env.list={path} holds {group!r}, which is no list: write paths by type"
            )
        yield group


def _identifier(path: Path, line: object, split: Split) -> str:
    """From a path as it is written to our id, which begins with the split."""
    parts = PurePosixPath(line).parts if isinstance(line, str) else ()
    if parts and parts[-1] == GAME:
        parts = parts[:-1]
    if len(parts) < 2:
        raise WorldSetupError(
            f"env.list={path} holds {line!r}, which is no game: write {split}/TASK/TRIAL/{GAME}"
        )
    named = parts[-3] if len(parts) > 2 else ""
    home = named if named in tuple(Split) else split
    return "/".join((home, *parts[-2:]))
