"""Crashes, isolation and processes of the Java side."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from envs.errors import WorldFault
from envs.scienceworld import ScienceWorld, ScienceWorldTasks, java_version
from envs.scienceworld.episode import ScienceWorldEpisode
from envs.scienceworld.gold import GoldPaths
from envs.scienceworld.jvm import Jvm
from envs.scienceworld.package import find_package
from envs.scienceworld.simulator import Simulator
from envs.world import Affordances, Observation, Task

pytestmark = pytest.mark.scienceworld

THING = Task(id="4-2/225", kind="4-2", name="find-non-living-thing")


@pytest.fixture
def own(scienceworld_config: ScienceWorld) -> Iterator[ScienceWorldTasks]:
    """A Java process that a test may kill."""
    world = scienceworld_config.open(slots=2)
    yield world
    world.close()


def started(world: ScienceWorldTasks, task: Task = THING) -> ScienceWorldEpisode:
    episode = world.make(task, Affordances.NONE)
    episode.reset()
    return episode


def runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def gone_within(seconds: float, pid: int) -> bool:
    deadline = time.monotonic() + seconds
    while runs(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not runs(pid)


def test_a_killed_java_is_a_fault_and_the_next_episode_gets_a_new_one(
    own: ScienceWorldTasks,
) -> None:
    playing, waiting = started(own), own.make(THING, Affordances.NONE)
    pid = own.java_pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(WorldFault, match=r"exit status -9.*\(task 4-2/225\): run the"):
        playing.step("look around")
    with pytest.raises(WorldFault, match="exit status -9"):
        waiting.reset()
    again = started(own)
    assert not again.step("look around").invalid
    assert own.java_pid not in (None, pid)
    again.close()


def test_an_exception_inside_the_simulator_is_a_fault_and_no_score(own: ScienceWorldTasks) -> None:
    episode = started(own)
    simulator = episode._simulator
    assert simulator is not None
    simulator._agent.setErrorState("java.lang.NullPointerException: boom\n\tat Foo.scala")
    with pytest.raises(WorldFault, match="'wait': java.lang.NullPointerException: boom .task"):
        episode.step("wait")
    fresh = own.make(THING, Affordances.NONE)
    assert fresh._simulator is not simulator
    fresh.close()


def test_an_exception_out_of_the_simulator_is_a_fault_with_its_first_line(
    own: ScienceWorldTasks,
) -> None:
    episode = started(own)
    simulator = episode._simulator
    assert simulator is not None
    getattr(simulator._world, "agentInterface_$eq")(None)
    with pytest.raises(WorldFault, match="crashed on 'wait': java.lang.NullPointerException"):
        episode.step("wait")


def test_a_simulator_is_used_again(own: ScienceWorldTasks) -> None:
    first = started(own)
    used = first._simulator
    first.close()
    second = started(own)
    assert second._simulator is used
    second.close()


def test_episodes_in_one_java_do_not_touch_each_other(
    scienceworld: ScienceWorldTasks, gold: GoldPaths
) -> None:
    tasks = [task for task in scienceworld.tasks if task.kind in ("4-1", "4-2", "2-1", "8-2")]
    paths = [gold.gold_path(task)[:20] for task in tasks]

    def alone(task: Task, path: tuple[str, ...]) -> list[Observation]:
        episode = scienceworld.make(task, Affordances.NONE)
        seen = [episode.reset()]
        for action in path:
            seen.append(episode.step(action))
            if seen[-1].done:
                break
        episode.close()
        return seen

    expected = [alone(task, path) for task, path in zip(tasks, paths, strict=True)]
    with ThreadPoolExecutor(len(tasks)) as threads:
        for _ in range(2):
            assert list(threads.map(alone, tasks, paths)) == expected


def test_close_leaves_no_process_no_thread_and_no_file(scienceworld_config: ScienceWorld) -> None:
    def files() -> int:
        return psutil.Process().num_fds()

    threads, before = threading.active_count(), files()
    world = scienceworld_config.open(slots=1)
    episode = started(world)
    pid = world.java_pid
    assert pid is not None and runs(pid)
    folder = Path(psutil.Process(pid).cwd())
    world.close()
    world.close()
    assert not psutil.pid_exists(pid)
    assert not folder.exists()
    assert world.java_pid is None
    with pytest.raises(WorldFault):
        episode.step("look around")
    assert (threading.active_count(), files()) == (threads, before)
    with pytest.raises(WorldFault, match="closed"):
        world.make(THING, Affordances.NONE)


PARENT = """
import os, time
from envs.scienceworld import ScienceWorld
from envs.world import Affordances

world = ScienceWorld(tasks=["4-2"], variations=1).open(slots=1)
world.make(world.tasks[0], Affordances.NONE)
child = os.fork()
if child == 0:
    os.closerange(0, 3)
    time.sleep(60)
    os._exit(0)
print(world.java_pid, child, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_parent_takes_java_and_its_files_along_even_when_it_had_forked(
    sent: signal.Signals, scienceworld_config: ScienceWorld
) -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        java, child = (int(word) for word in parent.stdout.readline().split())
        try:
            assert runs(java) and runs(child)
            folder = Path(psutil.Process(java).cwd())
            assert folder.exists()
            parent.send_signal(sent)
            parent.wait(10)
            assert gone_within(10, java)
            assert not folder.exists()
        finally:
            for pid in (child, java, parent.pid):
                if runs(pid):
                    os.kill(pid, signal.SIGKILL)


def test_a_java_that_does_not_start_is_a_fault_with_its_last_words(
    scienceworld_config: ScienceWorld,
) -> None:
    with pytest.raises(WorldFault, match="Java did not start .*Invalid maximum heap size"):
        Jvm(java_version(), find_package().jar, heap_mb=-1)


def test_a_java_out_of_memory_ends_with_the_option_to_raise(
    scienceworld_config: ScienceWorld,
) -> None:
    jvm = Jvm(java_version(), find_package().jar, heap_mb=16)
    try:
        with pytest.raises(WorldFault, match=r"OutOfMemoryError.*\(raise env.java_heap_mb\)"):
            for variation in range(20):
                Simulator(jvm).load("boil", variation, "easy")
    finally:
        jvm.close()


def test_only_who_knows_the_secret_can_speak_to_java(own: ScienceWorldTasks) -> None:
    from py4j.java_gateway import (  # type: ignore[import-untyped,import-not-found,unused-ignore]
        GatewayParameters,
        JavaGateway,
    )
    from py4j.protocol import (  # type: ignore[import-untyped,import-not-found,unused-ignore]
        Py4JError,
    )

    episode = started(own)
    jvm = own._pool.jvm
    assert jvm is not None
    stranger = JavaGateway(gateway_parameters=GatewayParameters(port=jvm._port))
    with pytest.raises(Py4JError):
        stranger.jvm.java.lang.System.currentTimeMillis()
    stranger.close()
    episode.close()
