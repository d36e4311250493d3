"""Run folders made through the real store, without playing: records with everything that a page
shows.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agents.acceptance import Rejection
from agents.decoding import ActionMode, Decoding
from agents.evaluation import protocol
from agents.evaluation.episode import Episode, EpisodeKey, Step, StopReason
from agents.evaluation.run import Settings
from agents.evaluation.store import RunStore
from agents.memory import NoteKind
from agents.planners import ModelCall, PlanRecord, Purpose
from agents.reflection import ReflectionRecord
from inference.engine import EngineCard, MaskEffect
from tests.agents.corridor import CorridorTasks
from tests.agents.playing import PROMPTS

PLAN = "def solution(agent, start_from=1):\n    if start_from <= 1:\n        agent.goto('{}')\n"


def card(
    *, tasks: int = 4, repeat: int = 1, rounds: int = 1, max_steps: int = 5, **changed: Any
) -> dict[str, Any]:
    """A protocol card with its setting; `changed`: `agent`, `model`, `engine`, `seed`."""
    agent = protocol.AgentCard(
        name=changed.get("agent", "adaplanner"),
        planner={"name": changed.get("agent", "adaplanner")},
        reflection={"name": "none"},
        memory={"name": "managed", "at_once": True},
        writes_plans=True,
    )
    settings = Settings(
        repeat=repeat,
        rounds=rounds,
        seed=changed.get("seed", 0),
        concurrency=1,
        max_steps=max_steps,
        attempts=1,
    )
    decoding = Decoding(actions=ActionMode.enforced)
    before = protocol.before_engine(agent, decoding, PROMPTS, CorridorTasks(count=tasks), settings)
    engine = EngineCard(
        engine=changed.get("engine", "scripted"), model=changed.get("model", "m"), context_length=99
    )
    return {
        "protocol": protocol.with_engine(before, engine),
        "setting": {"agent": agent.name, "control": False},
    }


def write(folder: Path, episodes: Iterable[Episode], **changed: Any) -> Path:
    """A run folder of these episodes."""
    whole = card(**changed)
    with RunStore.open(folder) as store:
        store.commit(whole["protocol"], whole["setting"])
        for episode in episodes:
            store.add(episode)
    return folder


def call(
    name: str, text: str = "east", purpose: Purpose = Purpose.ACT, **changed: Any
) -> ModelCall:
    """One question to the model."""
    plain = ModelCall(
        request_id=name,
        prompt_digest="0123456789abcdef",
        grammar_digest="fedcba9876543210",
        text=text,
        finish_reason="stop",
        prompt_tokens=100,
        cached_tokens=80,
        generated_tokens=3,
        dropped_turns=0,
        seconds=0.5,
        purpose=purpose,
    )
    return replace(plain, **changed)


def step(action: str = "east", observation: str = "You walk east.", **changed: Any) -> Step:
    """One action; it asked the model nothing unless told so."""
    plain = Step(
        thoughts=(),
        action=action,
        observation=observation,
        reward=0.0,
        score=0.0,
        done=False,
        won=False,
        invalid=False,
        calls=(),
        world_seconds=0.001,
    )
    return replace(plain, **changed)


def episode(
    task: str = "c/0", *, won: bool = True, steps: Sequence[Step] = (), **changed: Any
) -> Episode:
    """An episode of one or the given steps, the last of which wins or not."""
    taken = list(steps) or [step(calls=(call(f"{task}#0.a1.c0"),))]
    taken[-1] = replace(taken[-1], won=won, done=won, score=100.0 if won else taken[-1].score)
    repeat, number = changed.pop("repeat", 0), changed.pop("round", 1)
    plain = Episode(
        key=EpisodeKey(task=task, repeat=repeat, round=number),
        kind=task.partition("/")[0],
        name="corridor",
        seed=7,
        goal="walk to the east end",
        first_observation="A corridor runs from west to east.",
        first_prompt=({"role": "user", "content": "Walk. Task: walk to the east end"},),
        stop=StopReason.SOLVED if won else StopReason.MAX_STEPS,
        steps=tuple(taken),
        seconds=1.5,
    )
    return replace(plain, **changed)


def full(task: str = "c/0") -> Episode:
    """An episode in which everything happens that a page has a form for."""
    masked = MaskEffect(tokens=2, logprob=2 * math.log(0.25), legal_choices=1)
    note = f"{task}#0.r1.s3.sweet"
    return episode(
        task,
        won=False,
        steps=(
            step(
                calls=(
                    call(f"{task}#0.a1.plan0.b0", "def solution", Purpose.PLAN),
                    call(f"{task}#0.a1.plan0.b1", "(agent)", Purpose.PLAN, mask=masked),
                    call(f"{task}#0.a1.q0.b0", "shelf 1, shelf 2", Purpose.ASK),
                ),
            ),
            step(
                "",
                Rejection.MALFORMED.notice,
                rejected=Rejection.MALFORMED,
                calls=(call(f"{task}#0.a1.c1", "eat the moon"),),
            ),
            step(
                "west",
                "You walk west.",
                thoughts=("think: back again",),
                reward=50.0,
                score=50.0,
                subgoals=("seen", "taken"),
                calls=(call(f"{task}#0.a1.c2", "east", mended=("TimedOut",), dropped_turns=2),),
            ),
            step(
                "fly",
                "Nobody understands that.",
                invalid=True,
                score=50.0,
                recalled=(note, "x"),
                calls=(call(f"{task}#0.a1.c3", "fly"),),
            ),
        ),
        plans=(
            _plan(PLAN.format("shelf 1"), after=0),
            _plan(PLAN.format("shelf 2"), after=2, reason="It was not there.", failed_step=1),
        ),
        reflections=(
            _noted(NoteKind.SWEET, 3, "Going back helped.", f"{task}#0.a1.reflect0.b0"),
            _noted(NoteKind.SOUR, 4, "Do not fly.", f"{task}#0.a1.reflect1.b0"),
        ),
        memory_before="aaaa",
        memory_after="bbbb",
        unspent_thoughts=("think: too late",),
        last_failure="It ran to its end.",
    )


def _plan(text: str, after: int, reason: str = "", failed_step: int | None = None) -> PlanRecord:
    return PlanRecord(
        text=text,
        level="typed",
        rejected=None,
        reason=reason,
        failed_step=failed_step,
        start_from=1,
        after_actions=after,
    )


def _noted(kind: NoteKind, number: int, text: str, name: str) -> ReflectionRecord:
    asked = call(name, text, Purpose.REFLECT)
    return ReflectionRecord(kind=kind, step=number, text=text, rejected=None, call=asked)
