"""What may be said: pure data, no tokenizer, no server, no I/O."""

from grammars.grammar import Grammar, GrammarKind

__all__ = ["Grammar", "GrammarKind"]
