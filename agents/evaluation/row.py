"""An episode as a line of `episodes.jsonl`."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, Self

from agents.acceptance import Rejection
from agents.evaluation.episode import Episode, EpisodeKey, StopReason
from agents.evaluation.mask import MaskTotals
from agents.memory import NoteKind, pays
from agents.planners import Purpose
from inference.engine import FinishReason


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
    """Plans that were written after the first, because the one before had failed or was not taken.
    """
    improvements: int = 0
    """Plans that were written because the model had criticised the one before, untried."""
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
    """The world's own time, in its thread, from being made to being closed."""
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
            refinements=sum(not plan.criticised for plan in episode.plans[1:]),
            improvements=sum(plan.criticised for plan in episode.plans),
            rejected_plans=sum(plan.rejected is not None for plan in episode.plans),
            questions=len({call.request_id.rpartition(".b")[0] for call in asked}),
            subgoals=sum(pays(step.reward, step.subgoals) for step in episode.steps),
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
            world_seconds=max(
                episode.world_seconds, sum(step.world_seconds for step in episode.steps)
            ),
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
