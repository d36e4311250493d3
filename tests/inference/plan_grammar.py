"""A grammar of the size and shape of real plans: a Python function of guarded steps."""

from grammars import Grammar, GrammarKind

_DEPTHS = range(1, 5)
_VERBS = ("go_to", "take", "put", "open", "close", "clean", "heat", "cool", "look", "ask")


def _block(depth: int) -> str:
    """The statements of one depth of indentation; blocks end at the fourth."""
    inside = f" | if{depth} | for{depth} | while{depth}" if depth < max(_DEPTHS) else ""
    rules = (
        f"block{depth}: line{depth} | block{depth} line{depth}\n"
        f"line{depth}: IND{depth} simple NL{inside}\n"
        f'IND{depth}: "{" " * 4 * depth}"\n'
    )
    if inside:
        deeper = f"NL block{depth + 1}"
        rules += (
            f'if{depth}: IND{depth} "if " test ":" {deeper} else{depth}?\n'
            f'else{depth}: IND{depth} "else:" {deeper}\n'
            f'for{depth}: IND{depth} "for " NAME " in " expr ":" {deeper}\n'
            f'while{depth}: IND{depth} "while " test ":" {deeper}\n'
        )
    return rules


_CALLS = "\n".join(f'call_{verb}: "agent.{verb}(" args? ")"' for verb in _VERBS)

PLAN = Grammar(
    GrammarKind.CFG,
    'start: "def solution(agent, start_from=1):" NL block1\n'
    + "".join(map(_block, _DEPTHS))
    + "simple: assign | call | assertion | jump | return\n"
    'assign: NAME (" = " | " += ") expr\n'
    'assertion: "assert " test ", agent.report()"\n'
    'jump: "break" | "continue" | "pass"\n'
    'return: "return" (" " expr)?\n'
    "test: comparison | test BOOL comparison\n"
    "comparison: expr | expr COMPARE expr\n"
    "expr: term | expr ARITHMETIC term\n"
    "term: NAME | NUMBER | STRING | list | call | index | method\n"
    'list: "[" args? "]"\n'
    'index: NAME "[" expr "]"\n'
    'method: NAME "." NAME "(" args? ")"\n'
    'args: expr | args ", " expr\n'
    f"call: {' | '.join(f'call_{verb}' for verb in _VERBS)}\n"
    f"{_CALLS}\n"
    'BOOL: " and " | " or "\n'
    'COMPARE: " == " | " != " | " <= " | " >= " | " < " | " > " | " in " | " not in "\n'
    'ARITHMETIC: " + " | " - " | " * "\n'
    "NAME: /[a-z_][a-z0-9_]*/ & ~/and|or|not|in|if|else|for|while|def|return|assert|pass/\n"
    "NUMBER: /[0-9]+/\n"
    "STRING: /'[^'\\\\\\n]*'/\n"
    "NL: /\\n/\n",
)
