"""One plan at each level of help, for the same household task, and what our own reader says of it.

    python -m tests.benchmarks.plan_levels [--task "put a mug on a desk."]
        [--kind pick] [--levels typed,skeleton] [model=smollm2_135m engine=vllm ...]

The random control says anything that the same grammar allows: what it gets right, the grammar gets
right by itself.
"""

import argparse
import asyncio
import math
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from agents.commands.configure import composed
from agents.decoding import Decoding, PlanLevel
from agents.plans.writing import PlanTask, Writer, WrittenPlan
from agents.prompts.plans import PlanPrompts
from grammars.plans.household import household_plans, household_slots
from grammars.shipped import RECEPTACLES
from inference.engine import Engine
from inference.random_engine import RandomEngine

HOME = (*RECEPTACLES, "desk 1", "desk 2", "bed 1")


def task_of(kind: str, text: str) -> PlanTask:
    """A task in a home of our own, with the worked example of its kind."""
    prompts = PlanPrompts.load("household")
    example = prompts.examples[kind]
    return PlanTask(
        messages=prompts.messages(text, HOME, example),
        world=household_plans(HOME),
        skeleton=example.skeleton,
        slots=household_slots(HOME),
    )


async def write(engine: Engine, task: PlanTask, level: PlanLevel) -> WrittenPlan:
    """One plan, greedily."""
    return await Writer(engine, Decoding(), f"plan#{level}", lambda number: number).plan(
        task, level
    )


def row(who: str, level: PlanLevel, plan: WrittenPlan) -> Sequence[str]:
    """A line of the table."""
    verdict = plan.verdict
    masks = [call.mask for call in plan.calls if call.mask]
    tokens = sum(mask.tokens for mask in masks)
    legal = sum(mask.legal_choices for mask in masks) / tokens if tokens else None
    own = math.exp(sum(mask.logprob for mask in masks) / tokens) if tokens else None
    return (
        *(str(level), who, str(plan.rejected or "accepted")),
        "no: " + verdict.syntax_error if verdict.syntax_error else "yes",
        "yes" if verdict.valid else f"no: {len(verdict.problems) or 1} problems",
        str(len(verdict.unassigned)),
        str(sum(call.generated_tokens for call in plan.calls)),
        "-" if legal is None else f"{legal:.0%}",
        "-" if own is None else f"{own:.2f}",
    )


async def compare(
    overrides: Sequence[str], task: PlanTask, levels: Sequence[PlanLevel], console: Console
) -> None:
    """Write and print the plans."""
    config = composed([*overrides, "run_dir=unused"])
    table = Table(
        "level", "by", "accepted", "parses", "valid", "unassigned", "tokens", "legal", "p"
    )
    with TemporaryDirectory() as folder:
        async with config.engine.open(config.model, Path(folder)) as engine:
            for level in levels:
                plan = await write(engine, task, level)
                console.rule(f"{level}: {level.help}")
                console.print(plan.text, markup=False)
                for problem in plan.verdict.problems:
                    console.print("  problem:", problem, markup=False)
                table.add_row(*row(config.model.name, level, plan))
                if level is not PlanLevel.free:
                    control = RandomEngine(seed=0, context_length=10**6)
                    table.add_row(*row("random", level, await write(control, task, level)))
    console.print(table)
    console.print(
        "tokens: generated (the control counts words); legal: tokens at which the model's own first"
        " choice was allowed; p: probability a token that it gave to what it was made to say"
    )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="one plan at each level of help")
    parser.add_argument("--task", default="put a mug on a desk.")
    parser.add_argument("--kind", default="pick")
    parser.add_argument("--levels", default=",".join(PlanLevel), help="joined by commas")
    parser.add_argument("overrides", nargs="*", help="e.g. model=smollm2_135m engine=vllm")
    options = parser.parse_args()
    task = task_of(options.kind, options.task)
    levels = [PlanLevel(level) for level in options.levels.split(",")]
    asyncio.run(compare(options.overrides, task, levels, Console(width=130)))


if __name__ == "__main__":
    main()
