"""One game as its file describes it: home, goal and wording."""

import json
from dataclasses import dataclass

from envs.alfworld.dialect import Dialect, read_dialect, read_goal_sentence
from envs.alfworld.goals import Goal, read_goal
from envs.alfworld.home import Home, read_home
from envs.alfworld.problem import read_problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """Never changes, so that episodes in many threads may share it."""

    home: Home
    goal: Goal
    task: str
    """The task in the game's words, e.g. `put a clean mug in desk.`"""
    dialect: Dialect
    walkthrough: tuple[str, ...]
    """Commands that win; empty where the file has none (2.1.1)."""


def read_game(text: str | bytes) -> Game:
    """Read the text of a `game.tw-pddl`.

    Raises:
        ValueError: it is none that this engine plays exactly; says why.
    """
    try:
        data = json.loads(text)
        grammar, domain, problem_text = (
            str(data[key]) for key in ("grammar", "pddl_domain", "pddl_problem")
        )
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise ValueError(
            f"it is not JSON with grammar, pddl_domain and pddl_problem ({error!r})"
        ) from error
    dialect = read_dialect(grammar, domain)
    problem = read_problem(problem_text)
    return Game(
        home=read_home(problem, dialect.sink_types),
        goal=read_goal(problem.goal),
        task=read_goal_sentence(grammar),
        dialect=dialect,
        walkthrough=tuple(data.get("walkthrough") or ()),
    )
