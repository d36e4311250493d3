"""In-plan refinement: answers to what a plan asks while it runs (AdaPlanner, section 3.2).

The answer is typed by the question's keyword, and under a grammar it can be nothing else. Three
kinds are narrower than their type, because a small model's mistakes there cost an episode:

- names are put in order by their kinds: `drawer` stands for all drawers, which follow as given. The
  kinds are not said one after the other (a small model then repeats the order of the list, or says
  `drawer` first to any question), but rated: by how much likelier a kind is as the answer to this
  question than to the same question about nothing (domain-conditional PMI, Holtzman et al. 2021),
  shared among its members, since each of them costs steps. On 260 real games Qwen2.5-Coder-0.5B
  sees the object after 6.7 steps this way, after 13.8 in a random order; in the order that it says,
  on 60 of them, after 23 (`tests/benchmarks/search_orders.py`);
- yes and no are rated in the same way, since small models say `no` to nearly everything. Beside
  such a question stands what it asks without what it shows, "Is there a mug among these?";
- a number is one that the question itself shows, and behind a word of its last sentence if there is
  one such ("... a mug 2, and a pen 1. What is the number of the mug?" can only be 2).
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any

import yaml

from agents.decoding import Decoding
from agents.planners.planner import ModelCall, Purpose
from agents.plans import BadCall, PlanValue
from agents.plans.writing import Writer, Written
from grammars import answers
from grammars.forms import Form
from inference.engine import Engine, Message, RatingRequest

_SENTENCE = re.compile(r"[^.!?]+[.!?]?\s*$")
_BARE_QUESTION = re.compile(r"[A-Z][^.!?:)>\n]*\?\s*$")
"""Behind whatever ends what was shown: a text of ScienceWorld may end in a bracket, a page ends in
a tag."""
_NAMED = re.compile(r"\b([A-Za-z]+) ([0-9]{1,2})\b")
_KIND = re.compile(r"(.+?) [0-9]+")


class AskMode(StrEnum):
    """How a plan's questions are answered. In lower case because a user types the names."""

    typed = "typed"
    """By the model, under a grammar of the answer's type."""
    free = "free"
    """By the model in its own words; what does not read as the type is an error in the plan."""
    said = "said"
    """As `typed`, but names are put in order by saying them one after the other."""
    off = "off"
    """By no model: names stay in the order given, the first number that fits, `yes`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingPrompt:
    """What stands before a question whose answers are rated."""

    messages: tuple[Message, ...]
    nothing: str
    """The question about nothing, beside which they are rated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskPrompts:
    """What stands before a question."""

    answer: tuple[Message, ...]
    """For an answer that is said."""
    order: RatingPrompt
    """For names."""
    yes_or_no: RatingPrompt

    @classmethod
    def load(cls, folder: str) -> "AskPrompts":
        """Those of a world, by the folder of its prompts."""
        return _read(folder)


class Asker:
    """Answers the questions of one episode."""

    def __init__(
        self,
        engine: Engine,
        decoding: Decoding,
        name: str,
        seed_for: Callable[[int], int],
        mode: AskMode,
        record: Callable[[Sequence[ModelCall]], None],
    ) -> None:
        """`record` is given every question to the model."""
        self._engine = engine
        self._decoding = decoding
        self._name = name
        self._seed_for = seed_for
        self._mode = mode
        self._record = record
        self._asked = 0

    async def ask(self, question: str, options: Mapping[str, PlanValue], folder: str) -> PlanValue:
        """Answer a question.

        Args:
            question: the plan's words.
            options: the keyword that types the answer, if there is one.
            folder: that of the world's prompts.

        Raises:
            BadCall: the options make no sense, or no answer came that is one.
        """
        prompts = AskPrompts.load(folder)
        match dict(options):
            case {"list_of": list(names), **rest} if names and not rest:
                return await self._order(prompts, question, names)
            case {"one_of": list(names), **rest} if names and not rest:
                shown = f"{question}\nNames: {', '.join(names)}"
                return await self._choose(prompts, shown, answers.one_of(names), names)
            case {"answer": "number", **rest} if not rest:
                numbers = numbers_for(question)
                return await self._choose(prompts, question, answers.number(numbers), numbers)
            case {"answer": "yes or no", **rest} if not rest:
                return await self._yes_or_no(prompts, question)
            case {**rest} if not rest:
                return await self._line(prompts, question)
        raise BadCall(
            "ask() takes one of list_of=names, one_of=names, answer='number', answer='yes or no'"
        )

    async def _order(self, prompts: AskPrompts, question: str, names: Sequence[str]) -> PlanValue:
        kinds = kinds_of(names)
        if self._mode is AskMode.off or len(kinds) == 1:
            return list(names)
        if self._mode is AskMode.typed:
            order = await self._rated(
                prompts.order,
                question,
                prompts.order.nothing,
                {kind: len(each) for kind, each in kinds.items()},
            )
            return [name for kind in order for name in kinds[kind]]
        said = await self._say(
            prompts, f"{question}\nNames: {', '.join(kinds)}", answers.ordering(list(kinds))
        )
        items = said.answers if self._mode is AskMode.said else said.text.split(",")
        order = [kind for item in items if (kind := item.strip(" .,\n")) in kinds]
        if not order:
            raise BadCall(f"ask() was answered {said.text[:80]!r}, which names none of the list")
        if self._mode is AskMode.said:
            order += kinds  # the form does not ask for the last one
        return [name for kind in dict.fromkeys(order) for name in kinds[kind]]

    async def _yes_or_no(self, prompts: AskPrompts, question: str) -> PlanValue:
        if self._mode is not AskMode.typed:
            return await self._choose(prompts, question, answers.yes_or_no(), ["yes", "no"])
        nothing = bare_question(question) or prompts.yes_or_no.nothing
        order = await self._rated(prompts.yes_or_no, question, nothing, {"yes": 1, "no": 1})
        return order[0]

    async def _rated(
        self, prompt: RatingPrompt, question: str, nothing: str, sizes: Mapping[str, int]
    ) -> list[str]:
        """The answers, those first that the question makes likelier than the one about nothing
        does; each stands for so many, which share its likelihood.
        """
        options = tuple(sizes)
        name = f"{self._name}.q{self._asked}"
        self._asked += 1
        requests = [
            RatingRequest(
                id=f"{name}.b{number}",
                messages=(*prompt.messages, Message("user", asked)),
                options=options,
            )
            for number, asked in enumerate((question, nothing))
        ]
        about, beside = [await self._engine.rate(request) for request in requests]
        gain = {
            option: here - anyhow - math.log(sizes[option])
            for option, here, anyhow in zip(options, about.logprobs, beside.logprobs, strict=True)
        }
        order = sorted(options, key=lambda option: -gain[option])
        said = ", ".join(f"{option} {gain[option]:.1f}" for option in order)
        self._record(
            [
                ModelCall.rated(requests[0], about, said, Purpose.ASK),
                ModelCall.rated(requests[1], beside, "", Purpose.ASK),
            ]
        )
        return order

    async def _choose(
        self, prompts: AskPrompts, question: str, form: Form, allowed: Sequence[str]
    ) -> PlanValue:
        if self._mode is AskMode.off:
            return allowed[0] if allowed else "1"
        said = (await self._say(prompts, question, form)).text.strip()
        if self._mode is AskMode.free and allowed and said not in allowed:
            raise BadCall(f"ask() was answered {said[:80]!r}, which is not one of the answers")
        return said

    async def _line(self, prompts: AskPrompts, question: str) -> PlanValue:
        if self._mode is AskMode.off:
            return ""
        return (await self._say(prompts, question, answers.line())).text.strip()

    async def _say(self, prompts: AskPrompts, question: str, form: Form) -> Written:
        name = f"{self._name}.q{self._asked}"
        writer = Writer(self._engine, self._decoding, name, self._seed_for, Purpose.ASK)
        self._asked += 1
        messages = (*prompts.answer, Message("user", question))
        most = self._decoding.max_action_tokens
        if self._mode is AskMode.free:
            written = await writer.line(messages, most)
        else:
            written = await writer.fill(form, messages, most)
        self._record(written.calls)
        if written.rejected:
            raise BadCall(f"ask() got no answer: it was {written.rejected}")
        return written


@cache
def _read(folder: str) -> AskPrompts:
    file = resources.files("agents.prompts") / folder / "ask.yaml"
    read = yaml.safe_load(file.read_text(encoding="utf-8"))
    order, yes_or_no = read["order"], read["yes_or_no"]
    return AskPrompts(
        answer=_chat(read),
        order=RatingPrompt(messages=_chat(order), nothing=order["nothing"]),
        yes_or_no=RatingPrompt(messages=_chat(yes_or_no), nothing=yes_or_no["nothing"]),
    )


def _chat(read: Mapping[str, Any]) -> tuple[Message, ...]:
    messages = [Message("system", read["system"])]
    for example in read["examples"]:
        messages.append(Message("user", example["question"]))
        messages.append(Message("assistant", example["answer"]))
    return tuple(messages)


def kinds_of(names: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Names by their kind, `drawer` of `drawer 3`; a name without number is its own kind."""
    kinds: dict[str, list[str]] = {}
    for name in names:
        numbered = _KIND.fullmatch(name)
        kinds.setdefault(numbered[1] if numbered else name, []).append(name)
    return {kind: tuple(each) for kind, each in kinds.items()}


def bare_question(question: str) -> str:
    """What is asked, without the text that is shown before it; empty if there is no such text."""
    bare = _BARE_QUESTION.search(question)
    return bare[0].strip() if bare and bare.start() else ""


def numbers_for(question: str) -> tuple[str, ...]:
    """The numbers that can be meant by a question for one; none if it shows no number."""
    last = _SENTENCE.search(question.rstrip())
    asked = set(re.findall(r"[A-Za-z]+", last[0])) if last else set()
    shown = _NAMED.findall(question)
    meant = [number for word, number in shown if word in asked]
    return tuple(dict.fromkeys(meant or [number for _, number in shown]))
