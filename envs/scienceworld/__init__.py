"""ScienceWorld: thirty school experiments in one house, as text. Needs Java and the extra
`scienceworld`.

`ScienceWorld` is the configuration and opens a `ScienceWorldTasks`; `java_version` tells whether
Java can be used. Nothing of Java is imported or started before the first episode.
"""

from envs.scienceworld.java import Java, java_version
from envs.scienceworld.world import ScienceWorld, ScienceWorldTasks

__all__ = ["Java", "ScienceWorld", "ScienceWorldTasks", "java_version"]
