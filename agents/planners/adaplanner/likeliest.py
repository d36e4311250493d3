"""A revision at the level skeleton: the likeliest plan that has not failed yet.

There the model fills a few slots, and it fills them alike when it is shown that they were wrong: a
greedy small model repeats itself. So its second thoughts are read from its ratings: by how much
likelier it finds an option with the task before it than with no task (as the answers of `ask` are
put in order, see `asking`; a small model copies the worked example's names whatever the task is).
Every other option stands behind the failed one, or before it, by some distance; the change with the
smallest is made that has not failed too.

A number follows from what was said when the plan failed (`The number is higher than 5`) more than
from the task, so that both are taken out where numbers are rated without the task.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.planners.planner import ModelCall, Purpose
from grammars.forms import Blank, Form, text_of
from inference.engine import Engine, Message, RatingRequest

_AROUND = " ,.:;'\n"
"""What an answer to a slot holds besides its name."""

_NO_TASK = "do what is to be done."
_NOTHING_SAID = "it did not work."

MOST_RATED = 64
"""Options rated for one blank, the first ones of its form, which names what is plainest first.

Each costs two prompts or more, and a browser's form may have hundreds. No home's has as many.
"""

_NUMBERED = re.compile(r" \d+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """Answers to the blanks of a form, and what finding them cost."""

    answers: tuple[str, ...]
    text: str
    calls: tuple[ModelCall, ...]


@dataclass(frozen=True, slots=True, order=True)
class _Change:
    """Another option for one blank."""

    distance: float
    blank: int
    option: str


async def likeliest_other(
    engine: Engine,
    form: Form,
    messages: tuple[Message, ...],
    failed: Sequence[tuple[str, ...]],
    blamed: str,
    goal: str,
    said_of_it: str,
    name: str,
) -> Revision | None:
    """Change one answer of the last of the `failed` fillings; None if there is nothing to change.

    Every blank of the form is a choice. Only what `blamed` names is changed, the code of the failed
    step or of the whole plan, and never to the same name with another number. `goal` is the task
    and `said_of_it` why the plan failed, both as messages and form say them; `name` begins the ids
    of the requests. Of a blank with very many options the first `MOST_RATED` are looked at.

    Raises:
        EngineFault, RequestError: as `Engine.rate`.
    """
    last = failed[-1]
    changes: list[_Change] = []
    calls: list[ModelCall] = []
    for number, said in enumerate(last):
        blank = form.next(last[:number])
        assert isinstance(blank, Blank)
        options = tuple(dict.fromkeys((*blank.grammar.options[:MOST_RATED], said)))
        others = [option for option in options if _word(option) != _word(said)]
        if not others or said.strip(_AROUND) not in blamed:
            continue
        begun = text_of(form, last[:number])
        asked = (*messages, Message("assistant", begun))
        ratings = []
        anyhow = _without(goal, _NO_TASK, asked)
        if all(_word(option).isdigit() for option in options):
            anyhow = _without(said_of_it, _NOTHING_SAID, anyhow)
        for part, shown in enumerate((asked, anyhow)):
            request = RatingRequest(id=f"{name}.b{number}.{part}", messages=shown, options=options)
            ratings.append(await engine.rate(request))
            calls.append(ModelCall.rated(request, ratings[-1], "", Purpose.REFINE))
        gain = {
            option: here - without
            for option, here, without in zip(
                options, ratings[0].logprobs, ratings[1].logprobs, strict=True
            )
        }
        found = [_Change(gain[said] - gain[option], number, option) for option in others]
        changes += found
    for change in sorted(changes):
        answers = (*last[: change.blank], change.option, *last[change.blank + 1 :])
        if answers not in failed:
            return Revision(answers=answers, text=text_of(form, answers), calls=tuple(calls))
    return None


def _without(said: str, instead: str, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    if not said:
        return messages
    return tuple(
        Message(message.role, message.content.replace(said, instead)) for message in messages
    )


def _word(option: str) -> str:
    """The name in an option, without the number of a thing of that name."""
    return _NUMBERED.sub("", option.strip(_AROUND))
