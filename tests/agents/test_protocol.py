"""The protocol card: whatever changes a number changes it, and nothing else does."""

from dataclasses import asdict
from typing import Any

import pytest

from agents.commands.configure import composed
from agents.evaluation import protocol
from agents.evaluation.run import Settings
from agents.evaluation.run_folder import differences
from agents.prompts import PromptSet
from inference.engine import EngineCard

BASE = ("env=household", "env.variations=1", "agent=adaplanner", "decoding.plan=typed")


def card(*overrides: str) -> dict[str, Any]:
    """As `groundling run` makes it before a model is loaded."""
    config = composed([*BASE, *overrides])
    tasks = config.env.open(1)
    settings = Settings(
        repeat=config.repeat,
        rounds=config.rounds,
        seed=config.seed,
        concurrency=config.at_once,
        max_steps=config.env.max_steps,
        attempts=config.attempts,
    )
    agent = protocol.AgentCard(
        name=config.agent,
        planner=config.planner.card(),
        reflection=asdict(config.reflection),
        memory=config.memory.card(),
        writes_plans=config.planner.writes_plans,
        prompts=config.planner.prompts_digest(config.env.name),
    )
    prompts = PromptSet.load(config.env.name)
    return protocol.before_engine(agent, config.decoding, prompts, tasks, settings)


CHANGED = {
    "seed=1": "seed",
    "repeat=2": "repeat",
    "rounds=2": "limits.rounds",
    "env.max_steps=9": "limits.max_steps",
    "env.split=train": "tasks",
    "env.variations=2": "tasks",
    "env.difficulty=hard": "tasks",
    "env.wording=2.1.1": "world.wording",
    "decoding.actions=listed": "decoding.actions",
    "decoding.plan=skeleton": "decoding.plan",
    "decoding.temperature=0.5": "decoding.temperature",
    "decoding.top_p=0.5": "decoding.top_p",
    "decoding.context=stop": "decoding.context",
    "decoding.max_action_tokens=9": "decoding.max_action_tokens",
    "decoding.max_thought_tokens=9": "decoding.max_thought_tokens",
    "decoding.max_plan_tokens=9": "decoding.max_plan_tokens",
    "planner.refinements=1": "agent.planner.refinements",
    "planner.resume=model": "agent.planner.resume",
    "planner.ask=off": "agent.planner.ask",
    "planner.samples=2": "agent.planner.samples",
    "agent=react": "agent.planner.name",
    "agent=adaplanner_sweet_sour": "agent.reflection.name",
    "agent=adaplanner_reflexion": "agent.memory.name",
}


def test_every_setting_that_changes_a_number_changes_the_card() -> None:
    base = card()
    for override, entry in CHANGED.items():
        named = [line.partition(":")[0] for line in differences(base, card(override))]
        assert entry in named, override


def test_what_only_changes_the_speed_does_not() -> None:
    base = card()
    for override in ("concurrency=1", "attempts=1", "control=false", "run_dir=elsewhere"):
        assert differences(base, card(override)) == [], override


@pytest.mark.parametrize(
    "path",
    [
        *("prompts.digest", "prompts.planner", "score_rule", "groundling"),
        *("world.wording", "world.table sha256", "model.name", "model.context_length"),
        *("engine.model_files", "engine.torch", "engine.dtype", "engine.hardware"),
    ],
)
def test_the_card_has_an_entry_for(path: str) -> None:
    engine = EngineCard(
        engine="vllm",
        model="m",
        context_length=100,
        identity={"model_files": "a", "torch": "1", "dtype": "x", "hardware": "h"},
    )
    found: Any = protocol.with_engine(card(), engine)
    for key in path.split("."):
        found = found[key]
    assert found
