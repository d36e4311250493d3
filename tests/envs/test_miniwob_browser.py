"""The browser behind MiniWoB++: what pages can reach, crashes, many at once, processes."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil
import pytest

from envs.errors import WorldFault
from envs.miniwob import MiniWob, MiniWobTasks
from envs.miniwob.episode import MiniWobEpisode
from envs.miniwob.tasks import FEEDBACK
from envs.world import Affordances, Observation, Task
from tests.envs.miniwob_solutions import solve

pytestmark = pytest.mark.miniwob

LOGIN = Task(id="login-user/0", kind="login-user", name="login-user")


@pytest.fixture
def own(miniwob_config: MiniWob) -> Iterator[MiniWobTasks]:
    """A browser that a test may kill."""
    world = miniwob_config.open(slots=2)
    yield world
    world.close()


def started(world: MiniWobTasks, task: Task = LOGIN) -> MiniWobEpisode:
    episode = world.make(task, Affordances.NONE)
    episode.reset()
    return episode


def evaluate(episode: MiniWobEpisode, script: str, *arguments: object) -> object:
    assert episode._page is not None
    return episode._browser.run(episode._page._page.evaluate(script, *arguments), "a test's script")


def family(pid: int) -> list[psutil.Process]:
    """Playwright's process and all below it: the browser is its child."""
    top = psutil.Process(pid)
    return [top, *top.children(recursive=True)]


def chromium(pid: int) -> psutil.Process:
    return next(process for process in family(pid)[1:] if "--type=" not in cmdline(process))


def cmdline(process: psutil.Process) -> str:
    return " ".join(process.cmdline())


def profile(process: psutil.Process) -> Path:
    found = re.search(r"--user-data-dir=(\S+)", cmdline(process))
    assert found
    return Path(found[1])


def left_of(processes: list[psutil.Process], within: float = 60.0) -> list[str]:
    deadline = time.monotonic() + within
    while (left := [p for p in processes if lives(p)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    return [str(process) for process in left]


def lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


# ---- what pages can reach

REACH = """async ([http, port]) => {
    const tried = [];
    const attempt = async (name, doing) => {
        try { await doing(); tried.push(name); } catch (error) { }
    };
    const got = async (address) => { if (!(await fetch(address)).ok) throw "refused"; };
    const loads = (kind) => new Promise((yes, no) => {
        const element = document.createElement(kind);
        element.onload = yes;
        element.onerror = no;
        element.src = `${http}/${kind}`;
        document.body.append(element);
    });
    const opens = () => new Promise((yes, no) => {
        const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
        socket.onopen = yes;
        socket.onerror = no;
    });
    await attempt("fetch", () => fetch(http, { mode: "no-cors" }));
    await attempt("file", () => got("file:///etc/hostname"));
    await attempt("parent", () => got("http://miniwob.invalid/../__init__.py"));
    await attempt("escaped", () => got("http://miniwob.invalid/%2e%2e%2f__init__.py"));
    await attempt("img", () => loads("img"));
    await attempt("script", () => loads("script"));
    await attempt("socket", opens);
    navigator.sendBeacon(`${http}/beacon`, "x");
    const frame = document.createElement("iframe");
    frame.src = `${http}/frame`;
    document.body.append(frame);
    await attempt("no peer", async () => {
        const peer = new RTCPeerConnection({ iceServers: [{ urls: `stun:127.0.0.1:${port}` }] });
        peer.createDataChannel("x");
        await peer.setLocalDescription(await peer.createOffer());
        throw "asked";
    });
    return tried;
}"""


def test_nothing_but_the_packages_files_can_be_reached_from_a_page(miniwob: MiniWobTasks) -> None:
    reached: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            reached.append(self.path)
            self.send_response(200)
            self.end_headers()

        do_POST = do_GET

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    port = server.server_port
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", port))
    udp.settimeout(1)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    episode = started(miniwob)
    try:
        assert evaluate(episode, REACH, [f"http://127.0.0.1:{port}", port]) == []
        evaluate(episode, "port => { location.href = `http://127.0.0.1:${port}/moved` }", port)
        evaluate(episode, "() => { window.open('http://127.0.0.1/', '_blank') }")
        with pytest.raises(TimeoutError):
            udp.recvfrom(100)
        assert reached == []
        own_file = "fetch('http://miniwob.invalid/core/core.js').then(answer => answer.status)"
        assert evaluate(episode, own_file) == 200
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        udp.close()
        episode.close()


def test_a_page_never_leaves_its_task(miniwob: MiniWobTasks) -> None:
    episode = started(miniwob)
    before = episode.step("click //input[@id='username']").text
    for script in (
        "() => { location.href = 'http://miniwob.invalid/miniwob/click-test.html' }",
        "() => { location.reload() }",
        "() => { const form = document.createElement('form'); document.body.append(form); "
        "form.submit(); form.remove() }",
    ):
        evaluate(episode, script)
        time.sleep(0.3)
        assert episode.step("press tab").text == before
    episode.close()


# ---- crashes


def test_a_killed_browser_is_a_fault_and_the_next_episodes_get_one_new_one(
    own: MiniWobTasks,
) -> None:
    playing, waiting = started(own), own.make(LOGIN, Affordances.NONE)
    pid = own.browser_pid
    assert pid is not None
    chromium(pid).kill()
    with pytest.raises(WorldFault, match=r"the browser .*\(task login-user/0\): run the episode"):
        playing.step("press tab")
    with pytest.raises(WorldFault):
        waiting.reset()
    with ThreadPoolExecutor(4) as threads:
        again = list(threads.map(started, [own] * 4))
    assert len({id(episode._browser) for episode in again}) == 1
    assert own.browser_pid not in (None, pid)
    for episode in again:
        assert not episode.step("press tab").invalid
        episode.close()


def test_a_killed_playwright_is_a_fault_and_takes_the_browser_along(own: MiniWobTasks) -> None:
    playing = started(own)
    pid = own.browser_pid
    assert pid is not None
    before = family(pid)
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(WorldFault):
        playing.step("press tab")
    assert left_of(before) == []
    again = started(own)
    assert own.browser_pid != pid
    again.close()


def test_a_crashed_page_is_a_fault_of_its_own_episode_alone(own: MiniWobTasks) -> None:
    crashing, other = started(own), started(own)
    assert crashing._page is not None
    pid = own.browser_pid
    with pytest.raises(WorldFault):
        crashing._browser.run(crashing._page._page.goto("chrome://crash"), "a crash")
    with pytest.raises(WorldFault, match="login-user/0"):
        crashing.step("press tab")
    assert not other.step("press tab").invalid
    other.close()
    assert own.browser_pid == pid


def test_a_page_that_does_not_answer_is_a_fault_of_its_own_episode_alone(
    own: MiniWobTasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    hanging, other = started(own), started(own)
    evaluate(hanging, "() => { document.onkeydown = () => { for (;;) { } } }")
    monkeypatch.setattr("envs.miniwob.browser.CALL_SECONDS", 3.0)
    with pytest.raises(WorldFault, match=r"did not answer on 'press tab' within 3 s.*login-user"):
        hanging.step("press tab")
    monkeypatch.undo()
    assert not other.step("press tab").invalid
    other.close()


def test_a_browser_that_does_not_start_is_a_fault_in_one_line(
    miniwob_config: MiniWob, tmp_path: Path
) -> None:
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\n[ $1 = --version ] && echo Chromium 1 && exit\nexit 3\n")
    broken.chmod(0o755)
    world = replace(miniwob_config, browser=str(broken), tasks=["click-test"]).open(slots=1)
    try:
        with pytest.raises(WorldFault, match="the browser failed on start") as caught:
            world.make(LOGIN, Affordances.NONE)
        assert "\n" not in str(caught.value)
        assert [line.startswith("the browser failed") for line in world.check()] == [True]
    finally:
        world.close()


# ---- many at once


def test_eight_contexts_in_one_browser_do_not_touch_each_other(miniwob: MiniWobTasks) -> None:
    tasks = [Task(id=f"{page}/3", kind=page, name=page) for page in FEEDBACK[:8]]

    def play(task: Task) -> list[Observation]:
        episode = miniwob.make(task, Affordances.OBJECTS)
        seen = [episode.reset()]

        def send(action: str) -> Observation:
            seen.append(episode.step(action))
            return seen[-1]

        assert solve(task, seen[0], send).won
        episode.close()
        return seen

    alone = [play(task) for task in tasks]
    pid = miniwob.browser_pid
    with ThreadPoolExecutor(len(tasks)) as threads:
        assert list(threads.map(play, tasks)) == alone
    assert miniwob.browser_pid == pid


def test_a_closed_episode_gives_its_context_back(own: MiniWobTasks) -> None:
    for _ in range(3):
        started(own).close()
    browser = own._pool.browser
    assert browser is not None
    assert browser._browser.contexts == []


# ---- processes


def test_close_leaves_no_process_no_thread_and_no_file(miniwob_config: MiniWob) -> None:
    threads, files = threading.active_count(), psutil.Process().num_fds()
    world = miniwob_config.open(slots=1)
    episode = started(world)
    assert world.browser_pid is not None
    processes, folder = family(world.browser_pid), profile(chromium(world.browser_pid))
    assert folder.exists()
    world.close()
    world.close()
    assert left_of(processes) == []
    assert not folder.exists()
    assert world.browser_pid is None
    with pytest.raises(WorldFault, match="was closed"):
        episode.step("press tab")
    with pytest.raises(WorldFault, match="MiniWoB.. is closed"):
        world.make(LOGIN, Affordances.NONE)
    deadline = time.monotonic() + 60  # asyncio's own thread that waits for a process ends last
    while threading.active_count() > threads and time.monotonic() < deadline:
        time.sleep(0.05)
    assert threading.active_count() <= threads
    assert psutil.Process().num_fds() <= files


@pytest.mark.slow
def test_a_browser_that_does_not_end_is_killed(own: MiniWobTasks) -> None:
    started(own)
    assert own.browser_pid is not None
    processes, folder = family(own.browser_pid), profile(chromium(own.browser_pid))
    chromium(own.browser_pid).suspend()
    own.close()
    assert left_of(processes) == []
    assert not folder.exists()


PARENT = """
import os, signal, sys, time
from envs.miniwob import MiniWob
from envs.world import Affordances

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
world = MiniWob(tasks=["login-user"], variations=1).open(slots=1)
episode = world.make(world.tasks[0], Affordances.NONE)
episode.reset()
child = os.fork()
if child == 0:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.closerange(0, 3)
    time.sleep(60)
    os._exit(0)
try:
    print(world.browser_pid, child, flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    time.sleep(0.5)  # long enough for a browser that heard the Ctrl-C, too
    print("alive" if not episode.step("press tab").invalid else "", flush=True)
    world.close()
"""


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_parent_that_ends_takes_the_browser_along_even_when_it_had_forked(
    sent: signal.Signals, miniwob_config: MiniWob
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as parent:
        assert parent.stdout is not None
        driver, child = (int(word) for word in parent.stdout.readline().split())
        processes, folder = family(driver), profile(chromium(driver))
        try:
            assert folder.exists() and len(processes) > 3
            if sent is signal.SIGINT:  # Ctrl-C reaches the whole group; the parent ends in order
                os.killpg(parent.pid, sent)
                assert parent.stdout.readline() == "alive\n"
            else:
                parent.send_signal(sent)
            parent.wait(60)
            assert left_of(processes) == []
            assert not folder.exists()
        finally:
            for process in [psutil.Process(child), *processes]:
                if lives(process):
                    process.kill()
