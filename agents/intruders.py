"""Our top-level names are also those of packages on the public index; pip overwrites without a
word.

`agents` comes with openai-agents, `envs` and `conf` with packages of those names. Whoever installs
one beside us gets a mixture of both, which fails far away from its cause: so every command looks
first.
"""

from importlib.metadata import packages_distributions

from agents.errors import RunError

OURS = "groundling"
NAMES = ("inference", "agents", "grammars", "envs", "conf")


class ForeignPackage(RunError):
    """Another distribution owns one of our top-level names."""


def check_ownership() -> None:
    """Raise `ForeignPackage` naming the distributions that own one of our names."""
    owners = packages_distributions()
    intruders = {
        f"{distribution} (owns '{name}/')": distribution
        for name in NAMES
        for distribution in sorted(set(owners.get(name, [])) - {OURS})
    }
    if intruders:
        names = " ".join(sorted(set(intruders.values())))
        raise ForeignPackage(
            f"installation: {', '.join(intruders)} overwrites part of Groundling; use an"
            f" environment without it: pip uninstall {names}, then"
            " install Groundling again"
        )
