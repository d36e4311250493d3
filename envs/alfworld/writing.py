"""Game files in ALFWorld's format, which the official package plays too.

Around a problem a file needs the rules and the sentences of a version. Both are ALFWorld's own
(MIT licence) and lie beside this module in the wording of 2.1.1, with the `help` that 2.1.2 added.
"""

import json
from collections.abc import Sequence
from importlib.resources import files

from envs.alfworld.dialect import PUT_FORMS

SINK_TYPE = "(receptacletype ?r sinktype) "
"""Files of 2.1.2 clean in a `sinkbasintype` only."""

REWORDED = {
    "You arrive at {lend.name}.": "You arrive at {r.name}.",
    "You put the {o.name} in/on the {r.name}.": "You move the {o.name} to the {r.name}.",
    "put {o} in/on {r}": "move {o} to {r}",
}
"""From 2.1.1 to 2.1.2."""


def write_game(*, problem: str, task: str, version: str, walkthrough: Sequence[str] = ()) -> str:
    """The text of a `game.tw-pddl`.

    Args:
        problem: in PDDL; it has to declare the types that the rules name: of knife, butter knife,
            sink, sink basin, microwave and fridge.
        task: the sentence behind `Your task is to:`.
        version: of the wording, 2.1.1 or 2.1.2.
        walkthrough: commands that win.

    Raises:
        ValueError: there is no such version.
    """
    if version not in PUT_FORMS.values():
        raise ValueError(f"no version {version!r}: take {' or '.join(PUT_FORMS.values())}")
    folder = files("envs.alfworld")
    domain = (folder / "rules.pddl").read_text()
    spoken = json.loads((folder / "sentences.json").read_text())
    commands, sentences = dict(spoken["commands"]), dict(spoken["sentences"])
    sentences["task"] = [{"rhs": f"Your task is to: {task}"}]
    if version == "2.1.1":
        del commands["help"], sentences["help.feedback"]
        domain = domain[: domain.index("(:action help")] + ")\n"
    grammar = f'grammar :: """\n{json.dumps(sentences, indent=1)}\n""";\n' + "".join(
        f'\naction {name} {{\n template :: "{command}";\n feedback :: "{answer}";\n}}\n'
        for name, (command, answer) in commands.items()
    )
    if version == "2.1.2":
        domain = domain.replace(SINK_TYPE, "")
        for old, new in REWORDED.items():
            grammar = grammar.replace(old, new)
    game = {
        "pddl_domain": domain,
        "grammar": grammar,
        "pddl_problem": problem,
        "solvable": True,
        "walkthrough": list(walkthrough),
    }
    return json.dumps(game)
