"""Looking back in one episode: what is recalled at its beginning, which notes are written on the
way and at its end, and what memory holds afterwards.

The rollout calls it between the planner's turns, so that every planner can have every reflection
and every memory. It asks the model with prompts and seeds of its own: until the first note is
written, the planner is asked exactly what it would be asked without.
"""

from dataclasses import dataclass, replace

from agents.decoding import ContextPolicy
from agents.memory import Memory, Moment, Note, NoteKind, digest_of
from agents.planners import PlannerContext, Purpose
from agents.plans.writing import Writer
from agents.prompts import notes as prompts
from agents.reflection.record import ReflectionRecord
from agents.reflection.settings import Reflection
from agents.transcript import ContextWindow, Transcript
from envs.world import Observation
from grammars import answers
from grammars.forms import Prefixed
from inference.engine import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class LookingBack:
    """What the agent's two parts besides its planner are, and what they know."""

    reflection: Reflection
    memory: Memory
    stored: tuple[Note, ...]
    """Long-term memory at the beginning of the episode."""
    thoughts: bool
    """Whether the planner's transcripts have thoughts, so that a question for a note begins as
    the planner's own prompts do."""


class Hindsight:
    """Made fresh for each episode; one call at a time."""

    def __init__(self, context: PlannerContext, parts: LookingBack, task: str) -> None:
        """`context` is the planner's, but for seeds of its own."""
        self._context = context
        self._parts = parts
        self._task = task
        self._buffers = parts.memory.begin(parts.stored)
        self._window = ContextWindow(context.engine, ContextPolicy.drop_oldest)
        self._records: list[ReflectionRecord] = []

    @property
    def records(self) -> tuple[ReflectionRecord, ...]:
        """Every note that was asked for so far."""
        return tuple(self._records)

    @property
    def before(self) -> str:
        """Digest of long-term memory at the beginning; empty for none."""
        return digest_of(self._parts.stored)

    def after(self) -> str:
        """The same at the end, which this says is now."""
        return digest_of(self._buffers.end())

    async def open(self, first: Observation) -> Transcript:
        """The transcript of an episode that begins like this, with what is recalled."""
        notes = await self._recall(f"{first.goal}\n{first.text}")
        return Transcript(
            first,
            remembered=prompts.remembered(notes, self._task),
            recalled=tuple(note.id for note in notes),
        )

    async def after_step(self, transcript: Transcript, moment: Moment) -> None:
        """Note what made a sub-goal succeed, if one was just reached.

        Raises:
            EngineFault, ContextTooSmall: as `Planner.decide`.
        """
        if not (self._parts.reflection.sweet and moment.pays):
            return
        note = await self._write(NoteKind.SWEET, transcript, moment)
        if note and self._parts.memory.at_once:
            transcript.annotate(note)

    async def after_failure(self, transcript: Transcript, moment: Moment, stop: str) -> None:
        """Note what should have been done, in an attempt that ended for this reason.

        Raises:
            EngineFault, ContextTooSmall: as `Planner.decide`.
        """
        if self._parts.reflection.sour:
            await self._write(NoteKind.SOUR, transcript, moment, stop)

    async def _write(
        self, kind: NoteKind, transcript: Transcript, moment: Moment, stop: str = ""
    ) -> Note | None:
        """Ask for a note and put it into memory; None if it was not taken."""
        context, most = self._context, self._parts.reflection.max_tokens
        fixed = context.prompts.fixed_part(
            transcript.first, thoughts=self._parts.thoughts, remembered=transcript.remembered
        )
        asked = prompts.question(kind, moment, stop)
        fitted = await self._window.fit(fixed, transcript.turns, asked, most)
        number = len(self._records)
        writer = Writer(
            context.engine,
            replace(context.decoding, measure_mask=0.0),
            f"{context.episode_id}.{Purpose.REFLECT}{number}",
            lambda _: context.seed_for(number),
            Purpose.REFLECT,
        )
        beginning = prompts.BEGINNINGS[kind]
        form = Prefixed(beginning, answers.paragraph())
        written = await writer.fill(form, fitted.messages, most)
        text = written.text.removeprefix(beginning)
        (call,) = written.calls
        self._records.append(
            ReflectionRecord(
                kind=kind,
                step=moment.step,
                text=text,
                rejected=written.rejected,
                call=replace(call, dropped_turns=fitted.dropped_turns),
            )
        )
        if written.rejected:
            return None
        note = Note(kind=kind, text=text, moment=moment)
        self._buffers.add(note)
        return note

    async def _recall(self, situation: str) -> tuple[Note, ...]:
        """As many notes as fill no more than a quarter of the context."""
        engine, parts = self._context.engine, self._parts
        notes = parts.memory.recall(parts.stored, situation)
        while notes:
            text = prompts.remembered(notes, self._task)
            length = await engine.count_tokens((Message("user", text),))
            if length <= engine.card.context_length // 4:
                break
            notes = parts.memory.recall(parts.stored, situation, len(notes) - 1)
        return notes
