"""What grammars cost a server, and what it saves to give text instead of having it generated.

    python -m tests.benchmarks.grammar_speed [--rounds 3] [--model smollm2_135m]

One server is started, as a run starts it. Each comparison is made within a round, one arrangement
right after the other; the ratio within a round is the result, and its median and range over the
rounds are printed. Absolute speeds depend on the machine and on what else it does.

1. Generated tokens a second under a grammar against free text, at 1 and 16 requests at once. The
   free requests have the same prompts and are made to say exactly as many tokens.
2. The same plan, said whole by the model against blank by blank with the rest given (the levels
   `typed` and `skeleton`): seconds.
3. Answers under a grammar with what it changed measured, against without: seconds.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from agents.commands.configure import composed
from agents.prompts.plans import PlanPrompts
from grammars import Grammar
from grammars.forms import Blank, Form
from grammars.plans.household import household_plans, household_slots
from grammars.plans.skeleton import SkeletonForm
from grammars.plans.typed import TypedForm
from grammars.shipped import RECEPTACLES, shipped
from inference.client import ServerClient
from inference.constraint import request_fields
from inference.engine import Engine, Message, Request, Sampling
from inference.renderer import Renderer
from inference.resolve import resolve
from tests.grammars.plans.homes import answers_of

PROMPTS = PlanPrompts.load("household")
EXAMPLE = PROMPTS.examples["pick"]
OBJECTS = ("mug", "apple", "bowl", "egg", "potato", "fork", "cup", "bread")
KINDS = {
    "action, enforced": 12,
    "action, template": 12,
    "plan step, syntax": 48,
    "plan step, typed, nothing assigned": 48,
}
"""Grammars of the first comparison, each with the most tokens of an answer."""


@dataclass(frozen=True, slots=True)
class Said:
    """What requests came to."""

    tokens: tuple[int, ...]
    seconds: float

    @property
    def speed(self) -> float:
        """Tokens a second."""
        return sum(self.tokens) / self.seconds


@dataclass(slots=True)
class Ratios:
    """One line of the result: the same ratio from every round."""

    name: str
    values: list[float] = field(default_factory=list)


async def at_once(jobs: Sequence[Callable[[], Awaitable[int]]], width: int) -> Said:
    """Do all jobs, `width` at a time; each gives its number of tokens."""
    gate = asyncio.Semaphore(width)

    async def one(job: Callable[[], Awaitable[int]]) -> int:
        async with gate:
            return await job()

    started = time.monotonic()
    tokens = await asyncio.gather(*map(one, jobs))
    return Said(tuple(tokens), time.monotonic() - started)


def prompts(renderer: Renderer, count: int) -> list[tuple[int, ...]]:
    """Different tasks after the same beginning, as in a run."""
    return [
        renderer.render(
            PROMPTS.messages(
                f"put the {OBJECTS[n % len(OBJECTS)]} of person {n} in a cabinet.",
                RECEPTACLES,
                EXAMPLE,
            )
        )
        for n in range(count)
    ]


def saying(
    client: ServerClient, prompt: tuple[int, ...], fields: Mapping[str, object]
) -> Callable[[], Awaitable[int]]:
    """A job: one request to the server."""

    async def job() -> int:
        answer = await client.complete(prompt, {"temperature": 0.7, "seed": 1, **fields})
        return answer.completion.generated_tokens

    return job


async def against_free(
    client: ServerClient,
    asked: Sequence[tuple[int, ...]],
    grammar: Grammar,
    most_tokens: int,
    width: int,
) -> float:
    """Tokens a second under the grammar, before and after, over those of free text in between."""
    fields = {"max_tokens": most_tokens, **request_fields(grammar)}

    async def bound() -> Said:
        return await at_once([saying(client, prompt, fields) for prompt in asked], width)

    before = await bound()
    free = await at_once(
        [
            saying(client, prompt, {"max_tokens": n, "min_tokens": n, "ignore_eos": True})
            for prompt, n in zip(asked, before.tokens, strict=True)
        ],
        width,
    )
    after = await bound()
    return (before.speed + after.speed) / 2 / free.speed


@dataclass(frozen=True, slots=True)
class Wanted:
    """A plan, and the answers to a form's blanks that make it."""

    text: str
    form: Form
    answers: Sequence[str]


def wanted_plans() -> Mapping[str, Wanted]:
    """The worked example, by the level that would be asked for it."""
    places = (*EXAMPLE.receptacles, *RECEPTACLES)
    text = EXAMPLE.skeleton.example
    typed = TypedForm(household_plans(places))
    slots = SkeletonForm(EXAMPLE.skeleton, household_slots(places))
    return {
        "typed": Wanted(text, typed, answers_of(typed, text)),
        "skeleton": Wanted(text, slots, [" soapbar,", " countertop 1\n"]),
    }


async def fill(engine: Engine, wanted: Wanted, messages: tuple[Message, ...]) -> int:
    """Have exactly the wanted answers said, blank by blank."""
    text, tokens = "", 0
    for number, answer in enumerate(wanted.answers):
        blank = wanted.form.next(wanted.answers[:number])
        assert isinstance(blank, Blank)
        text += blank.lead
        request = Request(
            id="benchmark",
            messages=(*messages, Message("assistant", text)),
            grammar=Grammar.choice([answer]),
            sampling=Sampling(max_tokens=1500),
        )
        tokens += (await engine.generate(request)).generated_tokens
        text += answer
    return tokens


async def blanks_against_whole(engine: Engine, width: int) -> Mapping[str, float]:
    """Seconds blank by blank, by level, over seconds for the same plan said whole."""
    messages = PROMPTS.messages("put a mug in a cabinet.", RECEPTACLES, EXAMPLE)

    async def whole() -> int:
        request = Request(
            id="benchmark",
            messages=messages,
            grammar=Grammar.choice([EXAMPLE.skeleton.example]),
            sampling=Sampling(max_tokens=1500),
        )
        return (await engine.generate(request)).generated_tokens

    def blanks(wanted: Wanted) -> Callable[[], Awaitable[int]]:
        async def job() -> int:
            return await fill(engine, wanted, messages)

        return job

    seconds = (await at_once([whole] * width, width)).seconds
    return {
        level: (await at_once([blanks(wanted)] * width, width)).seconds / seconds
        for level, wanted in wanted_plans().items()
    }


async def measured_against_not(engine: Engine, width: int, *, measured_first: bool) -> float:
    """Seconds for actions with the mask measured over seconds without."""
    grammar = shipped()["action, enforced"]

    def asking(n: int, *, measure: bool) -> Callable[[], Awaitable[int]]:
        async def job() -> int:
            task = f"put the {OBJECTS[n % len(OBJECTS)]} of person {n} in a cabinet."
            request = Request(
                id="benchmark",
                messages=PROMPTS.messages(task, RECEPTACLES, EXAMPLE),
                grammar=grammar,
                sampling=Sampling(max_tokens=20),
                measure_mask=measure,
            )
            return (await engine.generate(request)).generated_tokens

        return job

    async def run(*, measure: bool) -> Said:
        return await at_once([asking(n, measure=measure) for n in range(width)], width)

    if measured_first:
        with_it = await run(measure=True)
        without = await run(measure=False)
    else:
        without = await run(measure=False)
        with_it = await run(measure=True)
    return with_it.seconds / without.seconds


async def benchmark(model_name: str, rounds: int, console: Console) -> None:
    """Start the server, measure, print."""
    config = composed([f"model={model_name}", "engine=vllm"])
    renderer = Renderer(resolve(config.model).directory, config.model.prompt)
    results: dict[str, Ratios] = {}

    def note(name: str, value: float) -> None:
        results.setdefault(name, Ratios(name)).values.append(value)
        console.print(f"{name}: {value:.2f}")

    with TemporaryDirectory() as folder:
        opened = config.engine.open(config.model, Path(folder), warm=tuple(shipped().values()))
        async with opened as engine:
            client = ServerClient(engine.card.setting["base_url"], config.model.name)
            async with client:
                asked = {width: prompts(renderer, width) for width in (1, 16)}
                for prompt in asked[16]:  # so that the prefix cache has them all
                    await client.complete(prompt, {"max_tokens": 1})
                for number in range(rounds):
                    for width, those in asked.items():
                        for kind, most in KINDS.items():
                            value = await against_free(client, those, shipped()[kind], most, width)
                            note(f"tokens/s, {kind} / free, {width} at once", value)
                    for width in (1, 4):
                        for level, value in (await blanks_against_whole(engine, width)).items():
                            note(f"seconds, {level} / plan said whole, {width} at once", value)
                    value = await measured_against_not(engine, 16, measured_first=number % 2 == 0)
                    note("seconds, mask measured / not, actions, 16 at once", value)
    table = Table("ratio", "median", "least", "greatest")
    for ratios in results.values():
        figures = (statistics.median(ratios.values), min(ratios.values), max(ratios.values))
        table.add_row(ratios.name, *(f"{figure:.2f}" for figure in figures))
    console.print(table)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="what grammars cost a server")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model", default="smollm2_135m")
    options = parser.parse_args()
    asyncio.run(benchmark(options.model, options.rounds, Console(width=110)))


if __name__ == "__main__":
    main()
