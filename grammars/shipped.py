"""One grammar of every sort that agents use, of the size it has in a large scene.

A server is warmed with them before the first episode; benchmarks and proofs measure them.
"""

from collections.abc import Mapping

from grammars import answers
from grammars.actions import enforced_action, template_action
from grammars.forms import Blank, Form
from grammars.grammar import Grammar
from grammars.plans.household import household_plans, household_slots
from grammars.plans.prose import prose_plan
from grammars.plans.skeleton import Skeleton, SkeletonForm
from grammars.plans.surface import FOUND, ITEM, LIST, NUMBER, SEEN, next_blank
from grammars.plans.syntax import syntax_step
from grammars.plans.typed import typed_step

_COUNTS = {
    **{"countertop": 3, "cabinet": 9, "drawer": 6, "shelf": 3, "diningtable": 1},
    **{"sinkbasin": 1, "microwave": 1, "fridge": 1, "stoveburner": 4, "garbagecan": 1},
}
RECEPTACLES = tuple(f"{word} {n}" for word, most in _COUNTS.items() for n in range(1, most + 1))
THINGS = tuple(
    f"{thing} {number}"
    for thing in ("apple", "bowl", "bread", "butterknife", "cup", "egg", "fork", "mug", "potato")
    for number in (1, 2, 3)
)
TEMPLATES = (
    *("go to RECEPTACLE", "open RECEPTACLE", "close RECEPTACLE", "examine RECEPTACLE", "look"),
    *("take OBJECT from RECEPTACLE", "move OBJECT to RECEPTACLE", "inventory"),
    *("clean OBJECT with RECEPTACLE", "heat OBJECT with RECEPTACLE", "use OBJECT"),
)


def shipped() -> Mapping[str, Grammar]:
    """The grammars by what they are for."""
    names = {"RECEPTACLE": RECEPTACLES, "OBJECT": THINGS}
    commands = [f"go to {place}" for place in RECEPTACLES]
    commands += [f"take {thing} from countertop 1" for thing in THINGS]
    commands += [f"move {thing} to {place}" for thing in THINGS for place in RECEPTACLES]
    world = household_plans(RECEPTACLES)
    slots = SkeletonForm(Skeleton("find a <object:mug>\n"), household_slots(RECEPTACLES))
    everything = frozenset({LIST, ITEM, SEEN, NUMBER, FOUND})
    return {
        "action, enforced": enforced_action(commands),
        "action, template": template_action(TEMPLATES, names),
        "thought or action, enforced": enforced_action(commands, thoughts=True),
        "thought or action, template": template_action(TEMPLATES, names, thoughts=True),
        "plan, its general idea": _first(next_blank((), lambda _: syntax_step(world, 1))),
        "plan step, syntax": syntax_step(world, 1),
        "plan step, typed, nothing assigned": typed_step(world, 1, frozenset()),
        "plan step, typed, all assigned": typed_step(world, 8, everything),
        "plan slot, skeleton": _first(slots.next(())),
        "plan in words": _first_of(prose_plan()),
        "answer, item of a list": _first_of(answers.list_of(RECEPTACLES)),
        "answer, one of": _first_of(answers.one_of(RECEPTACLES)),
        "answer, number": _first_of(answers.number()),
        "answer, yes or no": _first_of(answers.yes_or_no()),
        "answer, line": _first_of(answers.line()),
        "answer, step to start from": _first_of(answers.start_from(7)),
        "reflection": _first_of(answers.paragraph()),
    }


def _first_of(form: Form) -> Grammar:
    return _first(form.next(()))


def _first(blank: object) -> Grammar:
    assert isinstance(blank, Blank)
    return blank.grammar
