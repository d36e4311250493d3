import os

import pytest

from tests.benchmarks.random_walks import tallies
from tests.grammars.tokenizers import TOKENIZERS, NotAtHand

WALKS = int(os.environ.get("GROUNDLING_WALKS", "3"))
"""Thousands are walked by the benchmark of the same name; here enough to notice a break."""


@pytest.mark.model
@pytest.mark.parametrize("name", TOKENIZERS)
def test_whatever_the_backend_lets_through_is_read_and_run_without_an_error(name: str) -> None:
    try:
        for tally in tallies(WALKS, WALKS, [name]):
            assert tally.failures == []
            assert tally.walks == WALKS
            assert tally.tokens > 0
            if "typed" in tally.name or "skeleton" in tally.name:
                assert tally.unassigned == 0
    except NotAtHand as missing:
        pytest.skip(str(missing))
