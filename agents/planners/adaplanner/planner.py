"""The planner of one episode: the plan is written, run, refined and resumed as one task, which
hands its commands to the rollout one by one.
"""

from collections.abc import Mapping, Sequence
from itertools import count

from agents.acceptance import Rejection
from agents.decoding import PlanLevel
from agents.planners.adaplanner.asking import Asker, AskMode
from agents.planners.adaplanner.failure import Failure, failure_of
from agents.planners.adaplanner.host import EpisodeHost
from agents.planners.adaplanner.likeliest import likeliest_other
from agents.planners.adaplanner.rendezvous import Rendezvous
from agents.planners.adaplanner.resuming import ResumeMode, first_difference
from agents.planners.planner import (
    Decision,
    DecisionKind,
    ModelCall,
    PlannerContext,
    PlanRecord,
    Purpose,
)
from agents.plans.steps import Tried, deeds, steps_of
from agents.plans.worlds import WORLD_AGENTS, WorldAgent
from agents.plans.writing import PlanTask, Writer, WrittenPlan, form_of
from agents.prompts.notes import at_once
from agents.prompts.plans import PlanExample, PlanPrompts
from agents.prompts.refining import RefiningPrompts
from agents.transcript import Transcript
from grammars import answers
from grammars.plans.check import check_plan
from inference.engine import Message


class EpisodePlanner:
    """Keeps the `Planner` contract."""

    def __init__(
        self,
        context: PlannerContext,
        *,
        refinements: int,
        resume: ResumeMode,
        ask: AskMode,
        samples: int,
        skills: Mapping[str, PlanExample],
    ) -> None:
        self._context = context
        self._refinements = refinements
        self._resume = resume
        self._samples = samples
        self._skills = skills
        self._refining = RefiningPrompts.load()
        self._meeting = Rendezvous()
        self._questions = count()
        self._asker = Asker(
            context.engine,
            context.decoding,
            context.episode_id,
            self._seed,
            ask,
            self._record,
        )
        self._calls: list[ModelCall] = []
        self._plans: list[PlanRecord] = []
        self._written = 0
        self._tried: list[Tried] = []
        self._refused: list[str] = []
        self._actions = 0
        self._failed = ""
        """How the last plan failed that was run, if none was written after it."""
        self._prompt: tuple[Message, ...] = ()
        self._recalled: tuple[str, ...] = ()
        """Notes in the prompts of plans written since the last command."""

    async def decide(self, transcript: Transcript) -> Decision:
        """See `Planner.decide`."""
        if self._meeting.begun:
            self._meeting.answer(transcript.last)
        else:
            self._meeting.start(self._solve(transcript))
        command = await self._meeting.next_command()
        self._actions += command is not None
        calls, self._calls = self._calls, []
        plans, self._plans = self._plans, []
        recalled, self._recalled = self._recalled, ()
        return Decision(
            kind=DecisionKind.STOP if command is None else DecisionKind.ACT,
            text=self._failed if command is None else command,
            calls=tuple(calls),
            prompt=self._prompt,
            plans=tuple(plans),
            recalled=recalled,
        )

    async def close(self) -> None:
        """Stop the plan and give its worker back."""
        await self._meeting.close()

    async def _solve(self, transcript: Transcript) -> None:
        """Run plan after plan; returns when the last one has failed too."""
        context, first = self._context, transcript.first
        assert context.plans is not None, "a planner that writes plans is given where to run them"
        agent = WORLD_AGENTS[context.prompts.world](first, self._meeting.act)
        prompts = PlanPrompts.load(agent.prompts)
        example = prompts.example_for(context.kind, self._samples, self._skills)
        asked = prompts.messages(
            first.goal,
            agent.places,
            example,
            look=first.text,
            remembered=transcript.remembered,
        )
        self._prompt = asked
        failure: Failure | None = None
        rejected: Rejection | None = None
        if lacking := self._lacking(agent, example):
            self._note_unfilled(lacking)
            return
        async with context.plans.session(EpisodeHost(agent, self._asker)) as session:
            for _ in range(self._refinements + 1):
                messages = self._messages(asked, transcript, failure, rejected)
                task = PlanTask(
                    messages=messages,
                    goal=first.goal,
                    world=agent.world,
                    skeleton=example.skeleton if example else None,
                    slots=agent.slots,
                    tried=tuple(self._tried),
                    refused=tuple(self._refused),
                )
                plan = await self._write(task, failure)
                rejected = plan.rejected
                start = 1
                if failure and plan.accepted:
                    start = await self._start_from(messages, failure, plan.text)
                self._note(plan, failure, start)
                self._failed = ""
                if not plan.accepted:
                    self._refused.append(plan.text)
                    continue
                ended = failure is not None and failure.step is None
                outcome = await session.run(plan.text, start)
                failure = failure_of(outcome, plan.text, agent)
                if ended and failure.step == start > 1:
                    # The plan before had come to its end, so that this step found things as no plan
                    # leaves them in its middle, e.g. nothing in hand.
                    outcome = await session.run(plan.text)
                    failure = failure_of(outcome, plan.text, agent)
                self._tried.append(Tried(plan=plan.text, answers=plan.answers, step=failure.step))
                self._failed = failure.reason

    def _lacking(self, agent: WorldAgent, example: PlanExample | None) -> str:
        """A slot of the worked example in which nothing can stand here; empty if there is none.

        With few samples a task may get one of another type, whose appliance its home has not.
        """
        if self._context.decoding.plan is not PlanLevel.skeleton or example is None:
            return ""
        return next((slot for slot in example.skeleton.slots if not agent.slots.get(slot)), "")

    def _note_unfilled(self, slot: str) -> None:
        self._plans.append(
            PlanRecord(
                text="",
                level=PlanLevel.skeleton.value,
                rejected=Rejection.MALFORMED,
                reason=f"the worked example needs a {slot}, and there is none here",
                failed_step=None,
                start_from=1,
                after_actions=0,
            )
        )

    async def _write(self, task: PlanTask, failure: Failure | None) -> WrittenPlan:
        level = self._context.decoding.plan
        plan = None
        if level is PlanLevel.skeleton and failure:
            plan = await self._second_thoughts(task, failure)
        if plan is None:
            purpose = Purpose.REFINE if self._written else Purpose.PLAN
            plan = await self._writer(purpose).plan(task, level)
        self._record(plan.calls)
        if level is PlanLevel.free and plan.rejected is Rejection.MALFORMED:
            plan = await self._checked(plan, task)
        return plan

    async def _second_thoughts(self, task: PlanTask, failure: Failure) -> WrittenPlan | None:
        name = f"{self._context.episode_id}.{Purpose.REFINE.value}{self._written}"
        self._written += 1
        steps = steps_of(failure.plan)
        blamed = failure.plan
        if failure.step and failure.step <= len(steps):
            blamed = steps[failure.step - 1]
        found = await likeliest_other(
            self._context.engine,
            form_of(task, PlanLevel.skeleton),
            task.messages,
            [tried.answers for tried in self._tried],
            "\n".join(deeds(blamed)),
            " ".join(task.goal.split()),
            failure.reason.strip(),
            name,
        )
        if found is None:
            return None
        return WrittenPlan(
            text=found.text,
            calls=found.calls,
            rejected=None,
            verdict=check_plan(found.text, task.world),
            answers=found.answers,
        )

    async def _checked(self, plan: WrittenPlan, task: PlanTask) -> WrittenPlan:
        """The code check (appendix 8.3.1): the model repairs what Python cannot read. It is asked
        only about such plans, not whether there are mistakes.
        """
        said = self._refining.check.render(plan=plan.text, error=plan.verdict.syntax_error)
        alone = PlanTask(
            messages=(Message("user", said.strip()),), world=task.world, slots=task.slots
        )
        mended = await self._writer(Purpose.CHECK).plan(alone, PlanLevel.free)
        self._record(mended.calls)
        return mended

    def _messages(
        self,
        asked: tuple[Message, ...],
        transcript: Transcript,
        failure: Failure | None,
        rejected: Rejection | None,
    ) -> tuple[Message, ...]:
        """The prompt of the next plan: the first one's, what was noted, how the last one failed."""
        messages, notes = asked, transcript.notes
        self._recalled = (*transcript.recalled, *(note.id for note in notes))
        if failure:
            reason = self._refining.refine.render(
                task=transcript.first.goal, reason=failure.reason, step=failure.step
            )
            reason = "\n\n".join([*map(at_once, notes), reason])
            messages = (
                *messages,
                Message("assistant", failure.plan),
                Message("user", reason.strip()),
            )
        if rejected:
            reason = self._refining.rejected.render(reason=rejected.value).strip()
            last = messages[-1]
            messages = (*messages[:-1], Message(last.role, f"{last.content}\n\n{reason}"))
        return messages

    async def _start_from(
        self, messages: tuple[Message, ...], failure: Failure, revised: str
    ) -> int:
        compared = first_difference(failure.plan, revised, failure.step)
        steps = len(steps_of(revised))
        if self._resume is ResumeMode.diff or steps < 2:
            return compared
        question = self._refining.resume.render(step=failure.step).strip()
        said = (*messages, Message("assistant", revised), Message("user", question))
        most = self._context.decoding.max_action_tokens
        written = await self._writer(Purpose.RESUME).fill(answers.start_from(steps), said, most)
        self._record(written.calls)
        return compared if written.rejected else int(written.text)

    def _note(self, plan: WrittenPlan, failure: Failure | None, start: int) -> None:
        self._plans.append(
            PlanRecord(
                text=plan.text,
                level=self._context.decoding.plan.value,
                rejected=plan.rejected,
                reason=failure.reason if failure else "",
                failed_step=failure.step if failure else None,
                start_from=start,
                after_actions=self._actions,
            )
        )

    def _writer(self, purpose: Purpose) -> Writer:
        name = f"{self._context.episode_id}.{purpose.value}{self._written}"
        self._written += 1
        return Writer(self._context.engine, self._context.decoding, name, self._seed, purpose)

    def _seed(self, _: int) -> int:
        """Every question of the episode has its own, in the order in which they come."""
        return self._context.seed_for(next(self._questions))

    def _record(self, calls: Sequence[ModelCall]) -> None:
        self._calls += calls
