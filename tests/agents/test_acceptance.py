"""What a model said is taken whole or not at all, and every kind of refusal is counted."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.acceptance import Rejection, rejection
from agents.decoding import ActionMode, Decoding
from agents.evaluation.episode import Episode, StopReason
from agents.evaluation.row import EpisodeRow
from agents.evaluation.run_folder import read_rows
from grammars import Grammar
from inference.engine import Completion, FinishReason, MaskEffect, Request
from inference.scripted import ScriptedEngine
from tests.agents.corridor import CorridorTasks
from tests.agents.playing import REACT, play

ONE = CorridorTasks(count=1)
FREE = Decoding(actions=ActionMode.hidden, max_action_tokens=3, max_thought_tokens=3)


def completion(text: str, finish: FinishReason = FinishReason.STOP) -> Completion:
    return Completion(
        text=text,
        finish_reason=finish,
        prompt_tokens=1,
        cached_tokens=0,
        generated_tokens=1,
        seconds=0.0,
    )


@pytest.mark.parametrize(
    ("answer", "grammar", "verdict"),
    [
        (completion("east"), Grammar.choice(["east"]), None),
        (completion("east "), Grammar.choice(["east"]), Rejection.MALFORMED),
        (completion("eas"), Grammar.choice(["east"]), Rejection.MALFORMED),
        (completion("east", FinishReason.LENGTH), Grammar.choice(["east"]), Rejection.TRUNCATED),
        (completion("anything"), None, None),
        (completion("anything", FinishReason.LENGTH), None, Rejection.TRUNCATED),
    ],
)
def test_an_answer_is_taken_if_it_ended_by_itself_and_matches_whole(
    answer: Completion, grammar: Grammar | None, verdict: Rejection | None
) -> None:
    assert rejection(answer, grammar) is verdict


def trajectory(folder: Path, row: EpisodeRow) -> Any:
    return json.loads((folder / row.trajectory).read_text())


@pytest.mark.parametrize(
    ("said", "kind", "decoding"),
    [
        ("I would go east now", Rejection.TRUNCATED, FREE),
        ("eas", Rejection.MALFORMED, Decoding(actions=ActionMode.enforced)),
    ],
)
async def test_what_is_not_taken_spends_a_step_is_told_to_the_model_and_never_reaches_the_world(
    tmp_path: Path, said: str, kind: Rejection, decoding: Decoding
) -> None:
    engine = ScriptedEngine(["east", said, "east"], check=False)
    await play(engine, tmp_path, tasks=ONE, decoding=decoding)
    (row,) = read_rows(tmp_path)
    assert (row.rejected, row.scores, row.stop) == (
        {kind.value: 1},
        (50.0, 50.0, 100.0),
        StopReason.SOLVED,
    )
    assert (row.invalid_actions, row.rewritten_actions, len(row.scores)) == (0, 0, 3)
    step = trajectory(tmp_path, row)["steps"][1]
    assert (step["action"], step["observation"], step["rejected"]) == ("", kind.notice, kind)
    assert (step["reward"], step["invalid"], step["done"]) == (0.0, False, False)
    told = engine.requests[2].messages[-2:]
    assert said.startswith(told[0].content)
    assert told[1].content == kind.notice


async def test_an_episode_of_answers_that_are_not_taken_ends_at_the_step_limit(
    tmp_path: Path,
) -> None:
    engine = ScriptedEngine(lambda _: "one two three four five")
    await play(engine, tmp_path, tasks=ONE, decoding=FREE, max_steps=4)
    (row,) = read_rows(tmp_path)
    assert (row.rejected, row.stop, row.scores) == (
        {"truncated": 4},
        StopReason.MAX_STEPS,
        (0.0,) * 4,
    )


async def test_a_thought_that_was_cut_short_stays_a_thought_and_is_counted(tmp_path: Path) -> None:
    engine = ScriptedEngine(["think: a b c d", "east", "think: e", "east"])
    await play(engine, tmp_path, tasks=ONE, planner=REACT, decoding=FREE)
    (row,) = read_rows(tmp_path)
    assert (row.thoughts, row.cut_thoughts, row.rejected, row.won) == (2, 1, {}, True)
    assert trajectory(tmp_path, row)["steps"][0]["thoughts"] == ["think: a b"]


async def test_a_thought_that_the_grammar_forbids_is_not_taken(tmp_path: Path) -> None:
    engine = ScriptedEngine(["think:", "east", "east"], check=False)
    await play(engine, tmp_path, tasks=ONE, planner=REACT)
    (row,) = read_rows(tmp_path)
    assert (row.thoughts, row.rejected) == (0, {"malformed": 1})


class MeasuringEngine(ScriptedEngine):
    """Says what the grammar changed in every answer, and that each was asked twice."""

    async def generate(self, request: Request) -> Completion:
        answer = await super().generate(request)
        legal = 2 if answer.text == "east" else 1
        effect = MaskEffect(tokens=2, logprob=-1.5, legal_choices=legal)
        return replace(
            answer, mask=effect if request.measure_mask else None, mended=("TimedOut", "Unanswered")
        )


async def test_what_the_grammar_changed_and_what_was_mended_is_kept_and_summed(
    tmp_path: Path,
) -> None:
    await play(MeasuringEngine(["west", "east", "east"]), tmp_path, tasks=ONE)
    (row,) = read_rows(tmp_path)
    assert row.mended == {"TimedOut": 3, "Unanswered": 3}
    assert (row.mask.answers, row.mask.legal_answers) == (3, 2)
    assert (row.mask.tokens, row.mask.legal_tokens, row.mask.logprob) == (6, 5, -4.5)
    data = trajectory(tmp_path, row)
    episode = Episode.from_json(data)
    assert json.loads(json.dumps(episode.to_json())) == data
    assert episode.steps[0].calls[0].mask == MaskEffect(tokens=2, logprob=-1.5, legal_choices=1)
    assert EpisodeRow.of(episode, row.trajectory, row.trajectory_sha256) == row


async def test_the_mask_is_not_measured_where_nobody_wants_it(tmp_path: Path) -> None:
    engine = MeasuringEngine(["east", "east"])
    await play(engine, tmp_path, tasks=ONE, decoding=Decoding(measure_mask=0.0))
    (row,) = read_rows(tmp_path)
    assert (row.mask.answers, row.mask.legal_share) == (0, None)


def test_a_share_of_the_answers_is_measured_and_always_the_same_ones() -> None:
    ids = [f"c/0#0.a1.c{number}" for number in range(1000)]
    measured = [each for each in ids if Decoding(measure_mask=0.1).measures(each)]
    assert 70 < len(measured) < 130
    assert measured == [each for each in ids if Decoding(measure_mask=0.1).measures(each)]
    assert all(Decoding().measures(each) for each in ids)
    assert not any(Decoding(measure_mask=0.0).measures(each) for each in ids)
