"""Whether a run was made as a published table was, and where it was not."""

from collections.abc import Iterator, Mapping
from typing import Any

from agents.evaluation.published import PublishedProtocol, protocols
from agents.evaluation.rounds import rounds_of


def followed(card: Mapping[str, Any]) -> PublishedProtocol | None:
    """The published protocol whose preset a run was made with; None for any other run."""
    return protocols().get(card["setting"].get("experiment", ""))


def said_of(card: Mapping[str, Any]) -> str:
    """One line: what a run follows and where it departs from it; empty for a run of no preset."""
    published = followed(card)
    if published is None:
        return ""
    departures = list(departures_of(card, published))
    how = f"except {'; '.join(departures)}" if departures else "as far as the paper says it"
    return f"protocol: {published.name}, {how}"


def departures_of(card: Mapping[str, Any], published: PublishedProtocol) -> Iterator[str]:
    """Each entry in which a run differs from a published protocol, e.g. `limits.max_steps is 40,
    there 150`.
    """
    protocol = card["protocol"]
    for path, wanted in published.card.items():
        if (found := str(_at(protocol, path))) != wanted:
            yield f"{path} is {found}, there {wanted}"
    if published.rounds:
        back = protocol["agent"]["reflection"].get("name", "none")
        wanted = published.rounds.get(back, published.rounds["others"])
        if (rounds := str(rounds_of(protocol))) != wanted:
            yield f"limits.rounds is {rounds}, there {wanted}"
    kinds, tasks = len({task["kind"] for task in protocol["tasks"]}), len(protocol["tasks"])
    if published.kinds is not None and kinds != published.kinds:
        yield f"{kinds} kinds of tasks, there {published.kinds}"
    if published.tasks is not None and tasks != published.tasks:
        yield f"{tasks} tasks, there {published.tasks}"


def _at(card: Mapping[str, Any], path: str) -> Any:
    """What a card has at a path such as `limits.max_steps`; a dash for nothing."""
    found: Any = card
    for key in path.split("."):
        found = found.get(key, "-") if isinstance(found, Mapping) else "-"
    return found
