import pytest

from agents.plans.worlds import HouseholdAgent
from envs.alfworld import AlfworldEpisode
from envs.alfworld.goals import Kind
from envs.world import Affordances, Observation
from tests.envs.toy_home import toy_game


class Home:
    """The toy home, its commands written down."""

    def __init__(self, version: str = "2.1.2") -> None:
        self._episode = AlfworldEpisode("toy", toy_game(Kind.HEAT, version), Affordances.NONE)
        self.said: list[str] = []
        self.agent = HouseholdAgent(self._episode.reset(), self._act)

    async def _act(self, command: str) -> Observation:
        self.said.append(command)
        return self._episode.step(command)


async def test_going_where_another_receptacle_stands_looks_at_it_instead() -> None:
    home = Home()
    await home.agent.call("goto", ("sidetable 1",))
    seen = await home.agent.call("goto", ("sidetable 2",))
    assert home.said == ["go to sidetable 1", "go to sidetable 2", "examine sidetable 2"]
    assert str(seen).startswith("On the sidetable 2, you see")
    assert home.agent.attribute("location") == "sidetable 2"


async def test_where_the_agent_is_it_need_not_go() -> None:
    home = Home()
    await home.agent.call("goto", ("toilet 1",))
    await home.agent.call("goto", ("toilet 1",))
    assert home.said == ["go to toilet 1", "examine toilet 1"]


async def test_a_place_that_is_not_there_changes_nothing() -> None:
    home = Home()
    assert await home.agent.call("goto", ("throne 1",)) == "Nothing happens."
    assert home.agent.attribute("location") == "the middle of the room"


async def test_full_hands_are_emptied_before_something_else_is_taken() -> None:
    home = Home()
    await home.agent.call("goto", ("toilet 1",))
    await home.agent.call("take", ("cloth 1", "toilet 1"))
    await home.agent.call("take", ("soapbar 1", "toilet 1"))
    assert home.said[2:] == ["move cloth 1 to toilet 1", "take soapbar 1 from toilet 1"]
    assert home.agent.attribute("holding") == "soapbar 1"


@pytest.mark.parametrize(
    ("version", "command"),
    [("2.1.1", "put cloth 1 in/on toilet 1"), ("2.1.2", "move cloth 1 to toilet 1")],
)
async def test_things_are_put_in_the_words_of_the_game(version: str, command: str) -> None:
    home = Home(version)
    await home.agent.call("goto", ("toilet 1",))
    await home.agent.call("take", ("cloth 1", "toilet 1"))
    await home.agent.call("put", ("cloth 1", "toilet 1"))
    assert home.said[-1] == command
    assert home.agent.attribute("holding") == "nothing"


async def test_the_report_tells_place_holding_and_the_last_three_interactions() -> None:
    home = Home()
    for place in ("toilet 1", "sinkbasin 1", "fridge 1"):
        await home.agent.call("goto", (place,))
    await home.agent.call("open_receptacle", ("fridge 1",))
    report = home.agent.report()
    assert report.startswith("I am at fridge 1 and hold nothing.")
    assert [line for line in report.splitlines() if line.startswith("> ")] == [
        "> go to sinkbasin 1",
        "> go to fridge 1",
        "> open fridge 1",
    ]


async def test_the_receptacles_are_those_of_the_first_look() -> None:
    home = Home()
    assert home.agent.places[:3] == ("bathtubbasin 1", "cabinet 2", "cabinet 1")
    assert home.agent.attribute("receptacles") == list(home.agent.places)
    assert set(home.agent.slots["sink"]) == {"sinkbasin 1"}


async def test_the_report_says_which_condition_of_a_method_was_not_met() -> None:
    home = Home()
    agent = home.agent
    await agent.call("goto", ("toilet 1",))
    await agent.call("take", ("cloth 1", "sinkbasin 1"))
    assert "To take cloth 1 from sinkbasin 1 I must be at sinkbasin 1." in agent.report()
    await agent.call("take", ("cloth 1", "toilet 1"))
    assert "I must" not in agent.report()
    await agent.call("clean", ("cloth 1", "sinkbasin 1"))
    assert "To clean cloth 1 with sinkbasin 1 I must be at sinkbasin 1." in agent.report()
    await agent.call("put", ("cloth 1", "fridge 1"))
    assert "To put cloth 1 on fridge 1 I must be at fridge 1." in agent.report()
    await agent.call("goto", ("sinkbasin 1",))
    await agent.call("clean", ("soapbar 1", "sinkbasin 1"))
    assert "To clean soapbar 1 with sinkbasin 1 I must hold soapbar 1." in agent.report()
    await agent.call("clean", ("cloth 1", "sinkbasin 1"))
    assert "I must" not in agent.report()


async def test_the_report_says_that_a_place_does_not_exist_and_what_there_is_of_its_type() -> None:
    agent = Home().agent
    await agent.call("goto", ("toilet 1",))
    missing = "No place here is called sinkbasin; there is sinkbasin 1."
    for method, args in (
        ("goto", ("sinkbasin",)),
        ("take", ("cloth 1", "sinkbasin")),
        ("put", ("cloth 1", "sinkbasin")),
        ("clean", ("cloth 1", "sinkbasin")),
    ):
        await agent.call(method, args)
        assert missing in agent.report(), method
        assert agent.attribute("location") == "toilet 1"
    await agent.call("goto", ("throne 1",))
    assert "No place here is called throne 1." in agent.report()


async def test_who_examines_a_thing_is_not_at_it() -> None:
    agent = Home().agent
    await agent.call("goto", ("toilet 1",))
    await agent.call("take", ("soapbar 1", "toilet 1"))
    assert "nothing special" in str(await agent.call("goto", ("soapbar 1",)))
    assert agent.attribute("location") == "toilet 1"
