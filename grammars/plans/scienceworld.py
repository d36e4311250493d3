"""Plans for ScienceWorld: a method for each of its forms of commands.

`focus on OBJ` becomes `agent.focus_on(thing)`, `move OBJ to OBJ` becomes `agent.move_to(a, b)`.
"""

from collections.abc import Sequence

from grammars.plans.world import Kind, Method, PlanWorld

MARK = "OBJ"
_KEYWORDS = ("No known action", "closed", "open", "nothing", "You move", "You focus", "door")


def method_of(template: str) -> Method:
    """The method for a form of commands: its words joined, a thing for each `OBJ`."""
    words = template.split(" ")
    name = "_".join(word for word in words if word != MARK)
    return Method(name, ("thing",) * words.count(MARK))


def command_of(template: str, arguments: Sequence[str]) -> str:
    """The command that a call of the template's method means."""
    left = iter(arguments)
    return " ".join(next(left) if word == MARK else word for word in template.split(" "))


def scienceworld_plans(
    templates: Sequence[str], things: Sequence[str], rooms: Sequence[str]
) -> PlanWorld:
    """The plans of one episode: its forms of commands, what was seen in it, its rooms."""
    names = tuple(dict.fromkeys([*things, *rooms]))
    return PlanWorld(
        methods=tuple(map(method_of, templates)),
        kinds={"thing": Kind(names=names, variables=("place", "found"))},
        lists=("rooms",),
        texts=("location", "holding"),
        keywords=(*_KEYWORDS, *names),
    )
