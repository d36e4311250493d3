"""The wording is read from the file, whatever its folder is called, and never guessed."""

import json
from collections.abc import Callable

import pytest

from envs.alfworld import Game, read_game, write_game
from envs.alfworld.goals import Kind
from tests.envs.toy_home import VERSIONS, problem, toy_game, toy_text

Edit = Callable[[str], str]


def edited(version: str, key: str, edit: Edit) -> Game:
    data = json.loads(toy_text(Kind.PLACE, version))
    data[key] = edit(data[key])
    return read_game(json.dumps(data))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_written_game_is_read_in_its_version(version: str) -> None:
    game = toy_game(Kind.PLACE, version)
    assert (game.dialect.version, game.task) == (version, "put a apple in drawer.")
    assert bool(game.dialect.help) == (version == "2.1.2")
    assert len(game.walkthrough) == 5


def test_an_old_file_with_the_official_patch_speaks_the_new_wording() -> None:
    """The patch leaves the rules for sinks as they were and writes help's answer in the action."""
    data = json.loads(toy_text(Kind.PLACE, "2.1.1"))
    for old, new in (
        ("You arrive at {lend.name}.", "You arrive at {r.name}."),
        ("put {o} in/on {r}", "move {o} to {r}"),
        ("You put the {o.name} in/on the {r.name}.", "You move the {o.name} to the {r.name}."),
    ):
        assert old in data["grammar"]
        data["grammar"] = data["grammar"].replace(old, new)
    helping = 'template :: "help";\n    feedback :: "\\nCommands:\\n";'
    data["grammar"] += f"action help {{\n    {helping}\n}}"
    domain = data["pddl_domain"].rstrip().removesuffix(")")
    help_action = "(:action help :parameters (?a - agent) :precondition () :effect (checked ?a))"
    data["pddl_domain"] = f"{domain}{help_action})"
    dialect = read_game(json.dumps(data)).dialect
    assert (dialect.version, dialect.help) == ("2.1.2", "Commands:\n")
    assert dialect.sink_types == {"sinktype", "sinkbasintype"}
    assert not dialect.names_the_location


def test_comments_and_space_are_not_looked_at() -> None:
    def spaced(domain: str) -> str:
        return "; a comment with a (\n" + domain.replace("(and", "(and ; (not so)\n  ")

    assert edited("2.1.1", "pddl_domain", spaced) == toy_game(Kind.PLACE, "2.1.1")


@pytest.mark.parametrize(
    ("key", "old", "new", "message"),
    [
        ("grammar", "put {o} in/on {r}", "drop {o} in {r}", "'drop {o} in {r}'"),
        ("grammar", "You arrive at {lend", "You stand at {lend", "'You stand at {lend.name}"),
        ("grammar", "You open the", "You carefully open the", "sentences of no known version"),
        ("grammar", "open {r}", "pull {r}", "sentences of no known version"),
        ("grammar", "action look", "action stare", "lacks look"),
        ("grammar", "Your task is to: ", "Please ", "holds no sentence 'Your task is to"),
        ("pddl_domain", "(not (holdsany ?a))", "", "rules of no known version"),
        ("pddl_domain", "(:action sliceobject", "(:action cutobject", "rules of no known version"),
    ],
)
def test_what_differs_from_every_known_version_is_refused(
    key: str, old: str, new: str, message: str
) -> None:
    def edit(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    with pytest.raises(ValueError, match=message):
        edited("2.1.1", key, edit)


def test_what_is_no_game_file_is_refused() -> None:
    for text in ("", "[]", "{}", '{"grammar": ""}'):
        with pytest.raises(ValueError, match="not JSON with grammar, pddl_domain and pddl_problem"):
            read_game(text)


def test_only_known_versions_are_written() -> None:
    with pytest.raises(ValueError, match=r"no version '2.1.3': take 2.1.1 or 2.1.2"):
        write_game(problem=problem(Kind.PLACE), task="do it.", version="2.1.3")
