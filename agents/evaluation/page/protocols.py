"""What the protocols of runs differ in, for the page and to paste."""

from collections.abc import Iterator, Sequence

from agents.evaluation.likeness import ABSENT, Difference, differences
from agents.evaluation.loaded import LoadedRun
from agents.evaluation.page.sheet import NOTHING, Column, Sheet

LONGEST = 28
"""Characters of a value; digests and lists are told apart by fewer."""


def sheets(runs: Sequence[LoadedRun]) -> Iterator[Sheet]:
    """For each world that several runs are in, a column a run."""
    for world in dict.fromkeys(run.world for run in runs):
        together = [run for run in runs if run.world == world]
        if len(together) > 1:
            yield _sheet(world, together)


def _sheet(world: str, runs: Sequence[LoadedRun]) -> Sheet:
    found = differences([run.card for run in runs])
    return Sheet(
        key=f"protocols-{world}",
        title=f"What differs between the protocols in {world}",
        columns=[
            Column(name="setting", number=False),
            Column(
                name="standing",
                meaning="compared: it is what is compared; also different: it may move a number;"
                " unlike: with it the numbers do not measure the same",
                number=False,
            ),
            *(Column(name=run.letter, meaning=run.label, number=False) for run in runs),
        ],
        rows=[[each.name, each.standing.value, *_values(each)] for each in found],
        words=() if found else ("nothing: these runs are repeats of one another",),
    )


def _values(difference: Difference) -> Iterator[str]:
    """Shortened, but never so that two that differ look alike."""
    short = {value: _short(value) for value in difference.values}
    if len(set(short.values())) < len(short):
        short = {value: f"{text} ({n})" for n, (value, text) in enumerate(short.items(), start=1)}
    return (NOTHING if value in (ABSENT, "") else short[value] for value in difference.values)


def _short(value: str) -> str:
    return value if len(value) <= LONGEST else f"{value[: LONGEST - 10]}…"
