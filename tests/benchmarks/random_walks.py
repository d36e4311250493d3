"""Random walks through every shipped grammar with every tokenizer at hand; plans are also run.

    python -m tests.benchmarks.random_walks --walks 1000 --plans 300

At each token, one of those that the backend allows, all with equal chance, until the end: what can
be reached so, a model can be pushed to. Every finished string must pass our own parser, every plan
must run in the executor without an error of the language, and no limit of the backend may be met.
Seeds are fixed. Exits with 1 if anything fails.
"""

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from random import Random

import llguidance
from rich.console import Console
from rich.table import Table

from agents.plans import ErrorKind, PlanPool
from grammars import Grammar
from grammars.forms import Form
from grammars.plans.browser import browser_plans
from grammars.plans.check import check_plan
from grammars.plans.household import household_slots
from grammars.plans.scienceworld import scienceworld_plans
from grammars.plans.skeleton import SkeletonForm
from grammars.plans.syntax import SyntaxForm
from grammars.plans.typed import TypedForm
from grammars.plans.world import PlanWorld
from grammars.shipped import shipped
from inference.constraint import matches
from tests.agents.walk_host import WalkHost
from tests.grammars.plans.homes import EXAMPLES, RECEPTACLES, WORLD, skeleton
from tests.grammars.tokenizers import TOKENIZERS, NotAtHand
from tests.grammars.walking import BackendLimit, Endless, walk, walk_form

SCIENCEWORLD = scienceworld_plans(
    ("open OBJ", "focus on OBJ", "move OBJ to OBJ", "pour OBJ into OBJ", "look around", "wait1"),
    ("apple", "a substance called water", "O'Neil's \"cup\"", "orange", "orange juice", "a\\b é"),
    ("kitchen", "hallway"),
)

BROWSER = browser_plans(("//*[@id='subbtn']", "//span[text()='one']"))


@dataclass(slots=True)
class Tally:
    """What the walks through one grammar came to."""

    name: str
    tokenizer: str
    walks: int = 0
    tokens: int = 0
    failures: list[str] = field(default_factory=list)
    """Limits met, strings refused, errors of the language: there must be none."""
    unassigned: int = 0
    """Plans that met a `NameError` when they ran, or would have."""
    outcomes: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class PlanSort:
    """Plans of one level in one world; `form` may choose by chance."""

    name: str
    world: PlanWorld
    form: Callable[[Random], Form]


def plan_sorts() -> Iterator[PlanSort]:
    """Every level in every world that has plans."""
    worlds = {"household": WORLD, "scienceworld": SCIENCEWORLD, "browser": BROWSER}
    for place, world in worlds.items():
        yield PlanSort(f"plan, syntax, {place}", world, lambda _, w=world: SyntaxForm(w))  # type: ignore[misc]
        yield PlanSort(f"plan, typed, {place}", world, lambda _, w=world: TypedForm(w))  # type: ignore[misc]
    slots = household_slots(RECEPTACLES)
    yield PlanSort(
        "plan, skeleton, household",
        WORLD,
        lambda random: SkeletonForm(skeleton(random.choice(EXAMPLES)), slots),
    )


def walk_grammar(
    name: str, grammar: Grammar, tokenizer_name: str, tokenizer: llguidance.LLTokenizer, walks: int
) -> Tally:
    """Walks through one grammar."""
    tally = Tally(name, tokenizer_name)
    for number in range(walks):
        try:
            step = walk(grammar, tokenizer, Random(f"{name}{number}"), most_tokens=20_000)
        except (BackendLimit, Endless) as error:
            tally.failures.append(f"walk {number}: {type(error).__name__}: {error}")
            continue
        tally.walks += 1
        tally.tokens += step.tokens
        if not matches(grammar, step.text):
            tally.failures.append(f"walk {number}: refused: {step.text!r}")
    return tally


async def walk_plans(
    sort: PlanSort, tokenizer_name: str, tokenizer: llguidance.LLTokenizer, walks: int
) -> Tally:
    """Walks through whole plans, each read by our own reader and run in the executor."""
    tally = Tally(sort.name, tokenizer_name)
    async with PlanPool(workers=2) as pool:
        for number in range(walks):
            random = Random(f"{sort.name}{number}")
            try:
                plan = walk_form(sort.form(random), tokenizer, random)
            except (BackendLimit, Endless) as error:
                tally.failures.append(f"walk {number}: {type(error).__name__}: {error}")
                continue
            tally.walks += 1
            tally.tokens += plan.tokens
            verdict = check_plan(plan.text, sort.world)
            if not verdict.valid:
                tally.failures.append(f"walk {number}: {verdict}\n{plan.text}")
            async with pool.session(WalkHost(sort.world)) as session:
                outcome = await session.run(plan.text)
            kind = outcome.error.kind if outcome.error else outcome.limit or outcome.kind
            tally.outcomes[str(kind)] += 1
            tally.unassigned += bool(verdict.unassigned) or kind is ErrorKind.NAME
            if outcome.limit or kind in (ErrorKind.SYNTAX, ErrorKind.OTHER):
                tally.failures.append(f"walk {number}: {outcome.error or kind}\n{plan.text}")
            if kind is ErrorKind.NAME and not verdict.unassigned:
                tally.failures.append(f"walk {number}: {outcome.error} was not foreseen")
    return tally


def tallies(walks: int, plans: int, tokenizers: Iterable[str]) -> Iterator[Tally]:
    """Everything, one tokenizer after the other: `walks` a grammar, `plans` a level and world.

    Raises:
        NotAtHand: a tokenizer's files are missing.
    """
    for tokenizer_name in tokenizers:
        tokenizer = TOKENIZERS[tokenizer_name]()
        # a think line has no greatest length, so a walk through it does not end
        bounded = {name: g for name, g in shipped().items() if not name.startswith("thought")}
        for name, grammar in bounded.items():
            yield walk_grammar(name, grammar, tokenizer_name, tokenizer, walks)
        for sort in plan_sorts():
            yield asyncio.run(walk_plans(sort, tokenizer_name, tokenizer, plans))


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description="random walks through every shipped grammar")
    parser.add_argument("--walks", type=int, default=1000, help="per grammar and tokenizer")
    parser.add_argument("--plans", type=int, default=300, help="per level, world and tokenizer")
    parser.add_argument("--tokenizers", nargs="*", default=list(TOKENIZERS))
    options = parser.parse_args()
    console = Console(width=120)
    table = Table(
        "grammar", "tokenizer", "walks", "tokens", "failed", "unassigned", "runs ended by"
    )
    failed = 0
    for name in options.tokenizers:
        try:
            for tally in tallies(options.walks, options.plans, [name]):
                failed += len(tally.failures)
                ends = ", ".join(f"{kind} {count}" for kind, count in tally.outcomes.items())
                table.add_row(
                    *(tally.name, tally.tokenizer, str(tally.walks), str(tally.tokens)),
                    *(str(len(tally.failures)), str(tally.unassigned), ends),
                )
                console.print(
                    f"{tally.tokenizer}: {tally.name}: {tally.walks} walks,"
                    f" {len(tally.failures)} failed",
                    markup=False,
                )
                for failure in tally.failures[:3]:
                    console.print(f"{tally.name}: {failure}", markup=False)
        except NotAtHand as error:
            console.print(f"{name}: skipped: {error}", markup=False)
    console.print(table)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
