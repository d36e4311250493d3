"""The planner of one episode: first the plan, then three questions for each action."""

from dataclasses import replace
from itertools import count

from agents.acceptance import Rejection
from agents.decoding import PlanLevel
from agents.planners.planner import (
    Decision,
    DecisionKind,
    ModelCall,
    PlannerContext,
    PlanRecord,
    Purpose,
)
from agents.planners.turnwise import TurnwisePlanner
from agents.plans.worlds import WORLD_AGENTS
from agents.plans.writing import Writer, Written
from agents.prompts.criticising import RciPrompts
from agents.prompts.plans import PlanPrompts
from agents.prompts.prose import in_words
from agents.transcript import Transcript
from grammars import answers
from grammars.forms import Form
from grammars.plans.prose import prose_plan
from inference.engine import Message

TRIES = 2
"""How often a first plan is asked for, if what came was no plan."""


class RciPlanner:
    """Keeps the `Planner` contract."""

    def __init__(self, context: PlannerContext, *, critiques: int, samples: int) -> None:
        """`critiques` and `samples` as in the settings."""
        numbers = count()
        self._context = replace(context, seed_for=lambda _: context.seed_for(next(numbers)))
        self._turns = TurnwisePlanner(self._context, thoughts=False)
        self._prompts = RciPrompts.load()
        self._critiques = critiques
        examples = PlanPrompts.load(WORLD_AGENTS[context.prompts.world].prompts)
        example = examples.example_for(context.kind, samples)
        self._example = {
            "example": in_words(example.skeleton.example) if example else "",
            "example_task": example.task if example else "",
        }
        self._fixed: tuple[Message, ...] = ()
        """The world's own part of every prompt, rendered once."""
        self._plan = ""
        self._calls: list[ModelCall] = []
        self._plans: list[PlanRecord] = []
        self._asked = 0

    async def decide(self, transcript: Transcript) -> Decision:
        """See `Planner.decide`."""
        if not self._fixed:
            self._fixed = self._context.prompts.fixed_part(
                transcript.first, thoughts=False, remembered=transcript.remembered
            )
            await self._make_plan(transcript)
        if not self._plan:
            return self._noted(Decision(kind=DecisionKind.STOP, text="", calls=(), prompt=()))
        step = await self._next_step(transcript)
        grounded = await self._in_this_state(transcript, step)
        tail = self._prompts.act.render(step=step, grounded=grounded)
        said = await self._turns.say(transcript, self._fixed, tail=f"\n{tail.strip()}")
        self._calls += said.calls
        return self._noted(said)

    async def close(self) -> None:
        """Nothing is held."""

    async def _make_plan(self, transcript: Transcript) -> None:
        """A plan, then as many critiques and improvements as are wanted. An improved plan that is
        none is not taken; the one before stays.
        """
        task = transcript.first.goal
        asking = self._prompts.plan.render(task=task, **self._example)
        rejected: Rejection | None = None
        for _ in range(TRIES):
            again = self._prompts.rejected.render(reason=rejected.value) if rejected else ""
            written = await self._plan_from(transcript, f"{asking.strip()}\n{again}", Purpose.PLAN)
            rejected = written.rejected
            self._take(written)
            if self._plan:
                break
        for _ in range(self._critiques if self._plan else 0):
            asking = self._prompts.criticise.render(task=task, plan=self._plan, **self._example)
            critique = await self._line(transcript, asking, answers.line(), Purpose.CRITICISE)
            asking = self._prompts.improve.render(task=task, plan=self._plan, critique=critique)
            improved = await self._plan_from(transcript, asking, Purpose.REFINE)
            self._take(improved, improves=True, critique=critique)

    async def _next_step(self, transcript: Transcript) -> str:
        """Task grounding: a line of the plan; under a grammar, as it stands there."""
        lines = [line.strip() for line in self._plan.splitlines() if line.strip()]
        asking = self._prompts.step.render(
            task=transcript.first.goal,
            plan=self._plan,
            done=[turn.said for turn in transcript.turns],
        )
        return await self._line(transcript, asking, answers.one_of(lines), Purpose.STEP)

    async def _in_this_state(self, transcript: Transcript, step: str) -> str:
        """State grounding: what the step means here and now."""
        asking = self._prompts.state.render(step=step)
        return await self._line(transcript, asking, answers.line(), Purpose.GROUND)

    async def _plan_from(self, transcript: Transcript, asking: str, purpose: Purpose) -> Written:
        most = self._context.decoding.max_plan_tokens
        if self._context.decoding.actions.constrains:
            return await self._ask(transcript, asking, prose_plan(), most, purpose)
        written = await self._ask(transcript, asking, None, most, purpose, stop=())
        if not written.text.strip():
            return replace(written, rejected=Rejection.MALFORMED)
        return written

    async def _line(self, transcript: Transcript, asking: str, form: Form, purpose: Purpose) -> str:
        """One line. Where it was cut short it is kept: it is only talk."""
        most = self._context.decoding.max_thought_tokens
        constrained = self._context.decoding.actions.constrains
        written = await self._ask(transcript, asking, form if constrained else None, most, purpose)
        return written.text.strip()

    async def _ask(
        self,
        transcript: Transcript,
        asking: str,
        form: Form | None,
        most: int,
        purpose: Purpose,
        stop: tuple[str, ...] = ("\n",),
    ) -> Written:
        context = self._context
        fitted = await self._turns.fit(transcript, self._fixed, f"\n{asking.strip()}", most)
        name = f"{context.episode_id}.{purpose.value}{self._asked}"
        self._asked += 1
        writer = Writer(context.engine, context.decoding, name, context.seed_for, purpose)
        if form is None:
            written = await writer.line(fitted.messages, most, stop=stop)
        else:
            written = await writer.fill(form, fitted.messages, most)
        self._calls += (replace(call, dropped_turns=fitted.dropped_turns) for call in written.calls)
        return written

    def _take(self, written: Written, *, improves: bool = False, critique: str = "") -> None:
        constrained = self._context.decoding.actions.constrains
        self._plans.append(
            PlanRecord(
                text=written.text,
                level=(PlanLevel.syntax if constrained else PlanLevel.free).value,
                rejected=written.rejected,
                reason=critique,
                criticised=improves,
                failed_step=None,
                start_from=1,
                after_actions=0,
            )
        )
        if written.rejected is None:
            self._plan = written.text.strip()

    def _noted(self, decision: Decision) -> Decision:
        """The decision with all that was asked and written for it."""
        calls, self._calls = self._calls, []
        plans, self._plans = self._plans, []
        return replace(decision, calls=tuple(calls), plans=tuple(plans))
