"""Whether a library can be used in a run at all: found out before anything starts, because a skill
that is passed over in silence looks like one that does not help.
"""

from agents.decoding import PlanLevel
from agents.plans.worlds import WORLD_AGENTS
from agents.prompts.plans import PlanPrompts
from agents.skills.library import LibraryError
from agents.skills.skill import Library
from agents.skills.slots import slots_of, unfillable


def check_fit(path: str, library: Library, world: str, level: PlanLevel) -> None:
    """Refuse a library without skills, of another sort of world, or with a plan that cannot be
    filled in where `decoding.plan=skeleton` is to fill it in.

    Raises:
        LibraryError: for one of these reasons.
    """
    said = f"planner.skills={path}"
    if not library.in_use:
        raise LibraryError(
            f"{said} holds no skill that was kept; discover more of them, or leave planner.skills"
            " out"
        )
    prompts = WORLD_AGENTS[world].prompts
    kinds = set(PlanPrompts.load(prompts).types.values())
    for skill in library.in_use.values():
        home = WORLD_AGENTS.get(skill.origin.world)
        unknown_kind = bool(kinds) and skill.kind not in kinds
        if home is None or home.prompts != prompts or unknown_kind:
            raise LibraryError(
                f"{said}: {skill.name} is a skill of {skill.origin.world}, which env={world} has no"
                " use for; name a library of this world"
            )
        slots = set(skill.example.skeleton.slots)
        unknown = ", ".join(sorted(slots - slots_of(prompts)))
        if unknown:
            raise LibraryError(
                f"{said}: {skill.name}.plan has marks <{unknown}:...>, but slots are called"
                f" {', '.join(sorted(slots_of(prompts)))}"
            )
        if level is PlanLevel.skeleton and (reason := unfillable(skill.example, prompts)):
            raise LibraryError(
                f"{said}: {skill.name}.plan {reason}, so decoding.plan=skeleton cannot fill it in;"
                " use another level, or edit it in a copy of the library: mark slots as in"
                " <object:mug>, and take plan_sha256 out of its .yaml"
            )
