"""ScienceWorld itself, one of many in a Java process. Imported when the first episode is made.

ScienceWorld keeps its random numbers, object ids and simplifications in static fields, so that two
simulators in one class loader spoil each other's episodes. Here each has a class loader of its own,
and with it its own static fields; the memory that this saves against one process each is shown by
tests/benchmarks/scienceworld_jvm.py.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from envs.errors import WorldFault
from envs.scienceworld.jvm import Jvm

_SCRAMBLE = 0x5DEECE66D
"""`Random.setSeed` starts from its argument XOR this number."""

_TERMINAL = re.compile(r"(?!.* (in|on) ).+ terminal \d")


class Simulator:
    """A simulator with its own static state; for one thread at a time, for any number of tasks.

    Making one takes seconds of one core, and Java never forgets its classes. The constructor and
    every method raise `WorldFault` when Java fails; the simulator is `broken` from then on.
    """

    def __init__(self, jvm: Jvm) -> None:
        self.jvm = jvm
        self.broken = False
        self._connection = jvm.connect()
        self._agent: Any = None
        with self._boundary("the start of a simulator"):
            gateway = self._connection.gateway
            java = gateway.jvm.java
            urls = gateway.new_array(java.net.URL, 1)
            urls[0] = java.io.File(str(jvm.jar)).toURI().toURL()
            # This parent knows the JDK alone: no class of ScienceWorld or Scala is shared.
            parent = java.lang.ClassLoader.getSystemClassLoader().getParent()
            loader = java.net.URLClassLoader(urls, parent)
            interface = loader.loadClass("scienceworld.runtime.pythonapi.PythonInterface")
            nothing = gateway.new_array(java.lang.Object, 0)
            self._world: Any = interface.getDeclaredConstructors()[0].newInstance(nothing)
            self._random: Any = _companion(loader, "scala.util.Random").self()
            self._arrays: Any = _companion(loader, "scala.collection.mutable.WrappedArray")
            self._parsing: Any = _companion(loader, "scienceworld.input.InputParser")
            thing = loader.loadClass("scienceworld.struct.EnvObject")
            self._thing: Any = _companion(loader, "scala.reflect.ClassTag").apply(thing)

    def load(self, name: str, variation: int, simplifications: str, gold: bool = False) -> None:
        """Start a task anew; with `gold` the simulator first solves it, which may take long."""
        doing = f"load {name}/{variation}"
        with self._boundary(doing):
            refusal = self._world.load(name, variation, simplifications, gold)
            if refusal:
                raise WorldFault(f"ScienceWorld cannot {doing}: {refusal}")
            self._agent = self._world.agentInterface().get()
            self._check(doing)

    def step(self, line: str) -> str:
        """Send a line and get the answer."""
        # Half a surrogate pair cannot be sent; as `?` the world does not understand it either.
        sendable = line.encode("utf-8", "replace").decode()
        with self._boundary(repr(line)):
            answer = str(self._world.step(sendable))
            self._check(repr(line))
        return answer

    def goal(self) -> str:
        """The task in words."""
        with self._boundary("the task description"):
            return str(self._world.getTaskDescription())

    def score(self) -> int:
        """-100 to 100 as of the last step; a load alone leaves the score of the task before."""
        with self._boundary("the score"):
            return round(100 * float(self._world.getScore()))

    def completed(self) -> bool:
        """Whether the last goal was reached; as of the last step."""
        with self._boundary("the completion"):
            return bool(self._world.getCompleted())

    def choices(self) -> int:
        """How many readings it offers of an ambiguous request; 0 when it waits for no number."""
        with self._boundary("the ambiguity"):
            parser = self._agent.inputParser()
            return int(parser.getNumAmbiguousMatches()) if parser.isInAmbiguousState() else 0

    def templates(self) -> tuple[str, ...]:
        """Forms of commands; they depend on the task and the simplifications only."""
        return self._strings("the templates", "getPossibleActions")

    def names(self, *, terminals: bool) -> tuple[str, ...]:
        """What things are called now: 20 to 50 ms of work.

        Those that its list of admissible commands uses, and the others that it would understand,
        such as `door to hallway` or `apple in bowl` (`apple on bowl`, the same to it, is left out).

        Args:
            terminals: those of things that are no electrical parts, too, such as `fork terminal 1`,
                which wires can be connected to though the list leaves them out.
        """
        with self._boundary("the names"), self._unnoticed():
            parser, agent = self._agent.inputParser(), self._agent.agent()
            place, pockets = agent.getContainer().get(), agent.getInventoryContainer()
            things = self._parsing.collectObjects(place, False).toArray(self._thing)
            listed = parser.getAllUniqueReferentsLUTObjList(things, place, True, True).values()
            names = _lines(listed)
            # What is carried cannot be reached from the place, only from who carries it.
            for root in (place, pockets):
                understood = _lines(self._arrays.make(parser.getAllReferents(root, False)))
                names |= {
                    name for name in understood if _in_for_on(name) not in understood - {name}
                }
                if terminals:
                    parts = _lines(self._arrays.make(parser.getAllReferents(root, True)))
                    names |= {name for name in parts if _TERMINAL.fullmatch(name)}
        return tuple(sorted(names))

    def admissible(self) -> tuple[str, ...]:
        """All commands that it lists as valid now: 30 to 230 ms of work."""
        return self._strings("the admissible commands", "getValidActionObjectCombinations")

    def gold_path(self) -> tuple[str, ...]:
        """The solution found by the last load with `gold`, in order."""
        with self._boundary("the gold path"):
            return tuple(self._world.getGoldActionSequence())

    def close(self) -> None:
        """Drop the connection; Java keeps the classes until it ends."""
        self._connection.disconnect()

    def _strings(self, doing: str, method: str) -> tuple[str, ...]:
        """A list in one message, where py4j would send two for each element; sorted, each once."""
        with self._boundary(doing), self._unnoticed():
            words = getattr(self._world, method)()
            joined = str(self._connection.gateway.jvm.java.lang.String.join("\n", words))
        return tuple(sorted(set(joined.split("\n")) - {""}))

    @contextmanager
    def _unnoticed(self) -> Iterator[None]:
        """Asking must not change what happens, but naming things spends random numbers.

        Without this, bees and plants behave differently under each level of affordances. The state
        is taken from Java's serialized form of `Random`, which ends in the seed and an end mark.
        """
        java = self._connection.gateway.jvm.java
        buffer = java.io.ByteArrayOutputStream()
        stream = java.io.ObjectOutputStream(buffer)
        stream.writeObject(self._random)
        stream.flush()
        state = int.from_bytes(buffer.toByteArray()[-9:-1], "big")
        yield
        self._random.setSeed(state ^ _SCRAMBLE)

    def _check(self, doing: str) -> None:
        """An exception inside a step is caught in there and shows as the text of later steps."""
        if self._agent.errorState():
            said = str(self._agent.errorMessage()).splitlines()[0]
            raise WorldFault(f"ScienceWorld crashed on {doing}: {said}")

    @contextmanager
    def _boundary(self, doing: str) -> Iterator[None]:
        try:
            with self.jvm.boundary(doing):
                yield
        except WorldFault:
            self.broken = True
            self.close()
            raise


def _companion(loader: Any, name: str) -> Any:
    """The Scala object that holds what Java would call a class's static methods."""
    return loader.loadClass(f"{name}$").getField("MODULE$").get(None)


def _lines(words: Any) -> set[str]:
    """A collection of Scala's in one message."""
    return set(str(words.mkString("\n")).split("\n")) - {""}


def _in_for_on(name: str) -> str:
    return name.replace(" on ", " in ")
