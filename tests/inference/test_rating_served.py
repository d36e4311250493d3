"""Ratings live through what answers live through."""

from pathlib import Path

import pytest

from inference.engine import Message, RatingRequest
from inference.errors import EngineFault
from tests.inference.fake_server import Fake
from tests.inference.served import served


def rating(text: str, *options: str) -> RatingRequest:
    return RatingRequest(id=f"test#{text}", messages=(Message("user", text),), options=options)


async def test_options_are_rated_in_one_exchange_where_they_part(
    fake: Fake, tmp_path: Path
) -> None:
    async with served(fake, tmp_path / "server.log") as bench:
        found = await bench.engine.rate(rating("where", "desk", "dresser", "bed"))
    assert found.logprobs == (-1.0, -1.0, -0.5)  # every choice is -0.5: d or b, then e or r
    assert (found.prompt_tokens, found.mended) == (len("where"), ())
    (sent,) = fake.log("scores")
    body = sent["body"]
    assert isinstance(body, dict)
    assert "structured_outputs" not in body
    assert found.scored_tokens == len(body["prompt"]) == 2


@pytest.mark.parametrize(
    ("text", "mended"), [("status 500 once", "Unanswered"), ("die once", "ServerGone")]
)
async def test_a_rating_is_asked_for_again_after_a_fault(
    fake: Fake, tmp_path: Path, text: str, mended: str
) -> None:
    async with served(fake, tmp_path / "server.log") as bench:
        found = await bench.engine.rate(rating(text, "desk", "bed"))
    assert found.logprobs == (-0.5, -0.5)
    assert found.mended == (mended,)


async def test_a_server_that_cannot_tell_probabilities_is_named(fake: Fake, tmp_path: Path) -> None:
    async with served(fake, tmp_path / "server.log") as bench:
        with pytest.raises(EngineFault, match=r"test#unscored: .*log-probabilities.*vLLM 0\.32"):
            await bench.engine.rate(rating("unscored", "desk", "bed"))
