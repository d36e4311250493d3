"""Skill acquisition: from the solved episodes of a run folder to candidates.

A candidate is an episode's last plan, the one that ran when the world said `won`. Each kind of task
has one: from the episode with the fewest revisions, then the fewest actions, then the first in
order, because a plan that was revised in the middle of an episode knows that episode by heart
(AdaPlanner, section 3.3, on why skills are filtered).
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.errors import RunFolderError
from agents.evaluation.episode import Episode
from agents.evaluation.run_folder import read_protocol, read_rows
from agents.plans.worlds import WORLD_AGENTS
from agents.prompts.plans import PlanExample, PlanPrompts
from agents.skills.library import SIGNATURE
from agents.skills.skill import Interaction, Library, Origin, Skill
from agents.skills.slots import marked
from envs.world import Observation, Task, TaskSet
from grammars.plans.skeleton import Skeleton

ANSWER_LENGTH = 160
"""Characters of a world's answer that a library keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acquired:
    """A finished run, of which skills can be made."""

    folder: Path
    name: str
    """What a library calls the run."""
    world: str
    tasks: TaskSet

    def candidates(self, library: Library) -> tuple[Skill, ...]:
        """A candidate for each kind of task that was solved, numbered to join the library.

        Raises:
            RunFolderError: the run's files are damaged.
        """
        prompts = PlanPrompts.load(WORLD_AGENTS[self.world].prompts)
        protocol = read_protocol(self.folder)["protocol"]
        found: dict[str, Skill] = {}
        for episode in self._solved():
            kind = prompts.type_of(episode.kind)
            source = last_plan(episode)
            if kind not in found and source is not None:
                found[kind] = Skill(
                    kind=kind,
                    number=library.next_number(kind),
                    example=self._example(episode, source),
                    origin=self._origin(episode, protocol),
                    interactions=tuple(
                        Interaction(command=step.action, answer=_cut(step.observation))
                        for step in episode.steps
                    ),
                )
        return tuple(found.values())

    def _solved(self) -> Iterator[Episode]:
        """The best first."""
        order = {task.id: place for place, task in enumerate(self.tasks.tasks)}
        solved = [row for row in read_rows(self.folder) if row.won]
        solved.sort(key=lambda r: (r.refinements, len(r.scores), order[r.task], r.repeat))
        for row in solved:
            path = self.folder / row.trajectory
            try:
                yield Episode.from_json(json.loads(path.read_text(encoding="utf-8")))
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise RunFolderError(
                    f"{path} cannot be read ({error}); restore it from a copy, or take the line of"
                    f" {row.key.id} out of episodes.jsonl to have the episode run again"
                ) from error

    def _example(self, episode: Episode, plan: str) -> PlanExample:
        (task,) = (task for task in self.tasks.tasks if task.id == episode.key.task)
        agent = WORLD_AGENTS[self.world](self._first_look(task), _act_no_more)
        return PlanExample(
            task=episode.goal,
            receptacles=agent.places,
            skeleton=marked(plan, episode.goal, agent.places, agent.prompts),
        )

    def _first_look(self, task: Task) -> Observation:
        """Asked again, because a record holds its text only."""
        env = self.tasks.make(task, WORLD_AGENTS[self.world].affordances)
        try:
            return env.reset()
        finally:
            env.close()

    def _origin(self, episode: Episode, protocol: Mapping[str, Any]) -> Origin:
        return Origin(
            run=self.name,
            episode=episode.key.id,
            plan=len(episode.plans) - 1,
            world=self.world,
            model=protocol["model"]["name"],
            model_files=protocol["engine"].get("model_files", ""),
            level=protocol["decoding"]["plan"],
            samples=protocol["agent"]["planner"]["samples"],
            groundling=protocol["groundling"],
        )


def last_plan(episode: Episode) -> str | None:
    """The plan that ran at the end, from its signature on; None if a library cannot hold it,
    because it has none or contains what would be read as a slot.
    """
    _, signature, rest = episode.plans[-1].text.partition(SIGNATURE)
    plan = signature + rest
    return plan if plan and Skeleton(plan).example == plan else None


def _cut(answer: str) -> str:
    return answer if len(answer) <= ANSWER_LENGTH else f"{answer[: ANSWER_LENGTH - 3]}..."


async def _act_no_more(command: str) -> Observation:
    raise AssertionError(f"nothing is done in an episode that is over: {command}")
