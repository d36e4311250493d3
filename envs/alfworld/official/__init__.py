"""The official ALFWorld package behind the same contract: `env.engine=textworld`.

It is the reference that the native engine is compared with, and for whoever wants numbers of the
package itself. It is neither thread-safe nor does it give everything back, so it runs in processes
of its own.
"""

from envs.alfworld.official.engine import TextWorld
from envs.alfworld.official.episode import TextWorldEpisode
from envs.alfworld.official.package import find_package

__all__ = ["TextWorld", "TextWorldEpisode", "find_package"]
