"""Prompts for plans: what the agent can do, a worked example, the task.

The example is written in exactly the form that the grammars allow (`grammars.plans`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType

import yaml

from agents.prompts.templates import template_of
from grammars.plans.skeleton import Skeleton
from inference.engine import Message

_NONE: Mapping[str, "PlanExample"] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanExample:
    """A worked example and the task it solves."""

    task: str
    receptacles: tuple[str, ...]
    skeleton: Skeleton


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPrompts:
    """The plan prompts of one world."""

    template: str
    """Jinja: knows `receptacles`, `look` (the first one), `task`, and `example` with its task and
    receptacles, or '', and `remembered`, notes of earlier attempts or ''."""
    examples: Mapping[str, PlanExample]
    """By their names: `pick`, `clean`, ..."""
    types: Mapping[str, str]
    """What the worlds call a type of task, and what it is called here: as its own example. Where
    the file has none, each kind is a type of its own."""
    allotments: Mapping[int, Mapping[str, str]]
    """By the number of examples in all, and by the kind of a task as the world names it: which
    example it gets (AdaPlanner, table 4)."""

    @classmethod
    @cache
    def load(cls, world: str) -> "PlanPrompts":
        """What the files of a world say, read once.

        Raises:
            FileNotFoundError: that world has none.
        """
        folder = resources.files(__package__) / world
        listed = yaml.safe_load((folder / "examples.yaml").read_text(encoding="utf-8"))
        homes, allotted = listed.get("homes", {}), listed["allotments"]
        types = listed.get("types") or {kind: kind for given in allotted.values() for kind in given}
        return cls(
            template=(folder / "plan.j2").read_text(encoding="utf-8"),
            examples={
                kind: PlanExample(
                    task=entry["task"],
                    receptacles=tuple(homes[entry["home"]]) if "home" in entry else (),
                    skeleton=Skeleton((folder / "plans" / f"{kind}.plan").read_text("utf-8")),
                )
                for kind, entry in listed["tasks"].items()
            },
            types=types,
            allotments={
                samples: {kind: given[own] for kind, own in types.items()}
                for samples, given in allotted.items()
            },
        )

    def type_of(self, kind: str) -> str:
        """What a kind of task is called here, so that like worlds share what is learned of it."""
        return self.types.get(kind, kind)

    def example_for(
        self, kind: str, samples: int, learned: Mapping[str, PlanExample] = _NONE
    ) -> PlanExample | None:
        """The worked example for a kind of task: what was learned for its type, by the type's name
        here, else that of the samples; none where there are 0 samples.

        Raises:
            KeyError: a kind or a number of samples that is not known.
        """
        if own := learned.get(self.type_of(kind)):
            return own
        return self.examples[self.allotments[samples][kind]] if samples else None

    def messages(
        self,
        task: str,
        receptacles: Sequence[str],
        example: PlanExample | None,
        look: str = "",
        remembered: str = "",
    ) -> tuple[Message, ...]:
        """The prompt for a plan; `look` is what the agent sees first."""
        text = template_of(self.template).render(
            task=task,
            receptacles=list(receptacles),
            look=look,
            remembered=remembered,
            example=example.skeleton.example if example else "",
            example_task=example.task if example else "",
            example_receptacles=list(example.receptacles) if example else [],
        )
        return (Message("user", text.strip()),)
