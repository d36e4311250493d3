"""The admissible commands as text for a prompt, said short and complete.

A kitchen in ScienceWorld admits a thousand commands; written out they fill a small model's context.
Here the commands of one form share a line, which names what can stand in each place. Nothing is
added and nothing left out: a form whose places depend on each other is split until its lines are
exact.
"""

import re
from collections.abc import Iterable, Sequence

_MARKER = re.compile(r"(?<!\S)[A-Z]+(?!\S)")
"""A word of a template for which a name is put."""


def render(commands: Iterable[str], templates: Sequence[str]) -> str:
    """The listing, one form a line, in the order of `templates`; forms unknown to them come
    last.
    """
    left = sorted(set(commands))
    lines = ["Commands you can give now (for [a, b] say one of them):"]
    for template in templates:
        form = re.compile("(.+?)".join(map(re.escape, _MARKER.split(template))))
        matched = [command for command in left if form.fullmatch(command)]
        left = [command for command in left if command not in set(matched)]
        if matched:
            lines += _lines(template, [form.fullmatch(command) for command in matched])
    return "\n".join(lines + left)


def _lines(template: str, matches: Sequence[re.Match[str] | None]) -> list[str]:
    parts = _MARKER.split(template)
    places = [match.groups() for match in matches if match]
    if len(parts) == 1:
        return [template]
    if len(parts) == 2:
        return [parts[0] + _alternatives(place[0] for place in places) + parts[1]]
    seconds: dict[str, set[str]] = {}
    for first, second in places:
        seconds.setdefault(first, set()).add(second)
    everything = set().union(*seconds.values()) | set(seconds)
    if len(seconds) > 1 and all(
        others | {first} == everything and first not in others for first, others in seconds.items()
    ):
        groups, note = {frozenset(everything): list(seconds)}, " (two different things)"
    else:
        groups, note = {}, ""
        for first, others in seconds.items():
            groups.setdefault(frozenset(others), []).append(first)
    return [
        parts[0] + _alternatives(firsts) + parts[1] + _alternatives(others) + parts[2] + note
        for others, firsts in groups.items()
    ]


def _alternatives(names: Iterable[str]) -> str:
    ordered = sorted(set(names))
    return ordered[0] if len(ordered) == 1 else f"[{', '.join(ordered)}]"
