"""What the page of a large run costs: `python -m tests.benchmarks.report_page [EPISODES]`.

A run folder is made through the real store, of the episode given by `tests/agents/page/recorded.py`
and of long ones without anything special; then the page is built in a process of its own, and
opened in Chromium.
"""

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from agents.evaluation.episode import Episode
from agents.planners import ModelCall
from envs.miniwob import find_browser
from tests.agents.page import recorded

STEPS = 25
THINGS = ("book", "mug", "pencil", "plate", "apple", "vase", "cloth", "kettle", "lamp", "watch")
"""Seen in random order and number, or trajectories would compress as no real ones do."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("episodes", type=int, nargs="?", default=10_000)
    count = parser.parse_args().episodes
    with tempfile.TemporaryDirectory() as place:
        folder, page = Path(place) / "run", Path(place) / "page" / "index.html"
        begun = time.monotonic()
        recorded.write(folder, _episodes(count), tasks=count)
        size = sum(path.stat().st_size for path in folder.rglob("*.json"))
        print(f"{count} episodes, {size / 1e6:.0f} MB, written in {time.monotonic() - begun:.0f} s")
        begun = time.monotonic()
        command = ("-m", "agents.cli", "report", str(folder), "--html", str(page))
        subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        packs = [path.stat().st_size for path in page.parent.rglob("*.js")]
        print(
            f"built in {time.monotonic() - begun:.1f} s with {peak:.0f} MB at most; page"
            f" {page.stat().st_size / 1e6:.1f} MB, {len(packs)} packs of"
            f" {max(packs, default=0) / 1e3:.0f} kB at most, {sum(packs) / 1e6:.1f} MB together"
        )
        _open(page)


def _episodes(count: int) -> Iterator[Episode]:
    for number in range(count):
        task = f"c/{number}"
        if number % 50 == 0:
            yield recorded.full(task)
            continue
        drawn = random.Random(number)
        steps = [
            recorded.step(
                f"go to shelf {at}",
                f"You arrive at shelf {at}. On the shelf {at}, you see {_seen(drawn, 8)}.",
                calls=(_call(f"{task}#0.a1.c{at}", f"go to shelf {at}", drawn),),
            )
            for at in range(STEPS)
        ]
        prompt = ({"role": "user", "content": f"You are in a room. You see {_seen(drawn, 300)}."},)
        yield recorded.episode(task, won=number % 3 > 0, steps=steps, first_prompt=prompt)


def _seen(drawn: random.Random, count: int) -> str:
    return ", ".join(f"a {drawn.choice(THINGS)} {drawn.randrange(20)}" for _ in range(count))


def _call(name: str, said: str, drawn: random.Random) -> ModelCall:
    return recorded.call(name, said, prompt_digest=f"{drawn.getrandbits(64):016x}")


def _open(page: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser().path)
        tab = browser.new_page(viewport={"width": 390, "height": 844})
        begun = time.monotonic()
        tab.goto(page.as_uri())
        tab.wait_for_selector("#list tbody tr")
        print(f"opened in {time.monotonic() - begun:.2f} s")
        for name, act, wanted in (
            ("last page", lambda: tab.click("[data-page=last]"), "#list tbody tr"),
            ("lost alone", lambda: tab.select_option("[name=state]", "1"), "#list tbody tr"),
            ("an episode", lambda: tab.click("#list tbody a >> nth=7"), "#episode .step"),
        ):
            begun = time.monotonic()
            act()
            tab.wait_for_selector(wanted)
            print(f"{name}: {time.monotonic() - begun:.2f} s")
        heap = tab.evaluate("performance.memory.usedJSHeapSize") / 1e6
        print(f"memory of the page's script: {heap:.0f} MB")
        browser.close()


if __name__ == "__main__":
    main()
