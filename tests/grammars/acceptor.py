"""A grammar read once and asked often, as the engines' own reader understands it."""

import llguidance

from grammars import Grammar, GrammarKind


class Acceptor:
    """Says of whole texts whether a regex or a Lark grammar allows them."""

    def __init__(self, grammar: Grammar) -> None:
        if grammar.kind is GrammarKind.REGEX:
            source = llguidance.grammar_from("regex", grammar.source)
        else:
            source = llguidance.grammar_from("grammar", grammar.source)
        self._matcher = llguidance.LLMatcher(llguidance.LLTokenizer("byte"), source, log_level=0)
        assert not self._matcher.get_error(), self._matcher.get_error()

    def __call__(self, text: str) -> bool:
        self._matcher.reset()
        said = list(text.encode())
        return self._matcher.try_consume_tokens(said) == len(said) and self._matcher.is_accepting()
