"""Scripted solutions of MiniWoB++'s nine tasks with feedback, from what an agent sees alone.

The wordings of the tasks in natural language come from the pages' own lists, read from the package.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import lxml.html  # type: ignore[import-untyped]

from envs.miniwob.package import find_package
from envs.miniwob.selection import locate
from envs.world import Observation, Task

Send = Callable[[str], Observation]

POPUPS = {6, 7, 8}
"""Of the seeds below ten, those with which login-user-popup shows its popup."""


@dataclass(frozen=True, slots=True)
class Errand:
    """What is to be done with whose email."""

    action: str
    name: str
    to: str = ""
    text: str = ""


def solve(task: Task, first: Observation, send: Send) -> Observation:
    """Play a task with a seed below ten; the last observation."""
    goal = first.goal
    match task.kind:
        case "guess-number":
            return _guess(send)
        case "login-user-popup":
            return _login(goal, send)
        case "search-engine":
            return _search(goal, send)
        case "terminal":
            return _terminal(goal, send)
        case "tic-tac-toe":
            return _tic_tac_toe(locate(task).seed, send)
        case kind:
            return _email(errand(kind, goal, _senders(first)), send)


def _guess(send: Send) -> Observation:
    least, most = 0, 9
    while True:
        guess = (least + most) // 2
        send("click //input[@id='tt']")
        send("press ctrl+a")
        send(f"type {guess}")
        now = send("click //button[@id='subbtn']")
        if now.done or least >= most:
            return now
        if shown(now, "higher"):
            least = guess + 1
        else:
            most = guess - 1


def _login(goal: str, send: Send) -> Observation:
    name, password = re.findall(r'"([^"]*)"', goal)
    for field, text in (("username", name), ("password", password)):
        now = send(f"click //input[@id='{field}']")
        if "popup" in now.text:
            send("click //button[@id='popup-cancel']")
            send(f"click //input[@id='{field}']")
        send(f"type {text}")
    return send("click //button[@id='subbtn']")


def _search(goal: str, send: Send) -> Observation:
    found = re.search(r'enter "(.*?)" .* the (\d)', goal)
    assert found
    place = int(found[2]) - 1
    send("click //input[@id='search-text']")
    send(f"type {found[1]}")
    send("click //button[@id='search']")
    if place >= 3:
        send(f"click //a[text()='{place // 3 + 1}']")
    return send(f"click //a[@data-result='{place}']")


def _terminal(goal: str, send: Send) -> Observation:
    ending = re.search(r"extension (\S+)", goal)
    send("click //div[@id='terminal']")
    send("type ls")
    now = send("press enter")
    files = page(now).xpath("//span[@class='output']")[-1].text.split()
    wanted = [name for name in files if (name.endswith(ending[1]) if ending else "." not in name)]
    send(f"type rm {wanted[0]}")
    return send("press enter")


def _tic_tac_toe(seed: int, send: Send) -> Observation:
    for cell in WINNING[seed]:
        now = send(f"click //span[@id='ttt-{cell}']")
    return now


WINNING = {
    0: (8, 1, 2, 0),
    1: (8, 5, 2),
    2: (6, 8, 0, 4),
    3: (8, 6, 7),
    4: (8, 7, 4, 0),
    5: (8, 7, 4, 1),
    6: (2, 4, 8, 0),
    7: (8, 5, 3, 4),
    8: (4, 0, 5, 3),
    9: (8, 5, 4, 3),
}
"""Moves that win against what the opponent draws with each seed; found by trying."""


def _email(wanted: Errand, send: Send) -> Observation:
    send(f"click //div[@class='email-sender'][text()='{wanted.name}']")
    match wanted.action:
        case "reply":
            send("click //span[@class='email-reply']")
            send("click //textarea[@id='reply-text']")
            send(f"type {wanted.text}")
            return send("click //span[@id='send-reply']")
        case "forward":
            send("click //span[@class='email-forward']")
            send("click //input[@class='forward-sender']")
            send(f"type {wanted.to}")
            return send("click //span[@id='send-forward']")
        case "delete":
            return send("click //span[@class='trash']")
        case _:
            return send("click //span[@class='star']")


def errand(kind: str, goal: str, senders: set[str]) -> Errand:
    """The errand that the goal is about, if its wording is one of the page's."""
    for action, wording in wordings(kind):
        pattern = re.escape(wording)
        for mark in ("NAME", "DEST", "MSG"):
            pattern = pattern.replace(mark, f"(?P<{mark}>.+?)", 1)
        if found := re.fullmatch(pattern, goal):
            said = found.groupdict()
            if said["NAME"] in senders:
                return Errand(action, said["NAME"], said.get("DEST", ""), said.get("MSG", ""))
    raise AssertionError(f"{kind}: no wording fits {goal!r}")


def wordings(kind: str) -> Iterator[tuple[str, str]]:
    """Each with its action, longest first: a short one may fit what is meant by a longer one."""
    html = find_package().html
    if kind == "email-inbox":
        yield "reply", 'Find the email by NAME and reply to them with the text "MSG".'
        yield "forward", "Find the email by NAME and forward that email to DEST."
        yield "delete", "Find the email by NAME and click the trash icon to delete it."
        yield "important", "Find the email by NAME and click the star icon to mark it as important."
    elif kind == "email-inbox-forward-nl":
        text = (html / "miniwob" / f"{kind}.html").read_text()
        for said in sorted(re.findall(r"^  '(.*NAME.*)',$", text, re.MULTILINE), key=len)[::-1]:
            yield "forward", said
    else:
        text = (html / "common/special/email-inbox-nl/templates.js").read_text()
        action, found = "", []
        for line in text.splitlines():
            if opened := re.match(r'\s*"(forward|reply|delete|important)"', line):
                action = opened[1]
            elif said := re.match(r'\s*("(?:[^"\\]|\\.)*NAME(?:[^"\\]|\\.)*"),?$', line):
                found.append((action, json.loads(said[1])))
        yield from sorted(found, key=lambda pair: len(pair[1]), reverse=True)


def page(seen: Observation) -> Any:
    return lxml.html.fromstring(f"<body>{seen.text}</body>")


def shown(seen: Observation, element_id: str) -> bool:
    return "hide" not in (page(seen).get_element_by_id(element_id).get("class") or "")


def _senders(first: Observation) -> set[str]:
    return {element.text for element in page(first).xpath("//div[@class='email-sender']")}
