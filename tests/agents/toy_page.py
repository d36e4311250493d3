"""A page without a browser: a field and two buttons, with observations as MiniWoB++'s."""

from envs.errors import EpisodeOver
from envs.miniwob.actions import NotAnAction, Point, Press, Type, parse_action
from envs.miniwob.commands import TEMPLATES, admissible, named
from envs.world import Affordances, Observation

GOAL = 'Enter "Mina" into the text field and press Send.'
FIELD, SEND, BACK = "//input[@id='tt']", "//button[@id='send']", "//button[text()='Back']"
SHOWN = {
    "TAG": ("button", "div", "input"),
    "ID": ("send", "tt"),
    "CLASS": (),
    "TEXT": ("Back", "Send"),
    "XPATH": (FIELD, SEND, BACK),
    "OPTION": (),
}


class ToyPage:
    """Keeps the `TextEnv` contract. `Send` ends it, won if the field holds what was asked for."""

    def __init__(self, affordances: Affordances = Affordances.OBJECTS) -> None:
        self._affordances = affordances
        self._typed = ""
        self._focus = False
        self._over = False

    def reset(self) -> Observation:
        return self._observe(self.html, goal=GOAL)

    def step(self, action: str) -> Observation:
        if self._over:
            raise EpisodeOver("the toy page's episode has ended")
        try:
            match parse_action(action):
                case Type(text) if self._focus:
                    self._typed += text
                case Press("ctrl+a"):
                    self._typed = ""
                case Point(_, xpath) if xpath == SEND:
                    return self._end(100.0 if self._typed == "Mina" else -100.0)
                case Point(_, xpath) if xpath in (FIELD, BACK):
                    self._focus = xpath == FIELD
                case Point(_, xpath):
                    said = f"No element of the page matches {xpath}; nothing happened."
                    return self._observe(said, invalid=True)
        except NotAnAction as error:
            return self._observe(f"{error} Nothing happened.", invalid=True)
        return self._observe(self.html)

    def close(self) -> None:
        pass

    @property
    def html(self) -> str:
        held = f' value="{self._typed}"' if self._typed else ""
        return (
            f'<div>\n <input type="text" id="tt"{held}>\n <button id="send">Send</button>\n'
            " <button>Back</button>\n</div>"
        )

    def _observe(self, text: str, *, goal: str = "", invalid: bool = False) -> Observation:
        names = named(GOAL, self.html, SHOWN)
        return Observation(
            text=text,
            goal=goal,
            invalid=invalid,
            templates=TEMPLATES,
            names=names if self._affordances is not Affordances.NONE else {},
            admissible=admissible(names) if self._affordances is Affordances.ADMISSIBLE else (),
        )

    def _end(self, score: float) -> Observation:
        self._over = True
        return Observation(
            text=f"The task has ended with reward {score / 100:g}.",
            reward=score,
            score=score,
            done=True,
            won=score > 0,
            templates=TEMPLATES,
        )
