"""Run folders that are really played, and ways to change them as a forger would."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agents.cli import main
from agents.evaluation.episode import Episode
from agents.evaluation.row import EpisodeRow
from envs.alfworld.solver import solve
from envs.household import make_game
from envs.household.ids import parse_id

SOLVED, LOST = "clean/test-0000#0", "look/test-0000#0"
TOO_LONG = "I have already done all of what I was asked to do, and would rather rest."


def play_household(folder: Path) -> None:
    """One game won, and one lost with an answer that was not taken; no model."""
    game = parse_id("clean/test-0000")
    assert game is not None
    script = folder.with_suffix(".script")
    lines = {
        "clean/test-0000": solve(make_game(game).play("2.1.2")),
        "look/test-0000": ["look", TOO_LONG, "inventory", "look", *["inventory"] * 60],
    }
    script.write_text(json.dumps(lines))
    words = [
        *("run", "env=household", "env.tasks=[clean/test-0000,look/test-0000]", "agent=act"),
        *("engine=scripted", f"engine.script={script}", "decoding.actions=hidden"),
        *("decoding.max_action_tokens=10", "env.max_steps=50", f"run_dir={folder}"),
    ]
    assert main(words) == 0
    script.unlink()


def trajectory(folder: Path, episode: str) -> Path:
    """Where an episode's record lies."""
    row = next(row for row in rows(folder) if f"{row['task']}#{row['repeat']}" == episode)
    return folder / str(row["trajectory"])


def rows(folder: Path) -> list[dict[str, Any]]:
    """The lines of a run."""
    return [json.loads(line) for line in (folder / "episodes.jsonl").read_text().splitlines()]


def write_rows(folder: Path, changed: list[dict[str, Any]]) -> None:
    """Replace them."""
    lines = [json.dumps(row) + "\n" for row in changed]
    (folder / "episodes.jsonl").write_text("".join(lines))


def change(
    folder: Path, episode: str, how: Callable[[dict[str, Any]], None], *, forge: bool
) -> None:
    """Change a trajectory; `forge`: with a line and a hash that agree with what it says now."""
    path = trajectory(folder, episode)
    data = json.loads(path.read_text())
    how(data)
    body = json.dumps(data, ensure_ascii=False).encode()
    path.write_bytes(body)
    if forge:
        relative = str(path.relative_to(folder))
        row = asdict(
            EpisodeRow.of(Episode.from_json(data), relative, hashlib.sha256(body).hexdigest())
        )
        old = rows(folder)
        write_rows(folder, [row if each["trajectory"] == relative else each for each in old])


def change_card(folder: Path, how: Callable[[dict[str, Any]], None]) -> None:
    """Change the compared half of the protocol card."""
    path = folder / "protocol.json"
    card = json.loads(path.read_text())
    how(card["protocol"])
    path.write_text(json.dumps(card))
