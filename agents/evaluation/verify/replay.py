"""One recorded episode, played again in a fresh world and compared at every step."""

from collections.abc import Iterator, Mapping

from agents.evaluation.episode import Episode, Step
from agents.evaluation.verify.finding import Difference
from envs.world import Observation, TextEnv

FIELDS = ("observation", "reward", "score", "done", "won", "invalid", "subgoals")


def replay(episode: Episode, env: TextEnv, *, subgoals: bool, source: str) -> Iterator[Difference]:
    """Every field of every step that the world does not confirm.

    Answers that were not taken were never sent; they must have changed nothing.

    Args:
        episode: as it was recorded.
        env: of its task, not yet reset.
        subgoals: whether the record has them; older ones have not.
        source: who replays, for the differences.

    Raises:
        WorldFault: the world crashed.
    """

    def told(step: int, field: str, recorded: object, found: object) -> Difference:
        return Difference(
            episode=episode.key.id,
            step=step,
            field=field,
            recorded=recorded,
            found=found,
            source=source,
        )

    seen = env.reset()
    if episode.goal != seen.goal:
        yield told(0, "goal", episode.goal, seen.goal)
    if episode.first_observation != seen.text:
        yield told(0, "observation", episode.first_observation, seen.text)
    fields = [field for field in FIELDS if subgoals or field != "subgoals"]
    for number, step in enumerate(episode.steps, start=1):
        if seen.done:
            yield told(number, "action", step.action, "nothing: the world had ended the episode")
            return
        if step.rejected:
            expected = _unchanged(step, seen)
            if step.action:
                yield told(number, "action", step.action, "nothing: the answer was not taken")
        else:
            seen = env.step(step.action)
            expected = _consequence(seen)
        for field in fields:
            if getattr(step, field) != expected[field]:
                yield told(number, field, getattr(step, field), expected[field])


def _consequence(seen: Observation) -> Mapping[str, object]:
    return {
        "observation": seen.text,
        **{field: getattr(seen, field) for field in FIELDS if field != "observation"},
    }


def _unchanged(step: Step, before: Observation) -> Mapping[str, object]:
    """What must be recorded of an answer that was not taken."""
    assert step.rejected is not None
    return {
        "observation": step.rejected.notice,
        "reward": 0.0,
        "score": before.score,
        "done": before.done,
        "won": before.won,
        "invalid": False,
        "subgoals": (),
    }
