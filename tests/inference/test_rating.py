import pytest

from inference.engine import Message, RatingRequest
from inference.random_engine import RandomEngine
from inference.rating import Place, RatingPaths, with_option
from inference.scripted import ScriptedEngine, ScriptMismatch

PROMPT = (1, 2, 3)


def paths(*options: tuple[int, ...]) -> RatingPaths:
    return RatingPaths.of(PROMPT, [(*PROMPT, *option) for option in options])


def request(*options: str) -> RatingRequest:
    return RatingRequest(id="t#0.q0", messages=(Message("user", "Where?"),), options=options)


def test_the_model_is_asked_only_where_options_part() -> None:
    rated = paths((7, 8, 9), (7, 8, 5), (6, 4, 4, 4))
    assert rated.places == (Place(PROMPT, (7, 6)), Place((*PROMPT, 7, 8), (9, 5)))


def test_an_options_rating_is_the_product_of_its_choices() -> None:
    rated = paths((7, 8, 9), (7, 8, 5), (6, 4, 4, 4))
    found = rated.logprobs([{7: -1.0, 6: -2.0}, {9: -0.25, 5: -4.0}])
    assert found == (-1.25, -5.0, -2.0)


def test_one_option_alone_is_no_choice() -> None:
    rated = paths((7, 8))
    assert rated.places == ()
    assert rated.logprobs([]) == (0.0,)


def test_a_tokenizer_may_join_the_end_of_the_prompt_and_the_option() -> None:
    joined = RatingPaths.of(PROMPT, [(1, 2, 30), (1, 2, 31)])
    assert joined.places == (Place((1, 2), (30, 31)),)


def test_an_option_goes_on_with_an_answer_that_was_begun() -> None:
    asked = Message("user", "Where?")
    assert with_option((asked,), "desk") == (asked, Message("assistant", "desk"))
    begun = (asked, Message("assistant", "On the "))
    assert with_option(begun, "desk") == (asked, Message("assistant", "On the desk"))


async def test_a_script_rates_by_naming_the_likeliest_first() -> None:
    engine = ScriptedEngine(["bed, desk", "sofa"])
    first = await engine.rate(request("desk", "shelf", "bed"))
    assert sorted(zip(first.logprobs, ("desk", "shelf", "bed"), strict=True), reverse=True) == [
        (0.0, "bed"),
        (-1.0, "desk"),
        (-2.0, "shelf"),
    ]
    with pytest.raises(ScriptMismatch, match="'sofa', which is not one of the options"):
        await engine.rate(request("desk", "bed"))


async def test_chance_rates_by_its_seed_and_the_requests_id_alone() -> None:
    one, other = (RandomEngine(seed=seed, context_length=100) for seed in (0, 1))
    rating = await one.rate(request("a", "b", "c"))
    assert rating.logprobs == (await one.rate(request("a", "b", "c"))).logprobs
    assert rating.logprobs != (await other.rate(request("a", "b", "c"))).logprobs
    firsts = set()
    for number in range(50):
        asked = RatingRequest(id=f"t#{number}", messages=(), options=("a", "b", "c"))
        logprobs = (await one.rate(asked)).logprobs
        firsts.add(logprobs.index(max(logprobs)))
    assert firsts == {0, 1, 2}
