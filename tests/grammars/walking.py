"""Random walks: at each token, any of those that the backend allows, all with equal chance."""

from dataclasses import dataclass
from random import Random

import llguidance
import llguidance.numpy
import numpy as np

from grammars import Grammar, GrammarKind
from grammars.forms import Blank, Form
from inference.constraint import alternatives

TIGHT = llguidance.LLParserLimits(step_max_items=10_000)
"""A fifth of the backend's own limit, which a server cannot raise: room for other vocabularies."""


class BackendLimit(Exception):
    """The backend gave up: in a server, it would have ended the answer without a word."""


class Endless(Exception):
    """The walk did not end within the tokens it had."""


@dataclass(frozen=True, slots=True)
class Walk:
    """One finished string."""

    text: str
    tokens: int


def matcher(grammar: Grammar, tokenizer: llguidance.LLTokenizer) -> llguidance.LLMatcher:
    """The grammar under the backend's limits, tightened."""
    match grammar.kind:
        case GrammarKind.CFG:
            source = llguidance.grammar_from("lark", grammar.source)
        case GrammarKind.CHOICE:
            source = llguidance.grammar_from("regex", alternatives(grammar.options))
        case GrammarKind.REGEX:
            source = llguidance.grammar_from("regex", grammar.source)
        case GrammarKind.JSON:
            source = llguidance.grammar_from("json", grammar.source)
    found = llguidance.LLMatcher(tokenizer, source, log_level=0, limits=TIGHT)
    if error := found.get_error():
        raise ValueError(f"the backend cannot read the grammar: {error}")
    return found


def walk(
    grammar: Grammar, tokenizer: llguidance.LLTokenizer, random: Random, most_tokens: int = 5000
) -> Walk:
    """A string of the grammar.

    Raises:
        BackendLimit: the backend gave up.
        Endless: `most_tokens` were not enough.
    """
    state = matcher(grammar, tokenizer)
    mask = llguidance.numpy.allocate_token_bitmask(1, tokenizer.vocab_size)
    said: list[int] = []
    while len(said) < most_tokens:
        llguidance.numpy.fill_next_token_bitmask(state, mask, 0)
        if error := state.get_error():
            raise BackendLimit(error)
        token = pick(mask[0].view(np.uint32), random)
        if token == tokenizer.eos_token:
            return Walk(tokenizer.decode_str(said), len(said))
        state.consume_token(token)
        said.append(token)
        if error := state.get_error():
            raise BackendLimit(error)
        if state.is_stopped():
            return Walk(tokenizer.decode_str(said), len(said))
    raise Endless(tokenizer.decode_str(said)[-200:])


def walk_form(form: Form, tokenizer: llguidance.LLTokenizer, random: Random) -> Walk:
    """A form, each of its blanks filled by a walk."""
    answers: list[str] = []
    text, tokens = "", 0
    while isinstance(blank := form.next(answers), Blank):
        step = walk(blank.grammar, tokenizer, random)
        answers.append(step.text)
        text += blank.lead + step.text
        tokens += step.tokens
    return Walk(text + blank.text, tokens)


def pick(words: "np.ndarray[tuple[int], np.dtype[np.uint32]]", random: Random) -> int:
    """One of the set bits: by trial where many are set, else by counting."""
    bits = len(words) * 32
    for _ in range(20):
        token = random.randrange(bits)
        if words[token >> 5] >> (token & 31) & 1:
            return token
    filled = np.flatnonzero(words)
    allowed = [
        int(word) * 32 + bit for word in filled for bit in range(32) if words[word] >> bit & 1
    ]
    return random.choice(allowed)
