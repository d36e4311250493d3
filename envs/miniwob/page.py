"""One page of MiniWoB++ in a browser context of its own. Runs in the browser's event loop.

The page's clock stands still but for `SETTLE_MS` after each action, in which animations and delayed
answers come to their end at once. So what an action leads to does not depend on how busy the
machine is, and nobody waits for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from envs.errors import WorldFault
from envs.miniwob.actions import KEYS, Action, NotAnAction, Point, Press, Type, Verb
from envs.miniwob.files import content, content_type

ORIGIN = "http://miniwob.invalid"
"""Where the package's files seem to be; no such name can ever exist (RFC 2606)."""

WINDOW = {"width": 500, "height": 320}
"""As in the package; the task fills `TASK_AREA` of it."""
TASK_AREA = {"x": 0, "y": 0, "width": 160, "height": 210}

EPOCH_S = 1_500_000_000
"""When it is, for a page, while it loads (14 July 2017)."""
LOADED_S = EPOCH_S + 86_400
"""When its episode begins."""
SETTLE_MS = 1000
"""The slowest animation of the pages takes 500."""
READY_WITHIN = 10
"""So many times that long, a task may take to get ready."""

_SCRIPT = Path(__file__).with_name("page.js").read_text()


@dataclass(frozen=True, slots=True)
class Done:
    """What came of an action."""

    text: str = ""
    """What there is to say about it; empty when it went as it was meant."""
    happened: bool = True


@dataclass(frozen=True, slots=True)
class Look:
    """What there is to see."""

    html: str
    done: bool
    raw_reward: float
    """The page's own, not scaled by time, -1 to 1; 0 until it is done."""
    reason: str
    """Of the reward; most pages give none."""
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    screenshot: bytes = b""
    """A PNG of the task, where one was asked for."""


class Page:
    """Made by `open`. One coroutine at a time."""

    def __init__(self, context: Any, page: Any, html: Path) -> None:
        self._context = context
        self._page = page
        self._html = html.resolve()
        self._playing = False
        self._clipboard = ""

    @classmethod
    async def open(cls, browser: Any, html: Path, name: str) -> "Page":
        """Load a page; its episode has not begun."""
        context = await browser.new_context(
            viewport=WINDOW, service_workers="block", accept_downloads=False
        )
        context.set_default_timeout(0)  # how long a call may take is the browser's business
        try:
            await context.clock.install(time=EPOCH_S)
            await context.add_init_script(_SCRIPT)
            page = cls(context, await context.new_page(), html)
            await context.route("**/*", page._serve)
            await page._page.goto(f"{ORIGIN}/miniwob/{name}.html")
            await page._page.clock.pause_at(LOADED_S)
        except BaseException:
            await context.close()
            raise
        return page

    async def begin(self, seed: int, mode: str) -> str:
        """Start the episode; the task in words. Once."""
        goal = await self._page.evaluate(
            "([seed, mode]) => groundling.begin(seed, mode)", [str(seed), mode]
        )
        self._playing = True
        for _ in range(READY_WITHIN):
            await self._page.clock.run_for(SETTLE_MS)
            if (await self._page.evaluate("groundling.outcome()"))["ready"]:
                return str(goal)
        raise WorldFault(f"{self._page.url} did not get its task ready")

    async def perform(self, action: Action) -> Done:
        """Do it and let the page come to rest.

        Raises:
            NotAnAction: its XPath is none, or what it names is no option.
        """
        match action:
            case Type(text):
                await self._page.keyboard.type(text)
                done = Done()
            case Press(key):
                await self._press(key)
                done = Done()
            case Point(verb, xpath):
                done = await self._point(verb, xpath)
        await self._page.clock.run_for(SETTLE_MS)
        return done

    async def look(self, *, fields: bool, names: bool, screenshot: bool) -> Look:
        """What is there now."""
        seen = await self._page.evaluate(
            "([fields, names]) => ({ html: groundling.state(fields), ...groundling.outcome(), "
            "names: names ? groundling.names() : {} })",
            [fields, names],
        )
        picture = b""
        if screenshot:
            # Hiding the caret writes into the fields' own attributes, which an agent would see.
            picture = await self._page.screenshot(clip=TASK_AREA, caret="initial")
        return Look(
            html=seen["html"],
            done=seen["done"],
            raw_reward=float(seen["raw"]),
            reason=seen["reason"],
            names={marker: tuple(words) for marker, words in seen["names"].items()},
            screenshot=picture,
        )

    async def close(self) -> None:
        """Give the context back."""
        await self._context.close()

    async def _serve(self, route: Any) -> None:
        """Answer a request from the package's files, and none but these."""
        if self._playing and route.request.is_navigation_request():
            await route.fulfill(status=204)  # a browser stays where it is on "no content"
            return
        address = urlsplit(route.request.url)
        path = (self._html / unquote(address.path).lstrip("/")).resolve()
        if (
            f"{address.scheme}://{address.netloc}" == ORIGIN
            and path.is_relative_to(self._html)
            and path.is_file()
        ):
            await route.fulfill(body=content(path), content_type=content_type(path))
        else:
            await route.abort("addressunreachable")

    async def _press(self, key: str) -> None:
        """Press a key. The browser's clipboard is shared by all its contexts, so it is not used."""
        keyboard = self._page.keyboard
        if key == "ctrl+v":
            await keyboard.insert_text(self._clipboard)
        elif key in ("ctrl+c", "ctrl+x"):
            taken = await self._page.evaluate("cut => groundling.selection(cut)", key == "ctrl+x")
            self._clipboard = taken["text"] or self._clipboard
            if taken["cut"]:
                await keyboard.press("Delete")
        else:
            await keyboard.press(KEYS[key])

    async def _point(self, verb: Verb, xpath: str) -> Done:
        found = await self._page.evaluate("xpath => groundling.locate(xpath)", xpath)
        match found.get("problem"):
            case "malformed":
                raise NotAnAction(f"{xpath!r} is no XPath that selects elements.")
            case "nothing":
                return Done(f"No element of the page matches {xpath}", happened=False)
            case "hidden":
                return Done(
                    f"{found['brief']} matches {xpath} but is not shown now", happened=False
                )
            case "covered":
                return Done(
                    f"{found['brief']} cannot be reached: {found['covered']} covers it",
                    happened=False,
                )
        if verb is Verb.OPTION and found["tag"] != "option":
            raise NotAnAction(f"{xpath} is a <{found['tag']}>, no <option> of a list.")
        if found["disabled"] and verb is not Verb.MOVE:
            return Done(f"{found['brief']} is disabled", happened=False)
        mouse = self._page.mouse
        if found["tag"] == "option":
            if verb is Verb.MOVE:
                return Done("The options of a list are clicked, not pointed at", happened=False)
            await self._page.evaluate("xpath => groundling.choose(xpath)", xpath)
        else:
            # In two steps: menus take a first move for a mouse that was there before
            await mouse.move(found["x"], found["y"], steps=2)
            if verb is Verb.CLICK:
                await mouse.down()
                await mouse.up()
        if found["count"] > 1:
            return Done(f"{found['count']} elements match {xpath}; the first shown was taken")
        return Done()
