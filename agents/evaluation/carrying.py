"""What memory carries from round to round, computed from the records on disk and nothing else.

So a run that was killed anywhere goes on with the memory that it would have had: an unbroken one
reads the same records.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.errors import RunFolderError
from agents.evaluation.episode import EpisodeKey
from agents.evaluation.store import RunStore
from agents.memory import Memory, Note, Scope, digest_of


@dataclass(frozen=True, slots=True)
class Carrying:
    """The memory of a run with this folder."""

    memory: Memory
    store: RunStore

    def after(
        self, stored: tuple[Note, ...], first: Sequence[EpisodeKey], number: int
    ) -> tuple[Note, ...]:
        """Long-term memory after round `number` of the tasks with these first rounds, in their
        order; those that were achieved before or are not evaluated have nothing to give.

        Raises:
            RunFolderError: a record is damaged, or began with another memory than `stored`.
        """
        before = digest_of(stored)
        for key in (replace(each, round=number) for each in first):
            if self.store.row(key) is None:
                continue
            record = self.store.read(key)
            if record.memory_before != before:
                raise RunFolderError(
                    f"run folder {self.store.folder}: episode {key.id} began with another memory"
                    " than the rounds before it left; choose another run_dir"
                )
            buffers = self.memory.begin(stored)
            for note in record.notes:
                buffers.add(note)
            stored = buffers.end()
        return stored

    def remember(self, first: Sequence[EpisodeKey], rounds: int) -> None:
        """Write what memory holds at the end into the run folder, as far as the run came: what all
        share, or what each task has of its own, one after the other.

        Raises:
            RunFolderError: as `after`, or the folder cannot be written.
        """
        shared = self.memory.scope is Scope.run
        kept: dict[str, Note] = {}
        for group in [first] if shared else [[key] for key in first]:
            stored = self.memory.initial()
            for number in range(1, rounds + 1):
                stored = self.after(stored, group, number)
            kept.update((note.id, note) for note in stored)
        if kept:
            self.store.remember(list(kept.values()))
