import json
from pathlib import Path

import pytest

from grammars import Grammar
from inference.engine import FinishReason, Message, Request, Sampling
from inference.errors import RequestError, ServerSetupError
from inference.model import ModelSpec
from inference.scripted import Scripted, ScriptedEngine, ScriptExhausted, ScriptMismatch


def ask(
    text: str = "what now",
    *,
    id: str = "task#t1",
    grammar: Grammar | None = None,
    stop: tuple[str, ...] = (),
    max_tokens: int = 100,
) -> Request:
    return Request(
        id=id,
        messages=(Message("user", text),),
        grammar=grammar,
        stop=stop,
        sampling=Sampling(max_tokens=max_tokens),
    )


async def test_replies_come_in_order_and_requests_are_kept() -> None:
    engine = ScriptedEngine(["go east", "take the lamp"])
    first = await engine.generate(ask("a b c"))
    assert (first.text, first.finish_reason) == ("go east", FinishReason.STOP)
    assert (first.prompt_tokens, first.generated_tokens) == (3, 2)
    assert (await engine.generate(ask(id="other#t2"))).text == "take the lamp"
    assert [request.id for request in engine.requests] == ["task#t1", "other#t2"]
    assert engine.status().generated_tokens == 5


async def test_running_out_is_an_error_that_names_the_request() -> None:
    engine = ScriptedEngine(["only one"])
    await engine.generate(ask())
    with pytest.raises(ScriptExhausted, match=r"task#t1.*1 replies"):
        await engine.generate(ask())


async def test_each_task_has_replies_of_its_own() -> None:
    engine = ScriptedEngine({"4-2/225": ["a", "b"], "9": ["c"]})
    said = [
        (await engine.generate(ask(id=id))).text for id in ("4-2/225#r1.t1", "9#t1", "4-2/225#r2")
    ]
    assert said == ["a", "c", "b"]
    with pytest.raises(ScriptExhausted, match="task 7"):
        await engine.generate(ask(id="7#t1"))


async def test_a_rule_sees_the_request() -> None:
    engine = ScriptedEngine(lambda request: request.messages[-1].content.upper())
    assert (await engine.generate(ask("hello"))).text == "HELLO"


async def test_a_reply_that_the_grammar_forbids_is_refused_unless_asked_for() -> None:
    grammar = Grammar.choice(["look", "wait"])
    assert (await ScriptedEngine(["look"]).generate(ask(grammar=grammar))).text == "look"
    with pytest.raises(ScriptMismatch, match="forbids the scripted reply 'jump'"):
        await ScriptedEngine(["jump"]).generate(ask(grammar=grammar))
    assert (
        await ScriptedEngine(["jump"], check=False).generate(ask(grammar=grammar))
    ).text == "jump"


async def test_the_first_stop_string_ends_the_answer() -> None:
    completion = await ScriptedEngine(["go east\nthen > west"]).generate(ask(stop=(">", "\n")))
    assert (completion.text, completion.finish_reason) == ("go east", FinishReason.STOP)


@pytest.mark.parametrize(("limit", "text"), [(2, "one two"), (1, "one")])
async def test_an_answer_longer_than_allowed_is_cut(limit: int, text: str) -> None:
    completion = await ScriptedEngine(["one two three"]).generate(ask(max_tokens=limit))
    assert (completion.text, completion.finish_reason) == (text, FinishReason.LENGTH)
    assert completion.generated_tokens == limit


async def test_a_prompt_that_fills_the_context_is_refused_and_a_shorter_one_cut() -> None:
    engine = ScriptedEngine(["one two three"] * 2, context_length=4)
    with pytest.raises(RequestError, match=r"5 prompt tokens.*context of 4"):
        await engine.generate(ask("a b c d e"))
    assert (await engine.generate(ask("a b"))).text == "one two"


async def test_a_script_is_read_from_a_file(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("4-2/225:\n  - go east\n  - |-\n    two\n    lines\n")
    spec = ModelSpec(name="m", context_length=77)
    async with Scripted(script=str(script)).open(spec, tmp_path) as engine:
        assert (await engine.generate(ask(id="4-2/225#1"))).text == "go east"
        assert (await engine.generate(ask(id="4-2/225#2"))).text == "two\nlines"
        assert engine.card.context_length == 77
        assert len(engine.card.identity["script"]) == 64
    script.write_text(json.dumps(["a"]))
    async with Scripted(script=str(script), context_length=5).open(spec, tmp_path) as engine:
        assert (await engine.generate(ask())).text == "a"
        assert engine.card.context_length == 5


@pytest.mark.parametrize("content", ["- yes", "- 3", "text", "4: [a]", "a: b", "[unclosed"])
async def test_a_file_that_holds_no_texts_is_refused(tmp_path: Path, content: str) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(content)
    with pytest.raises(ServerSetupError, match=r"script\.yaml"):
        async with Scripted(script=str(script)).open(ModelSpec(name="m"), tmp_path):
            pass


async def test_a_script_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ServerSetupError, match=r"engine\.script=''"):
        async with Scripted().open(ModelSpec(name="m"), tmp_path):
            pass
