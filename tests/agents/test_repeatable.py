"""What is exactly repeatable, and that prompts only grow at their ends: through whole runs of the
household, whose games are generated.
"""

import io
import json
import re
from dataclasses import replace
from itertools import groupby, pairwise
from pathlib import Path

import pytest
from rich.console import Console

from agents.cli import main
from agents.commands.configure import composed
from agents.commands.run import evaluate
from agents.evaluation.run_folder import read_rows
from agents.evaluation.store import RunStore
from inference.engine import Message, Request
from tests.benchmarks.recording import RecordingSpec

GAMES = ("env=household", "env.limit=3", "env.variations=3", "env.max_steps=6", "concurrency=4")
TIMES = re.compile(rb'"((?:model_|world_)?seconds)": [0-9.e+-]+')
REPEATS = 2


def trajectories(folder: Path) -> dict[str, bytes]:
    """By their names, with every time in them taken for the same."""
    return {
        path.name: TIMES.sub(rb'"\1": 0', path.read_bytes())
        for path in (folder / "trajectories").iterdir()
    }


def lines(folder: Path) -> set[bytes]:
    """Of `episodes.jsonl`, in whichever order they were written; hashes are of the times too."""
    body = TIMES.sub(rb'"\1": 0', (folder / "episodes.jsonl").read_bytes())
    return set(re.sub(rb'"trajectory_sha256": "[0-9a-f]+"', b"", body).splitlines())


@pytest.mark.parametrize("agent", ["act", "reflexion", "adaplanner"])
def test_the_same_run_at_random_is_the_same_to_the_byte_but_for_times(
    tmp_path: Path, agent: str
) -> None:
    """However many episodes are in flight."""
    folders = [tmp_path / name for name in ("once", "again")]
    words = ["run", *GAMES, f"agent={agent}", "engine=random", f"repeat={REPEATS}"]
    for folder, at_once in zip(folders, (4, 1), strict=True):
        assert main([*words, f"run_dir={folder}", f"concurrency={at_once}"]) == 0
    once, again = map(trajectories, folders)
    assert len(once) >= 3 * REPEATS
    assert once == again
    assert lines(folders[0]) == lines(folders[1])
    played = {row.repeat: row.seed for row in read_rows(folders[0]) if row.round == 1}
    assert len(set(played.values())) == REPEATS, "a repeat has a seed of its own"


def test_the_same_scripted_run_is_the_same_to_the_byte_but_for_times(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(["think: look", "look", "go to cabinet 1", "inventory"] * 20))
    words = ["run", *GAMES, "agent=react", "decoding.actions=hidden", "engine=scripted"]
    words += [f"engine.script={script}", f"repeat={REPEATS}", "concurrency=1"]
    folders = [tmp_path / name for name in ("once", "again")]
    for folder in folders:
        assert main([*words, f"run_dir={folder}"]) == 0
    once, again = map(trajectories, folders)
    assert len(once) == 3 * REPEATS
    assert once == again


async def asked_by(agent: str, folder: Path, *words: str) -> list[Request]:
    """Every request for an answer of a run at random, as they came."""
    config = composed([*GAMES, f"agent={agent}", "engine=random", "control=false", *words])
    spec = RecordingSpec(config.engine)
    tasks = config.env.open(config.at_once)
    with RunStore.open(folder) as store:
        quiet = Console(file=io.StringIO())
        assert await evaluate(replace(config, engine=spec), tasks, store, quiet) == 0
    tasks.close()
    every = [request for requests in spec.asked.values() for request in requests]
    return [request for request in every if isinstance(request, Request)]


def begins_with(longer: tuple[Message, ...], shorter: tuple[Message, ...]) -> bool:
    """Whether a prompt grew at its end; its last message may have grown at its own."""
    whole, last = shorter[:-1], shorter[-1]
    at = longer[len(whole) : len(shorter)]
    return (
        longer[: len(whole)] == whole
        and [message.role for message in at] == [last.role]
        and at[0].content.startswith(last.content)
    )


@pytest.mark.parametrize("agent", ["act", "react", "reflexion"])
async def test_a_turn_wise_prompt_begins_with_the_whole_prompt_before_it(
    tmp_path: Path, agent: str
) -> None:
    requests = await asked_by(agent, tmp_path)
    turns = [request for request in requests if re.fullmatch(r"c\d+", last_part(request))]
    grown = 0
    for _, each in groupby(turns, attempt):
        for before, after in pairwise(each):
            assert after.messages[: len(before.messages)] == before.messages, after.id
            assert len(after.messages) == len(before.messages) + 2, after.id
            grown += 1
    assert grown > 3 * 4


async def test_a_question_for_a_note_begins_with_the_last_prompt_of_its_attempt(
    tmp_path: Path,
) -> None:
    requests = await asked_by("reflexion", tmp_path)
    notes = 0
    for _, each in groupby(requests, attempt):
        *turns, note = each
        if "reflect" in note.id:
            assert note.messages[: len(turns[-1].messages)] == turns[-1].messages, note.id
            notes += 1
    assert notes


@pytest.mark.parametrize("level", ["skeleton", "typed"])
async def test_a_plan_grows_blank_by_blank_and_its_revisions_behind_the_first_question(
    tmp_path: Path, level: str
) -> None:
    words = (f"decoding.plan={level}", "env.max_steps=40")
    requests = await asked_by("adaplanner", tmp_path, *words)
    written = [request for request in requests if re.search(r"\.(plan|refine)\d", request.id)]
    revised = any(".refine" in request.id for request in written)
    assert revised or level == "skeleton", "there a revision chooses among plans, by rating"
    for _, each in groupby(written, attempt):
        plans = [list(plan) for _, plan in groupby(each, lambda request: parts(request)[-2])]
        question = plans[0][0].messages[:-1]
        for plan in plans:
            for request in plan:
                assert request.messages[: len(question)] == question, request.id
            for before, after in pairwise(plan):
                # A plan that was tried already is written anew, after the same question.
                anew = after.messages == plan[0].messages
                assert anew or begins_with(after.messages, before.messages), after.id


def parts(request: Request) -> list[str]:
    return request.id.split(".")


def last_part(request: Request) -> str:
    return parts(request)[-1]


def attempt(request: Request) -> str:
    """The request's id up to its attempt."""
    return re.sub(r"(\.a\d+)\..*", r"\1", request.id)
