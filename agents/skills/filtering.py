"""Skill filtering: the same held-out tasks with a skill and without it (AdaPlanner, 3.3)."""

from collections.abc import Iterable
from dataclasses import replace

from agents.evaluation.row import EpisodeRow
from agents.skills.skill import Skill, Trial


def filtered(skill: Skill, with_it: Iterable[EpisodeRow], without: Iterable[EpisodeRow]) -> Skill:
    """The skill, tried on the tasks of its own kind; the rows may hold none of another.

    Raises:
        ValueError: an episode has no counterpart.
    """
    one = {row.key: row.won for row in with_it}
    other = {row.key: row.won for row in without}
    if set(one) != set(other):
        raise ValueError(f"skill {skill.name}: not the same episodes with it and without it")
    pairs = [(one[key], other[key]) for key in one]
    return replace(
        skill,
        trial=Trial(
            both=pairs.count((True, True)),
            only_with=pairs.count((True, False)),
            only_without=pairs.count((False, True)),
            neither=pairs.count((False, False)),
        ),
    )
