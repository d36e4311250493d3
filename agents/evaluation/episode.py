"""The record of an episode. Frozen; scores are derived from its steps, never stored beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self

from agents.acceptance import Rejection
from agents.memory import Moment, Note
from agents.planners import ModelCall, PlanRecord, Purpose
from agents.reflection import ReflectionRecord


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
    screenshot: str = ""
    """Path of a picture of what was there after it, relative to the run folder; empty for none."""

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
    first_screenshot: str = ""
    """Path of a picture of it, as `Step.screenshot`."""
    first_prompt: tuple[Mapping[str, str], ...]
    """The messages of the first model call, whole; later prompts grow from it."""
    stop: StopReason
    steps: tuple[Step, ...]
    unspent_thoughts: tuple[str, ...] = ()
    """Thoughts after the last action, when the episode ended before another one."""
    unspent_calls: tuple[ModelCall, ...] = ()
    plans: tuple[PlanRecord, ...] = ()
    """Every plan that was written, in order: the first, then its revisions."""
    last_failure: str = ""
    """How the last plan failed, where none was written after it (`gave_up`): each other one's
    failure is the `reason` of its revision."""
    reflections: tuple[ReflectionRecord, ...] = ()
    """Every note that was asked for, in order."""
    memory_before: str = ""
    """Digest of long-term memory at the beginning; empty for none. What is in it follows from the
    records of the episodes before."""
    memory_after: str = ""
    """The same at the end, this episode's notes included."""
    seconds: float
    world_seconds: float = 0.0
    """Of these, the world's own: to be made, reset and closed, besides its steps."""
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
            last_failure=data.get("last_failure", ""),
            first_screenshot=data.get("first_screenshot", ""),
            memory_before=data.get("memory_before", ""),
            memory_after=data.get("memory_after", ""),
            first_prompt=prompt,
            world_seconds=data.get("world_seconds", 0.0),
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
