"""Whether what each episode remembered is what the episodes before it noted: see
`agents.evaluation.carrying`, whose rule this applies to records that are only read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agents.evaluation.episode import Episode, EpisodeKey
from agents.evaluation.rounds import rounds_of
from agents.evaluation.verify.finding import Difference, Finding, NotReplayed
from agents.memory import Memory, Note, NoteMemory, Retrieval, Scope, digest_of
from agents.memory.files import MemoryFileError, read_notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What of an episode has to do with memory."""

    key: EpisodeKey
    before: str
    after: str
    notes: tuple[Note, ...]

    @classmethod
    def of(cls, episode: Episode) -> "Remembered":
        """The part of a record that is kept until all of them are read."""
        return cls(
            key=episode.key,
            before=episode.memory_before,
            after=episode.memory_after,
            notes=episode.notes,
        )


def check_memory(
    protocol: Mapping[str, Any], episodes: Sequence[Remembered], folder: Path
) -> Iterator[Finding]:
    """Every episode that began or ended with another memory than the records before it make."""
    card = protocol["agent"]["memory"]
    if card.get("name", "none") == "none":
        return
    if card.get("path"):
        yield NotReplayed(
            reason="what was remembered: the run began with notes of another run, of which only"
            f" the digest is here ({card['path']})"
        )
        return
    try:
        scope, retrieval = Scope(card["scope"]), Retrieval(card["retrieval"])
        memory = NoteMemory(**{**card, "scope": scope, "retrieval": retrieval})
    except (KeyError, TypeError, ValueError) as error:
        yield NotReplayed(
            reason="what was remembered: protocol.json tells of a memory of another version"
            f" ({error})"
        )
        return
    found = {each.key: each for each in episodes}
    first = [
        EpisodeKey(task=task["id"], repeat=repeat)
        for repeat in range(protocol["repeat"])
        for task in protocol["tasks"]
    ]
    groups = [first] if scope is Scope.run else [[key] for key in first]
    kept: dict[str, Note] = {}
    for group in groups:
        stored: tuple[Note, ...] = ()
        for number in range(1, rounds_of(protocol) + 1):
            own = [found.get(replace(key, round=number)) for key in group]
            there = [each for each in own if each is not None]
            yield from _round(memory, stored, there)
            for each in there:
                stored = _after(memory, stored, each)
        kept.update((note.id, note) for note in stored)
    yield from _kept(folder, tuple(kept.values()))


def _round(
    memory: Memory, stored: tuple[Note, ...], episodes: Sequence[Remembered]
) -> Iterator[Difference]:
    """All begin with the same."""
    for each in episodes:
        after = digest_of(_after(memory, stored, each))
        for field, recorded, found in (
            ("memory_before", each.before, digest_of(stored)),
            ("memory_after", each.after, after),
        ):
            if recorded != found:
                yield Difference(
                    episode=each.key.id,
                    field=field,
                    recorded=recorded,
                    found=found,
                    source="the records' notes make",
                )


def _after(memory: Memory, stored: tuple[Note, ...], episode: Remembered) -> tuple[Note, ...]:
    buffers = memory.begin(stored)
    for note in episode.notes:
        buffers.add(note)
    return buffers.end()


def _kept(folder: Path, notes: tuple[Note, ...]) -> Iterator[Difference]:
    """What the run left for later ones; it is there only if the run came to its end."""
    if not (folder / "memory.jsonl").exists():
        return
    try:
        recorded: object = digest_of(read_notes(str(folder)))
    except MemoryFileError as error:
        recorded = str(error)
    if recorded != digest_of(notes):
        yield Difference(
            field="memory.jsonl (digest)",
            recorded=recorded,
            found=digest_of(notes),
            source="the records' notes make",
        )
