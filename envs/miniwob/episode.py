"""One episode of MiniWoB++.

The state is the HTML of the task, without the line that says the task (that is the goal), without
MiniWoB++'s own frame, comments, scripts, and what is meant for screen readers (`aria-`, `role`). An
action that did nothing is answered with a sentence instead of the state, which is as it was. A
remark about an action that did something stands before the state as a comment.

Two things are our own. What fields hold is written into the HTML as attributes (`value`, `checked`,
`selected`), because HTML alone does not show what was typed; `env.fields=false` leaves it out, as
in the papers. And an XPath that finds several elements takes the first one that is shown.
"""

from contextlib import suppress
from typing import TYPE_CHECKING

from envs.errors import EpisodeOver, WorldFault
from envs.miniwob.actions import NotAnAction, parse_action
from envs.miniwob.commands import TEMPLATES, admissible, named
from envs.miniwob.pool import Pool
from envs.miniwob.selection import locate
from envs.miniwob.settings import Rules
from envs.world import Affordances, Observation, Task

if TYPE_CHECKING:
    from envs.miniwob.page import Look, Page

FAILED = -100.0
"""The score of an episode that an invalid action has ended; the pages' own failures are as low."""

_BEFORE_RESET = "before reset"


class MiniWobEpisode:
    """Keeps the `TextEnv` contract. `won` is a raw reward of 1; some pages give parts of it."""

    def __init__(self, task: Task, affordances: Affordances, rules: Rules, pool: Pool) -> None:
        self._task = task
        self._located = locate(task)
        self._affordances = affordances
        self._rules = rules
        self._browser = pool.acquire()
        self._page: Page | None = None
        self._goal = ""
        self._over = _BEFORE_RESET

    def reset(self) -> Observation:
        """Load the page and start its task.

        Raises:
            WorldFault: the browser crashed.
        """
        if self._over != _BEFORE_RESET:
            raise EpisodeOver(
                f"MiniWoB++ {self._task.id}: reset came {self._over or 'twice'}: make a new episode"
            )
        try:
            self._page = self._browser.open(self._located.page)
            begin = self._page.begin(self._located.seed, self._rules.mode)
            self._goal = self._browser.run(begin, "the beginning")
            seen = self._look(self._page)
        except WorldFault as fault:
            raise self._lost(fault) from fault
        self._over = ""
        return self._observe(seen, self._state(seen), goal=self._goal)

    def step(self, action: str) -> Observation:
        """Do what one line says.

        Raises:
            EpisodeOver: the world had said `done`, or the episode was closed or not yet reset.
            WorldFault: the browser crashed.
        """
        page = self._page
        if self._over or page is None:
            raise EpisodeOver(
                f"MiniWoB++ {self._task.id}: {action!r} came {self._over}: make a new episode"
            )
        try:
            try:
                done = self._browser.run(page.perform(parse_action(action)), repr(action))
            except NotAnAction as error:
                return self._invalid(page, str(error))
            seen = self._look(page)
        except WorldFault as fault:
            raise self._lost(fault) from fault
        if seen.done:
            return self._ended(seen)
        if not done.happened:
            return self._observe(seen, f"{done.text}; nothing happened.", invalid=True)
        remark = f"<!-- {done.text} -->\n" if done.text else ""
        return self._observe(seen, remark + self._state(seen))

    def close(self) -> None:
        """Give the page back; may be called twice."""
        if self._over in ("", _BEFORE_RESET):
            self._over = "after close"
        page, self._page = self._page, None
        if page is not None and self._browser.alive:
            with suppress(WorldFault):  # the browser may end meanwhile
                self._browser.run(page.close(), "closing the page")

    def _look(self, page: "Page") -> "Look":
        call = page.look(
            fields=self._rules.fields,
            names=self._affordances is not Affordances.NONE,
            screenshot=self._rules.screenshots,
        )
        return self._browser.run(call, "reading the page")

    def _observe(
        self, seen: "Look", text: str, *, goal: str = "", invalid: bool = False
    ) -> Observation:
        names = {}
        if self._affordances is not Affordances.NONE:
            names = named(self._goal, seen.html, seen.names)
        listed = self._affordances is Affordances.ADMISSIBLE
        return Observation(
            text=text,
            goal=goal,
            invalid=invalid,
            templates=TEMPLATES,
            names=names,
            admissible=admissible(names) if listed else (),
            screenshot=seen.screenshot,
        )

    def _ended(self, seen: "Look") -> Observation:
        self._over = "after the end"
        reason = f" ({seen.reason})" if seen.reason else ""
        score = 100.0 * seen.raw_reward
        return Observation(
            text=f"The task has ended with reward {seen.raw_reward:g}{reason}.",
            reward=score,
            score=score,
            done=True,
            won=seen.raw_reward == 1,
            templates=TEMPLATES,
            screenshot=seen.screenshot,
        )

    def _invalid(self, page: "Page", said: str) -> Observation:
        """Answer what was no action: the end of the episode, if the rules say so."""
        seen = self._look(page)
        if not self._rules.invalid_fails:
            return self._observe(seen, f"{said} Nothing happened.", invalid=True)
        self._over = "after an invalid action"
        return Observation(
            text=f"{said} The task has failed by an invalid action.",
            reward=FAILED,
            score=FAILED,
            done=True,
            invalid=True,
            templates=TEMPLATES,
            screenshot=seen.screenshot,
        )

    def _state(self, seen: "Look") -> str:
        """The HTML, cut where it is longer than allowed."""
        limit = self._rules.html_limit
        if len(seen.html) <= limit:
            return seen.html
        return (
            f"{seen.html[:limit]}\n<!-- {len(seen.html) - limit} more characters are not shown -->"
        )

    def _lost(self, fault: WorldFault) -> WorldFault:
        """Name the task, and let go of the broken page."""
        self._over = "after a crash"
        self.close()
        return WorldFault(f"{fault} (task {self._task.id}): run the episode again")
