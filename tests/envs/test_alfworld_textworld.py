"""Worker processes: whatever becomes of one, no episode is failed by it and nothing is left over.

They are played by a stand-in, so that this runs without the official package; that the package
says what our engine says is in test_alfworld_equivalence.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from envs.alfworld import Alfworld, AlfworldEpisode, AlfworldTasks, read_game
from envs.alfworld.goals import Kind
from envs.alfworld.official import TextWorld, TextWorldEpisode, engine, find_package, process
from envs.alfworld.solver import solve
from envs.errors import EpisodeOver, WorldFault, WorldSetupError
from envs.world import Affordances, Observation
from tests.envs import standin_worker
from tests.envs.toy_home import VERSIONS, toy_text, write_split
from tests.envs.walks import NONSENSE, walked

STANDIN = Path(standin_worker.__file__)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go; the stand-in plays."""
    monkeypatch.setattr(process, "PROGRAM", STANDIN)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def world(folder: Path) -> Iterator[TextWorld]:
    world = TextWorld({}, slots=4)
    yield world
    world.close()
    assert list(folder.iterdir()) == []


def make(
    world: TextWorld,
    kind: Kind = Kind.PLACE,
    version: str = "2.1.2",
    affordances: Affordances = Affordances.ADMISSIBLE,
) -> TextWorldEpisode:
    text = toy_text(kind, version)
    return world.make(f"toy {kind}", read_game(text), text, affordances)


@pytest.mark.parametrize("affordances", Affordances)
@pytest.mark.parametrize("version", VERSIONS)
def test_an_episode_observes_what_one_of_the_native_engine_does(
    version: str, affordances: Affordances, world: TextWorld
) -> None:
    for seed, kind in enumerate(Kind):
        text = toy_text(kind, version)
        ours = AlfworldEpisode("toy", read_game(text), affordances)
        theirs = make(world, kind, version, affordances)
        assert ours.reset() == theirs.reset()
        for line in (*walked(text, seed, 40), *NONSENSE, " look ", "examine knife 1"):
            assert ours.step(line) == theirs.step(line), line
        theirs.close()


def test_interleaved_episodes_do_not_touch_each_other(world: TextWorld) -> None:
    kinds = [*Kind, *Kind]
    alone = []
    for kind in kinds:
        episode = make(world, kind)
        alone.append(
            [episode.reset(), *map(episode.step, solve(read_game(toy_text(kind, "2.1.2"))))]
        )
        episode.close()
    together = [make(world, kind) for kind in kinds]
    seen = [[episode.reset()] for episode in together]
    for turn in range(12):
        for kind, episode, past in zip(kinds, together, seen, strict=True):
            plan = solve(read_game(toy_text(kind, "2.1.2")))
            if turn < len(plan):
                past.append(episode.step(plan[turn]))
    assert seen == alone
    assert all(past[-1].won for past in seen)


def test_many_threads_share_few_processes(world: TextWorld) -> None:
    def won(kind: Kind) -> bool:
        episode = make(world, kind)
        episode.reset()
        *_, last = map(episode.step, solve(read_game(toy_text(kind, "2.1.2"))))
        episode.close()
        return last.won

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(won, [*Kind] * 4))
    assert 1 <= len(world.pids) <= len(os.sched_getaffinity(0))


@pytest.mark.usefixtures("folder")
def test_who_may_use_one_core_of_the_machine_gets_one_process() -> None:
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        world = TextWorld({}, slots=4)
    finally:
        os.sched_setaffinity(0, cores)
    for episode in [make(world) for _ in range(3)]:
        episode.reset()
    assert len(world.pids) == 1
    world.close()


def test_there_is_no_step_before_the_start_after_the_end_or_after_close(world: TextWorld) -> None:
    episode = make(world, Kind.LOOK)
    with pytest.raises(EpisodeOver, match="'look' came before reset"):
        episode.step("look")
    episode.reset()
    *_, last = map(episode.step, solve(read_game(toy_text(Kind.LOOK, "2.1.2"))))
    assert (last.done, last.won, last.score, last.admissible) == (True, True, 100.0, ())
    with pytest.raises(EpisodeOver, match="came after the end: make a new episode"):
        episode.step("look")
    other = make(world)
    other.reset()
    other.close()
    other.close()
    with pytest.raises(EpisodeOver, match="after close"):
        other.step("look")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("die", "ended on 'die' in toy .* with exit status 9: the library crashed$"),
        ("fail", "failed on 'fail' in toy .*: IndexError: pop from empty list$"),
    ],
)
def test_a_crash_is_a_fault_and_the_next_episode_gets_another_process(
    command: str, message: str, world: TextWorld
) -> None:
    episode = make(world)
    episode.reset()
    before = world.pids
    with pytest.raises(WorldFault, match=message) as caught:
        episode.step(command)
    assert "\n" not in str(caught.value)
    episode.close()
    again = make(world)
    assert again.reset().goal == "put a apple in drawer."
    assert not set(before) & set(world.pids)


def test_episodes_in_a_process_that_failed_go_on_if_they_can(world: TextWorld) -> None:
    """What failed in one game need not touch another; no new one begins beside it."""
    one_process = TextWorld({}, slots=1)
    first, second = make(one_process), make(one_process)
    first.reset()
    second.reset()
    with pytest.raises(WorldFault):
        first.step("fail")
    first.close()
    assert second.step("inventory").text == "You are not carrying anything."
    second.close()
    assert one_process.pids == ()
    one_process.close()


def test_a_killed_process_is_a_fault_of_all_its_episodes(world: TextWorld) -> None:
    episodes = [make(world) for _ in range(3)]
    for episode in episodes:
        episode.reset()
    for pid in world.pids:
        os.kill(pid, signal.SIGKILL)
    for episode in episodes:
        with pytest.raises(WorldFault, match="exit status -9: it said nothing"):
            episode.step("look")
        episode.close()
    assert make(world).reset().text


def test_silence_is_a_fault_and_nobody_gets_the_late_answer(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "ANSWER_SECONDS", 3.0)
    one_process = TextWorld({}, slots=1)
    episode, other = make(one_process), make(one_process)
    other.reset()
    episode.reset()
    with pytest.raises(WorldFault, match="did not answer on 'hang' .* within 3 s"):
        episode.step("hang")
    with pytest.raises(WorldFault, match="ended on 'inventory' .* exit status -9"):
        other.step("inventory")
    one_process.close()


def test_a_process_that_cannot_be_started_is_a_fault_and_leaves_nothing(
    world: TextWorld, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pytest.raises(WorldFault, match="no process for TextWorld can be started .*/nonexist"):
        make(world)
    assert list(folder.iterdir()) == []


def test_a_process_is_replaced_after_so_many_episodes(
    world: TextWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "EPISODES", 2)
    pids = []
    for _ in range(5):
        episode = make(world)
        episode.reset()
        pids.append(world.pids)
        episode.close()
    assert pids[0] == pids[1] != pids[2] == pids[3] != pids[4]
    assert all(len(running) == 1 for running in pids)


def test_closing_ends_every_process_and_leaves_no_file(folder: Path) -> None:
    world = TextWorld({}, slots=4)
    episodes = [make(world) for _ in range(4)]
    for episode in episodes:
        episode.reset()
    pids = world.pids
    world.close()
    world.close()
    assert not any(map(psutil.pid_exists, pids))
    assert list(folder.iterdir()) == []
    with pytest.raises(WorldFault, match="ended on 'look'"):
        episodes[0].step("look")
    episodes[0].close()
    with pytest.raises(WorldFault, match="TextWorld is closed"):
        make(world)


def test_closing_wakes_who_waits_for_an_answer(world: TextWorld) -> None:
    episode = make(world)
    episode.reset()
    faults: list[WorldFault] = []

    def wait() -> None:
        try:
            episode.step("hang")
        except WorldFault as fault:
            faults.append(fault)

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.2)
    world.close()
    waiting.join(10)
    assert len(faults) == 1


def test_a_process_ends_with_the_one_that_started_it(folder: Path) -> None:
    pid = start_and_be_killed(folder, STANDIN)
    wait_until(lambda: not psutil.pid_exists(pid))


@pytest.mark.usefixtures("official")
def test_the_packages_own_process_then_removes_its_folder_too(tmp_path: Path) -> None:
    pid = start_and_be_killed(tmp_path, process.PROGRAM)
    wait_until(lambda: not list(tmp_path.iterdir()))
    wait_until(lambda: not psutil.pid_exists(pid))


def start_and_be_killed(folder: Path, program: Path) -> int:
    """The process of an episode whose owner was killed; its temporary files go into `folder`."""
    code = (
        "import sys, time; from pathlib import Path\n"
        "from envs.alfworld.official import TextWorld, process\n"
        "from tests.envs.test_alfworld_textworld import make\n"
        "process.PROGRAM = Path(sys.argv[1]); world = TextWorld({}, 1); make(world).reset()\n"
        "print(world.pids[0], flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(program)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TMPDIR": str(folder)},
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        os.kill(pid, signal.SIGTERM)  # as a scheduler does, to all at once
        parent.kill()
    return pid


def wait_until(true: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_without_the_package_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(WorldSetupError, match="needs alfworld, .*pip install 'groundling\\[alfw"):
        find_package()


def test_tasks_played_by_textworld_keep_the_contract(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_split(folder / "data" / "json_2.1.1" / "valid_seen")
    config = Alfworld(data=str(folder / "data"), split="valid_seen", limit=2)
    native = config.open(slots=2)
    versions = {"alfworld": "0.4.2", "textworld": "1.7.0"}
    monkeypatch.setattr("envs.alfworld.world.find_package", lambda: versions)
    config.engine = "textworld"
    tasks = config.open(slots=2)
    assert {key: tasks.card[key] for key in ("engine", *versions)} == {
        "engine": "textworld",
        **versions,
    }
    assert tasks.tasks == native.tasks
    for task in tasks.tasks:
        assert first(tasks, task.id) == first(native, task.id)
    tasks.close()
    tasks.close()


def first(tasks: AlfworldTasks, name: str) -> Observation:
    (task,) = [task for task in tasks.tasks if task.id == name]
    return tasks.make(task, Affordances.OBJECTS).reset()
