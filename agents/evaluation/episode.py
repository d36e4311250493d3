"""The record of an episode. Frozen; scores are derived from its steps, never stored beside them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from enum import StrEnum
from typing import Any, Self

from agents.acceptance import Rejection
from agents.evaluation.mask import MaskTotals
from agents.memory import Moment, Note, NoteKind
from agents.planners import ModelCall, PlanRecord, Purpose
from agents.reflection import ReflectionRecord
from inference.engine import FinishReason


class StopReason(StrEnum):
    """Why an episode ended. Success is not read from here but from the world's `won`."""

    SOLVED = "solved"
    """The world said `won`."""
    FAILED = "failed"
    """The world ended the episode without `won`, e.g. a wrong focus in ScienceWorld."""
    MAX_STEPS = "max_steps"
    """The step limit was reached."""
    GAVE_UP = "gave_up"
    """The agent had nothing more to do: its plan ended and it may not write another."""
    CONTEXT_FULL = "context_full"
    """The transcript outgrew the context and the policy is `stop`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One action and its consequence, with the thoughts that came before it."""

    thoughts: tuple[str, ...]
    action: str
    """What was sent to the world; empty if the model's answer was not taken."""
    observation: str
    """The world's answer, or our own where the world was not asked."""
    reward: float
    score: float
    """Raw score after this step: may be -100."""
    done: bool
    won: bool
    invalid: bool
    """The world did not understand the action."""
    rejected: Rejection | None = None
    """Why the model's answer was not sent to the world."""
    calls: tuple[ModelCall, ...]
    """Every question to the model since the step before, thoughts included; notes are not asked
    for here, see `Episode.reflections`."""
    world_seconds: float
    subgoals: tuple[str, ...] = ()
    """See `Observation.subgoals`."""
    recalled: tuple[str, ...] = ()
    """Ids of the notes that stood in the prompts of these calls."""

    @property
    def rewritten(self) -> bool:
        """The model's text and the action sent differ by more than blanks at its ends."""
        said = [call for call in self.calls if call.purpose is Purpose.ACT]
        return bool(said) and self.rejected is None and said[-1].text.strip() != self.action

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `dataclasses.asdict` after a round trip through JSON."""
        rejected = data["rejected"] and Rejection(data["rejected"])
        calls = tuple(ModelCall.from_json(call) for call in data["calls"])
        lists = ("thoughts", "subgoals", "recalled")
        listed = {name: tuple(data[name]) for name in lists if name in data}
        return cls(**{**data, **listed, "rejected": rejected, "calls": calls})


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeKey:
    """Which episode of a run: the unit that is run once and found again."""

    task: str
    repeat: int = 0
    round: int = 1
    """Which try at the task this is, from 1."""

    @property
    def id(self) -> str:
        """Used in request ids and messages, e.g. `4-2/225#0`, and from the second round on
        `4-2/225#0.r2`.
        """
        return f"{self.task}#{self.repeat}{self._later}"

    @property
    def file_name(self) -> str:
        """Of its trajectory: the id with nothing that a file system minds."""
        safe = "".join(c if c.isalnum() or c in "-." else "_" for c in self.task)
        return f"{safe}.{self.repeat}{self._later}.json"

    @property
    def _later(self) -> str:
        return f".r{self.round}" if self.round > 1 else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """An episode that ran to its end, whole."""

    key: EpisodeKey
    kind: str
    """Row of the results table: the task's kind."""
    name: str
    seed: int
    goal: str
    first_observation: str
    first_prompt: tuple[Mapping[str, str], ...]
    """The messages of the first model call, whole; later prompts grow from it."""
    stop: StopReason
    steps: tuple[Step, ...]
    unspent_thoughts: tuple[str, ...] = ()
    """Thoughts after the last action, when the episode ended before another one."""
    unspent_calls: tuple[ModelCall, ...] = ()
    plans: tuple[PlanRecord, ...] = ()
    """Every plan that was written, in order: the first, then its revisions."""
    reflections: tuple[ReflectionRecord, ...] = ()
    """Every note that was asked for, in order."""
    memory_before: str = ""
    """Digest of long-term memory at the beginning; empty for none. What is in it follows from the
    records of the episodes before."""
    memory_after: str = ""
    """The same at the end, this episode's notes included."""
    seconds: float
    attempts: int = 1
    """How often it was begun: above 1 after faults of the machinery."""

    @property
    def won(self) -> bool:
        """The world's own word, never `done`."""
        return any(step.won for step in self.steps)

    @property
    def notes(self) -> tuple[Note, ...]:
        """Those that were taken, in order: what it gives to memory."""
        return tuple(
            Note(
                kind=record.kind,
                text=record.text,
                moment=moment_of(self.key, self.goal, self.steps[: record.step]),
            )
            for record in self.reflections
            if record.rejected is None
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data for `json.dump`."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `to_json` after a round trip through JSON."""
        steps = tuple(Step.from_json(entry) for entry in data["steps"])
        prompt = tuple(dict(message) for message in data["first_prompt"])
        rest = {
            k: data[k] for k in ("kind", "name", "seed", "goal", "first_observation", "seconds")
        }
        return cls(
            key=EpisodeKey(**data["key"]),
            stop=StopReason(data["stop"]),
            steps=steps,
            unspent_thoughts=tuple(data["unspent_thoughts"]),
            unspent_calls=tuple(ModelCall.from_json(call) for call in data["unspent_calls"]),
            plans=tuple(PlanRecord.from_json(plan) for plan in data["plans"]),
            reflections=tuple(
                ReflectionRecord.from_json(record) for record in data.get("reflections", ())
            ),
            memory_before=data.get("memory_before", ""),
            memory_after=data.get("memory_after", ""),
            first_prompt=prompt,
            attempts=data["attempts"],
            **rest,
        )


def moment_of(key: EpisodeKey, goal: str, steps: Sequence[Step]) -> Moment:
    """The last of these steps, as notes speak of it."""
    last = steps[-1] if steps else None
    return Moment(
        task=key.task,
        repeat=key.repeat,
        round=key.round,
        goal=goal,
        step=len(steps),
        action=last.action if last else "",
        observation=last.observation if last else "",
        reward=last.reward if last else 0.0,
        subgoals=last.subgoals if last else (),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeRow:
    """An episode as its one line in `episodes.jsonl`: all that tables need, without the texts."""

    task: str
    repeat: int
    round: int = 1
    kind: str
    name: str
    seed: int
    stop: StopReason
    won: bool
    scores: tuple[float, ...]
    """The raw score after each step, so that last, best and clamped are derived by who asks."""
    invalid_actions: int
    rewritten_actions: int
    rejected: Mapping[str, int]
    """Answers that were not taken, by kind (see `Rejection`); each spent a step."""
    mended: Mapping[str, int]
    """What went wrong on the way to answers that then came, by error class."""
    thoughts: int
    cut_thoughts: int
    """Those that the token limit cut short."""
    refinements: int
    """Plans that were written after the first."""
    rejected_plans: int
    """Plans that were not run: cut short, or not what was asked for."""
    questions: int
    """Questions that plans asked the model while they ran."""
    subgoals: int = 0
    """Actions that reached a part of the goal: the world paid for them or says so."""
    sweet_notes: int = 0
    sour_notes: int = 0
    rejected_notes: int = 0
    """Notes that were not taken: cut short, or not what was asked for."""
    note_tokens: int = 0
    """Of the tokens generated, those of notes, taken or not."""
    mask: MaskTotals
    dropped_turns: int
    """The most turns that were missing from any one prompt."""
    model_calls: int
    prompt_tokens: int
    cached_tokens: int
    generated_tokens: int
    model_seconds: float
    world_seconds: float
    seconds: float
    attempts: int
    trajectory: str
    """Path of the whole record, relative to the run folder."""
    trajectory_sha256: str

    @classmethod
    def of(cls, episode: Episode, trajectory: str, sha256: str) -> Self:
        """Condense an episode."""
        calls = [call for step in episode.steps for call in step.calls]
        calls += episode.unspent_calls
        notes = [record.call for record in episode.reflections]
        calls += notes
        taken = [note.kind for note in episode.notes]
        asked = [call for call in calls if call.purpose is Purpose.ASK]
        return cls(
            task=episode.key.task,
            repeat=episode.key.repeat,
            round=episode.key.round,
            kind=episode.kind,
            name=episode.name,
            seed=episode.seed,
            stop=episode.stop,
            won=episode.won,
            scores=tuple(step.score for step in episode.steps),
            invalid_actions=sum(step.invalid for step in episode.steps),
            rewritten_actions=sum(step.rewritten for step in episode.steps),
            rejected=_counts(step.rejected for step in episode.steps if step.rejected),
            mended=_counts(kind for call in calls for kind in call.mended),
            thoughts=sum(len(step.thoughts) for step in episode.steps)
            + len(episode.unspent_thoughts),
            cut_thoughts=sum(
                call.purpose is Purpose.ACT and call.finish_reason == FinishReason.LENGTH
                for call in calls
            )
            - sum(step.rejected is Rejection.TRUNCATED for step in episode.steps),
            refinements=max(0, len(episode.plans) - 1),
            rejected_plans=sum(plan.rejected is not None for plan in episode.plans),
            questions=len({call.request_id.rpartition(".b")[0] for call in asked}),
            subgoals=sum(step.reward > 0 or bool(step.subgoals) for step in episode.steps),
            sweet_notes=taken.count(NoteKind.SWEET),
            sour_notes=taken.count(NoteKind.SOUR),
            rejected_notes=len(notes) - len(taken),
            note_tokens=sum(call.generated_tokens for call in notes),
            mask=MaskTotals.of(call.mask for call in calls),
            dropped_turns=max((call.dropped_turns for call in calls), default=0),
            model_calls=len(calls),
            prompt_tokens=sum(call.prompt_tokens for call in calls),
            cached_tokens=sum(call.cached_tokens for call in calls),
            generated_tokens=sum(call.generated_tokens for call in calls),
            model_seconds=sum(call.seconds for call in calls),
            world_seconds=sum(step.world_seconds for step in episode.steps),
            seconds=episode.seconds,
            attempts=episode.attempts,
            trajectory=trajectory,
            trajectory_sha256=sha256,
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read a line; `KeyError`, `TypeError` or `ValueError` if it is not one of ours.

        Numbers that older runs did not count are their defaults.
        """
        known = {field.name for field in fields(cls)}
        needed = {field.name for field in fields(cls) if field.default is MISSING}
        if wrong := set(data) - known | needed - set(data):
            raise ValueError(f"fields differ: {sorted(wrong)}")
        stop, scores = StopReason(data["stop"]), tuple(data["scores"])
        mask = MaskTotals(**data["mask"])
        return cls(**{**data, "stop": stop, "scores": scores, "mask": mask})

    @property
    def key(self) -> EpisodeKey:
        """Which episode this is."""
        return EpisodeKey(task=self.task, repeat=self.repeat, round=self.round)

    @property
    def last_score(self) -> float:
        """The raw score at the end."""
        return self.scores[-1] if self.scores else 0.0

    @property
    def best_score(self) -> float:
        """The highest raw score on the way; at least 0, the score before the first step."""
        return max(0.0, *self.scores) if self.scores else 0.0

    @property
    def clamped_score(self) -> float:
        """The last score, but a failure's -100 counts 0."""
        return max(0.0, self.last_score)


def _counts(kinds: Iterable[str]) -> Mapping[str, int]:
    """How often each kind occurs; a plain dict, because `asdict` would recount a `Counter`."""
    return dict(Counter(map(str, kinds)))
