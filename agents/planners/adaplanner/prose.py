"""AdaPlanner without its code interface (figure 4c): the plan is a list in words.

The model carries it out itself, command by command, with plan and transcript before it. So nothing
asserts anything, and a plan counts as broken when one of three things is seen after a command: the
world did not understand it; it brought the same answer for the third time since the plan was
written (twice may be waiting); or the model says the word `stuck`, which it may as long as
revisions are left. Then it is told why, where it is, what it holds and what it did last, writes the
plan again and goes on in the same episode. Without revisions left, the last plan stays before it
until the episode ends.
"""

from collections import Counter
from collections.abc import Mapping
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
from agents.plans.worlds.agent import Interaction
from agents.plans.writing import Writer, Written
from agents.prompts.plans import PlanExample, PlanPrompts
from agents.prompts.prose import ProsePrompts, in_words
from agents.transcript import Transcript
from grammars.plans.prose import prose_plan
from inference.engine import Message

STUCK = "stuck"
"""What the model says in place of a command when its plan is of no more use."""
MOST_REPEATS = 2
"""So often a command may bring the same answer under one plan."""


class ProsePlanner:
    """Keeps the `Planner` contract."""

    def __init__(
        self,
        context: PlannerContext,
        *,
        refinements: int,
        samples: int,
        skills: Mapping[str, PlanExample],
    ) -> None:
        """`samples` and `skills` as for plans in code; an example is shown by its steps' titles."""
        numbers = count()
        self._context = replace(context, seed_for=lambda _: context.seed_for(next(numbers)))
        self._turns = TurnwisePlanner(self._context, thoughts=False)
        self._prompts = ProsePrompts.load()
        self._agent = WORLD_AGENTS[context.prompts.world]
        examples = PlanPrompts.load(self._agent.prompts)
        self._example = examples.example_for(context.kind, samples, skills)
        self._left = refinements + 1
        """Plans that may still be written."""
        self._plan = ""
        self._world: tuple[Message, ...] = ()
        """The world's own part of every prompt, rendered once."""
        self._command: str | None = None
        """What the world was told last; None if it was told nothing."""
        self._past: list[Interaction] = []
        self._under_plan: Counter[Interaction] = Counter()
        self._calls: list[ModelCall] = []
        self._records: list[PlanRecord] = []
        self._written = 0

    async def decide(self, transcript: Transcript) -> Decision:
        """See `Planner.decide`."""
        reason = self._look_back(transcript)
        while True:
            if reason or not self._plan:
                await self._revise(transcript, reason)
            if not self._plan:
                return self._noted(Decision(kind=DecisionKind.STOP, text="", calls=(), prompt=()))
            words = (STUCK,) if self._left else ()
            said = await self._turns.say(transcript, self._fixed(transcript), words)
            self._calls += said.calls
            if said.rejected or said.text not in words:
                self._command = None if said.rejected else said.text
                return self._noted(said)
            reason = f"you said {STUCK}."

    async def close(self) -> None:
        """Nothing is held."""

    def _look_back(self, transcript: Transcript) -> str:
        """Why the plan broke with the last command; empty if it did not."""
        if self._command is None:
            return ""
        last = Interaction(self._command, transcript.last.text)
        self._past.append(last)
        self._under_plan[last] += 1
        if transcript.last.invalid:
            return f'the world did not understand "{last.command}".'
        if self._under_plan[last] > MOST_REPEATS:
            return f'"{last.command}" brought the same answer {MOST_REPEATS + 1} times.'
        return ""

    async def _revise(self, transcript: Transcript, reason: str) -> None:
        """Have a plan written, the first one or a better one, as long as one may be."""
        first, rejected = not self._plan, None
        told = f"{reason}\n{self._agent.retold(self._past)}" if reason else ""
        while self._left:
            self._left -= 1
            written = await self._write(transcript, told, rejected, first=first)
            rejected = written.rejected
            self._records.append(
                PlanRecord(
                    text=written.text,
                    level=self._context.decoding.plan.value,
                    rejected=rejected,
                    reason=told,
                    failed_step=None,
                    start_from=1,
                    after_actions=len(self._past),
                )
            )
            if rejected is None:
                self._plan = written.text.strip()
                self._under_plan.clear()
                return

    async def _write(
        self, transcript: Transcript, told: str, rejected: Rejection | None, *, first: bool
    ) -> Written:
        """Ask for a plan once."""
        prompts, decoding = self._prompts, self._context.decoding
        if first:
            said = prompts.plan.render(
                example=in_words(self._example.skeleton.example) if self._example else "",
                example_task=self._example.task if self._example else "",
                task=transcript.first.goal,
            )
        else:
            said = prompts.refine.render(reason=told, task=transcript.first.goal)
        if rejected:
            said += "\n" + prompts.rejected.render(reason=rejected.value)
        most = decoding.max_plan_tokens
        fitted = await self._turns.fit(
            transcript, self._fixed(transcript), f"\n{said.strip()}", most
        )
        purpose = Purpose.PLAN if first else Purpose.REFINE
        name = f"{self._context.episode_id}.{purpose.value}{self._written}"
        self._written += 1
        context = self._context
        writer = Writer(context.engine, decoding, name, context.seed_for, purpose)
        if decoding.plan is PlanLevel.free:
            written = await writer.line(fitted.messages, most, stop=())
            if not written.text.strip():
                written = replace(written, rejected=Rejection.MALFORMED)
        else:
            written = await writer.fill(prose_plan(), fitted.messages, most)
        self._calls += (replace(call, dropped_turns=fitted.dropped_turns) for call in written.calls)
        return written

    def _fixed(self, transcript: Transcript) -> tuple[Message, ...]:
        """What every prompt begins with: the world's own fixed part, and the plan."""
        if not self._world:
            self._world = self._context.prompts.fixed_part(
                transcript.first, thoughts=False, remembered=transcript.remembered
            )
        if not self._plan:
            return self._world
        *before, last = self._world
        told = self._prompts.act.render(plan=self._plan, word=STUCK, may_stop=self._left > 0)
        return (*before, Message(last.role, f"{last.content}\n\n{told.strip()}"))

    def _noted(self, decision: Decision) -> Decision:
        """The decision with all that was asked and written for it."""
        calls, self._calls = self._calls, []
        records, self._records = self._records, []
        return replace(decision, calls=tuple(calls), plans=tuple(records))
