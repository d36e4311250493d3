"""ScienceWorld's house as it answers, a few rooms of it, for tests without Java."""

from collections.abc import Mapping

from envs.world import Observation

GOAL = (
    "Your task is to find a(n) animal. First, focus on the thing. Then, move it to the orange box"
    " in the living room."
)
FORMS = (
    *("focus on OBJ", "go to OBJ", "inventory", "look around", "look in OBJ", "move OBJ to OBJ"),
    *("open OBJ", "pick up OBJ", "put down OBJ"),
)
STUDIO = """This room is called the art studio. In it, you see:
\tthe agent
\ta substance called air
\ta table. On the table is: a bowl (containing a red apple, nothing), a drawer.
\ta wood cup (containing red paint)
\ta flower pot 7 (containing a pea plant in the adult stage with a tall height, soil)
\tA recipe titled instructions to make sugar water
\tunknown substance B
You also see:
\tA door to the hallway (that is open)"""
HALLWAY = """This room is called the hallway. In it, you see:
\tthe agent
\ta electric motor, which is off
You also see:
\tA door to the art studio (that is open)
\tA door to the living room (that is closed)"""
ANSWERS = {
    "go to hallway": "You move to the hallway.",
    "go to art studio": "You move to the art studio.",
    "open door to living room": "The door is now open.",
    "pick up wood cup": "You move the cup to the inventory.",
    "move wood cup to orange box": "You move the wood cup to the orange box.",
    "inventory": "In your inventory, you see:\n\tan orange\n\ta wood cup (containing red paint)",
    "focus on cup": "Ambiguous request: Please enter the number for the action you intended:\n"
    "0:\tfocus on cup (in art studio)\n1:\tfocus on cup (in inventory, in agent, in art studio)\n",
    "1": "You focus on the wood cup.",
}


class House:
    """Answers like the world; keeps what it was told."""

    def __init__(self, names: tuple[str, ...] = (), answers: Mapping[str, str] = ANSWERS) -> None:
        self.commands: list[str] = []
        self._names = {"OBJ": names} if names else {}
        self._answers = answers
        self._room = STUDIO

    def first(self, forms: tuple[str, ...] = FORMS) -> Observation:
        return Observation(text=STUDIO, goal=GOAL, templates=forms, names=self._names)

    async def act(self, command: str) -> Observation:
        self.commands.append(command)
        text = self._answer(command)
        return Observation(text=text, templates=FORMS, names=self._names)

    def _answer(self, command: str) -> str:
        if command == "go to living room":
            opened = "open door to living room" in self.commands
            return "You move to the living room." if opened else "The door is not open."
        if command == "go to hallway":
            self._room = HALLWAY
        if command == "look around":
            return self._room
        return self._answers.get(command, "No known action matches that input.")
