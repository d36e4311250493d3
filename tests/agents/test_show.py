"""An episode is told whole, is found by any part of its name, and has colours only for a person."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from agents.acceptance import Rejection
from agents.cli import main
from agents.evaluation.episode import Episode, EpisodeKey, Step, StopReason
from agents.evaluation.telling import tell
from agents.memory import NoteKind
from agents.planners import ModelCall, PlanRecord, Purpose
from agents.reflection import ReflectionRecord

WORDS = [
    *("env=household", "env.tasks=[clean,look]", "env.variations=12", "env.max_steps=4"),
    *("agent=act", "engine=random", "decoding.actions=enforced"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shown") / "run"
    assert main(["run", *WORDS, f"run_dir={folder}"]) == 0
    return folder


def show(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    capsys.readouterr()
    assert main(["show", *map(str, words)]) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    capsys.readouterr()
    assert main(["show", *map(str, words)]) == 1
    return capsys.readouterr().err


def test_without_an_episode_all_are_listed_with_their_outcome(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = show(capsys, folder)
    assert said.count("max_steps") == 24
    assert "act in household choosing at random" in said
    assert "look/test-0011#0" in said


def test_an_episode_is_found_by_its_id_or_any_part_that_only_it_has(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = show(capsys, folder, "clean/test-0007#0")
    assert whole == show(capsys, folder, "n/test-0007")
    assert whole.startswith("clean/test-0007#0  clean pick_clean_then_place_in_recep\ngoal: ")
    assert "not won: max_steps, score 0, 4 steps" in whole
    assert "first prompt: " in whole
    assert "\x1b" not in whole, "nothing but text goes into a pipe"


def test_several_that_are_meant_are_listed_and_for_none_the_nearest_are_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    several = refused(capsys, folder, "look/test")
    assert "'look/test' is part of 12 episodes' ids" in several
    assert "\n  look/test-0003#0  max_steps\n" in several
    none = refused(capsys, folder, "lok/test-0003#0")
    assert "no episode 'lok/test-0003#0'" in none
    assert "did you mean look/test-0003#0" in none


def test_the_first_prompt_is_folded_unless_it_is_asked_for(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(show(capsys, folder, "clean/test-0007", "--prompts")) > 2 * len(
        show(capsys, folder, "clean/test-0007")
    )


def test_a_file_that_is_not_the_one_that_was_written_is_shown_with_a_warning(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "trajectories" / "look_test-0001.0.json"
    before = path.read_text()
    path.write_text(before.replace("max_steps", "gave_up"))
    said = show(capsys, folder, "look/test-0001")
    path.write_text(before)
    assert said.startswith("this is not the file that was written; groundling verify ")
    assert "not won: gave_up" in said


def test_a_person_at_a_terminal_sees_colours(folder: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "agents.cli", "show", str(folder), "clean/test-0007"]
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "60"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(command, stdout=theirs, env=environment) as process:
        os.close(theirs)
        said = b""
        try:
            while part := os.read(ours, 65536):
                said += part
        except OSError:  # Linux: the other side has closed
            pass
    os.close(ours)
    assert process.returncode == 0
    assert b"\x1b[" in said
    assert b"> " in said


def call(name: str, text: str, purpose: Purpose = Purpose.ACT) -> ModelCall:
    return ModelCall(
        request_id=name,
        prompt_digest="",
        grammar_digest=None,
        text=text,
        finish_reason="stop",
        prompt_tokens=100,
        cached_tokens=60,
        generated_tokens=5,
        dropped_turns=2,
        seconds=0.5,
        purpose=purpose,
        mended=("ServerDied",),
    )


def step(action: str, observation: str, *calls: ModelCall, **more: object) -> Step:
    values = {
        "thoughts": (),
        "reward": 0.0,
        "score": 0.0,
        "done": False,
        "won": False,
        "invalid": False,
        "world_seconds": 0.1,
        **more,
    }
    return Step(action=action, observation=observation, calls=calls, **values)  # type: ignore[arg-type]


def plan(text: str, **more: object) -> PlanRecord:
    values = {
        "level": "typed",
        "rejected": None,
        "reason": "",
        "failed_step": None,
        "start_from": 1,
        "after_actions": 0,
        **more,
    }
    return PlanRecord(text=text, **values)  # type: ignore[arg-type]


EPISODE = Episode(
    key=EpisodeKey(task="4-2/225", round=2),
    kind="4-2",
    name="find-non-living-thing",
    seed=7,
    goal="find a thing",
    first_observation="A room.\nA door.",
    first_prompt=({"role": "user", "content": "Find it."},),
    stop=StopReason.MAX_STEPS,
    steps=(
        step(
            "go to door",
            "You go.",
            call("e.q0.b0", "door,", Purpose.ASK),
            call("e.q0.b1", " window", Purpose.ASK),
            call("e.c0", "go  door"),
            thoughts=("The door it is.",),
            reward=5.0,
            score=5.0,
            subgoals=("found the door",),
            recalled=("note-1",),
        ),
        step("", "Too long.", call("e.c1", "and so on"), rejected=Rejection.TRUNCATED),
        step("sing", "What?", call("e.c2", "sing"), invalid=True, score=5.0),
    ),
    plans=(
        plan("def solution():\n    go('door')\n"),
        plan(
            "def solution():\n    go('window')\n", reason="no door", failed_step=1, after_actions=2
        ),
    ),
    reflections=(
        ReflectionRecord(
            kind=NoteKind.SWEET, step=1, text="Doors help.", rejected=None, call=call("n", "")
        ),
    ),
    last_failure="no window",
    memory_before="abc",
    seconds=9.0,
)


def test_everything_that_happened_is_told_where_it_happened() -> None:
    lines = [line.plain for line in tell(EPISODE, prompts=False)]
    expected = [
        *("4-2/225#0.r2  4-2 find-non-living-thing", "goal: find a thing"),
        "not won: max_steps, score 5, 3 steps, 1 invalid, 1 not taken, 1 rewritten",
        "6 calls, 600 prompt tokens (360 cached), 30 generated; model 3.0 s, world 0.30 s, in all",
        "memory: abc before, empty after",
        "first prompt: 1 messages, 8 characters; --prompts shows them",
        *("     A room.", "     A door.", "     plan 1 (typed)", "     def solution():"),
        *("     notes in the prompt: note-1", "     the plan asks: door, window"),
        *(
            "     The door it is.",
            "  1  > go to door   [15 tokens, 1.5 s, 2 turns dropped, mended: ",
        ),
        *("     the model wrote: 'go  door'", "     You go."),
        "     reward +5, score 5, reached: found the door",
        *("     note, sweet (after a sub-goal):", "     Doors help."),
        *("     notes in the prompt: none", "  2  not taken (truncated): "),
        *("     and so on", "     Too long.", "     plan 1 told at step 1:", "     no door"),
        *("     plan 2 (typed)", "     -    go('door')", "     +    go('window')"),
        *("  3  > sing", "     What?", "     not understood"),
        *("     plan 2 told:", "     no window"),
    ]
    places: list[int] = []
    for begin in expected:
        after = places[-1] + 1 if places else 0
        found = [n for n, line in enumerate(lines) if n >= after and line.startswith(begin)]
        assert found, f"{begin!r} is not told after {lines[after - 1]!r}"
        places.append(found[0])
