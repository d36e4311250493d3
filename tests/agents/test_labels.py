from pathlib import Path
from typing import Any

from agents.evaluation.labels import common_model, labels, letters


def card(
    agent: str = "react", model: str = "m", engine: str = "vllm", world: str = "w", **decoding: str
) -> Any:
    return {
        "setting": {"agent": agent},
        "protocol": {
            "agent": {"planner": {"name": agent}},
            "engine": {"name": engine},
            "model": {"name": model},
            "prompts": {"world": world},
            "world": {"split": f"split of {world}"},
            "decoding": decoding,
        },
    }


def labelled(*cards: Any, folders: tuple[str, ...] = ()) -> list[str]:
    named = folders or tuple(f"r{number}" for number in range(len(cards)))
    return labels([Path(name) for name in named], cards)


def test_a_run_alone_is_called_by_its_agent_and_its_model() -> None:
    assert labelled(card()) == ["react, m"]
    assert labelled(card(engine="random")) == ["react, at random"]


def test_a_model_that_all_have_is_not_said_each_time() -> None:
    cards = [card("react"), card("act")]
    assert labelled(*cards) == ["react", "act"]
    assert common_model(cards) == "m"
    assert labelled(card("react"), card("act", engine="random")) == ["react, m", "act, at random"]


def test_runs_of_one_agent_are_told_apart_by_what_differs_and_by_nothing_else() -> None:
    found = labelled(
        card("adaplanner", plan="free", actions="enforced"),
        card("adaplanner", plan="typed", actions="enforced"),
        card("act", actions="enforced"),
    )
    assert found == ["adaplanner, plans free", "adaplanner, plans typed", "act"]


def test_runs_of_two_worlds_may_have_one_name() -> None:
    assert labelled(card(world="a"), card(world="b")) == ["react", "react"]


def test_runs_that_are_alike_are_called_by_their_folders() -> None:
    assert labelled(card(), card(), folders=("a", "b")) == ["react, a", "react, b"]


def test_no_name_holds_a_character_that_cannot_be_seen() -> None:
    assert labelled(card(model="m\x1b[31m\n")) == ["react, m [31m "]


def test_letters_go_on_after_z() -> None:
    assert letters(28)[-3:] == ["Z", "AA", "AB"]
