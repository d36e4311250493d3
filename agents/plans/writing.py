"""Has the model write a plan, or any other form: the given text is appended, the blanks asked for.

Each blank is one question: the prompt, and as the beginning of the answer all that stands already.
An answer counts only if it ended by itself and our own parser takes it (`agents.acceptance`); the
first one that does not ends the writing, and nothing is mended.

A plan that says again what has failed, or what was not taken, is drawn again, since a greedy small
model repeats itself whatever it is told: see `agents.plans.steps`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from agents.acceptance import Rejection, rejection
from agents.decoding import Decoding, PlanLevel
from agents.planners.planner import ModelCall, Purpose
from agents.plans.steps import Tried, repeats_plan, repeats_step
from grammars.forms import Blank, Form, Prefixed
from grammars.grammar import Grammar
from grammars.plans.check import PlanVerdict, check_plan
from grammars.plans.skeleton import Skeleton, SkeletonForm
from grammars.plans.surface import HEAD
from grammars.plans.syntax import SyntaxForm
from grammars.plans.typed import TypedForm
from grammars.plans.world import PlanWorld
from inference.engine import Engine, Message, Request, Sampling

_SIGNATURE = HEAD.splitlines()[0] + "\n"
_DRAWS = 4
"""How often the same is asked for something new, before the repetition is taken."""
_DRAWN_AT = 1.0
"""The least temperature at which it is."""
_ENDS_OF_FREE_PLANS = ("\n```", "\ndef ", "\n# ", "\nclass ")
"""What models write after a plan when nothing stops them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What came of a form."""

    text: str
    """All of it; with `rejected`, as far as it came, the refused answer included."""
    answers: tuple[str, ...]
    calls: tuple[ModelCall, ...]
    rejected: Rejection | None = None
    """Why the last answer was not taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTask:
    """What a plan is to be written for."""

    messages: tuple[Message, ...]
    """The prompt, whose last message is the user's."""
    goal: str = ""
    """The task in words. It stands as a comment before the function, so that a small model that
    fills a slot has it nearer than the worked example's; empty for no comment."""
    world: PlanWorld
    skeleton: Skeleton | None = None
    """The worked example to be filled in, at the level `skeleton`."""
    slots: Mapping[str, tuple[str, ...]]
    """What can stand in its slots."""
    tried: tuple[Tried, ...] = ()
    """The plans that have failed, the newest last."""
    refused: tuple[str, ...] = ()
    """The texts of plans that were not taken."""

    def repeated_by(self, text: str) -> bool:
        """Whether a plan that was just written brings nothing new."""
        return text in self.refused or repeats_plan(text, self.tried)

    @property
    def comment(self) -> str:
        """What is given before the function."""
        return f"# Task: {' '.join(self.goal.split())}\n" if self.goal else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenPlan:
    """A plan, whether it was taken, and what our own reader says of it."""

    text: str
    calls: tuple[ModelCall, ...]
    rejected: Rejection | None
    verdict: PlanVerdict
    answers: tuple[str, ...] = ()
    """To the blanks of its form; none at the level `free`."""

    @property
    def accepted(self) -> bool:
        """It may be run."""
        return self.rejected is None


class Writer:
    """Asks an engine, one question at a time, under one setting of decoding."""

    def __init__(
        self,
        engine: Engine,
        decoding: Decoding,
        name: str,
        seed_for: Callable[[int], int],
        purpose: Purpose = Purpose.PLAN,
    ) -> None:
        """`name` begins the ids of the requests, e.g. `4-2/225#0.a1.p0`; `seed_for` gives the
        seed of the n-th, used above temperature 0; `purpose` is noted in the records.
        """
        self._engine = engine
        self._decoding = decoding
        self._name = name
        self._seed_for = seed_for
        self._purpose = purpose
        self._asked = 0

    async def fill(
        self,
        form: Form,
        messages: tuple[Message, ...],
        max_tokens: int,
        *,
        in_all: int | None = None,
        tried: tuple[Tried, ...] = (),
        drawn: bool = False,
    ) -> Written:
        """Fill a form blank by blank, each with at most `max_tokens`, the form with `in_all`.

        Steps with which one of `tried` has failed are drawn again; with `drawn` all are drawn.

        Raises:
            EngineFault: the engine broke.
            RequestError: the prompt is too long, or the engine cannot use a grammar.
        """
        text = ""
        answers: list[str] = []
        calls: list[ModelCall] = []
        left = max_tokens if in_all is None else in_all
        while isinstance(blank := form.next(answers), Blank):
            text += blank.lead
            for draw in range(_DRAWS):
                request = self._request(
                    messages, text, blank.grammar, min(left, max_tokens), drawn=drawn or draw > 0
                )
                completion = await self._engine.generate(request)
                calls.append(ModelCall.of(request, completion, purpose=self._purpose))
                refused = rejection(completion, blank.grammar)
                if refused or not repeats_step(completion.text, len(answers), tried):
                    break
            text += completion.text
            if refused:
                return Written(
                    text=text, answers=tuple(answers), calls=tuple(calls), rejected=refused
                )
            answers.append(completion.text)
            if in_all is not None:
                left = max(1, left - completion.generated_tokens)
        return Written(text=text + blank.text, answers=tuple(answers), calls=tuple(calls))

    async def line(
        self, messages: tuple[Message, ...], max_tokens: int, stop: tuple[str, ...] = ("\n",)
    ) -> Written:
        """The model's own words, one line of them if `stop` is not given.

        Raises:
            EngineFault, RequestError: as `fill`.
        """
        request = self._request(messages, "", None, max_tokens, stop=stop)
        completion = await self._engine.generate(request)
        return Written(
            text=completion.text,
            answers=(completion.text,),
            calls=(ModelCall.of(request, completion, purpose=self._purpose),),
            rejected=rejection(completion, None),
        )

    async def plan(self, task: PlanTask, level: PlanLevel) -> WrittenPlan:
        """Write a plan at a level of help.

        Raises:
            ValueError: the level is `skeleton` and there is none, or nothing fits one of its slots.
        """
        if level is PlanLevel.free:
            return await self._free(task)
        form = form_of(task, level)
        most = self._decoding.max_plan_tokens
        written = await self.fill(form, task.messages, most, in_all=most, tried=task.tried)
        if task.repeated_by(written.text):
            again = await self.fill(
                form, task.messages, most, in_all=most, tried=task.tried, drawn=True
            )
            written = replace(again, calls=written.calls + again.calls)
        verdict = check_plan(written.text, task.world)
        refused = written.rejected or (None if verdict.valid else Rejection.MALFORMED)
        return WrittenPlan(
            text=written.text,
            calls=written.calls,
            rejected=refused,
            verdict=verdict,
            answers=written.answers,
        )

    async def _free(self, task: PlanTask) -> WrittenPlan:
        """Without a grammar a plan is taken if Python can read it, as in AdaPlanner."""
        begun = task.comment + _SIGNATURE
        most = self._decoding.max_plan_tokens
        calls: list[ModelCall] = []
        for draw in range(_DRAWS):
            request = self._request(
                task.messages, begun, None, most, stop=_ENDS_OF_FREE_PLANS, drawn=draw > 0
            )
            completion = await self._engine.generate(request)
            calls.append(ModelCall.of(request, completion, purpose=self._purpose))
            text = begun + completion.text.rstrip() + "\n"
            verdict = check_plan(text, task.world)
            refused = rejection(completion, None)
            if refused is None and verdict.syntax_error:
                refused = Rejection.MALFORMED
            if not task.repeated_by(text):
                break
        return WrittenPlan(text=text, calls=tuple(calls), rejected=refused, verdict=verdict)

    def _request(
        self,
        messages: tuple[Message, ...],
        begun: str,
        grammar: Grammar | None,
        max_tokens: int,
        *,
        stop: tuple[str, ...] = (),
        drawn: bool = False,
    ) -> Request:
        number = self._asked
        self._asked += 1
        request_id = f"{self._name}.b{number}"
        least = _DRAWN_AT if drawn else 0.0
        temperature = max(self._decoding.temperature, least)
        return Request(
            id=request_id,
            messages=(*messages, Message("assistant", begun)) if begun else messages,
            grammar=grammar,
            sampling=Sampling(
                max_tokens=max_tokens,
                temperature=temperature,
                top_p=self._decoding.top_p,
                seed=self._seed_for(number) if temperature > 0 else None,
            ),
            stop=stop,
            measure_mask=grammar is not None and self._decoding.measures(request_id),
        )


def form_of(task: PlanTask, level: PlanLevel) -> Form:
    """The form that a level gives the model to fill, the task's comment before it; there is none
    at `free`.
    """
    match level:
        case PlanLevel.syntax:
            return Prefixed(task.comment, SyntaxForm(task.world))
        case PlanLevel.typed:
            return Prefixed(task.comment, TypedForm(task.world))
        case PlanLevel.skeleton if task.skeleton is not None:
            return Prefixed(task.comment, SkeletonForm(task.skeleton, task.slots))
        case PlanLevel.skeleton:
            raise ValueError("decoding.plan=skeleton: this kind of task has no worked example")
        case PlanLevel.free:
            raise ValueError("decoding.plan=free: a free plan has no form")
