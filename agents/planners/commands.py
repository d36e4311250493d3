"""The grammar of the next command, for planners that give the world's commands one by one."""

from collections.abc import Sequence

from agents.decoding import ActionMode
from envs.world import Observation
from grammars import Grammar
from grammars.actions import enforced_action, template_action
from grammars.browser import TAG, element_action, page_action


def command_grammar(
    now: Observation, mode: ActionMode, words: Sequence[str] = (), *, thoughts: bool = False
) -> Grammar | None:
    """What may be said now: a command, one of these other words, or a thought; None for anything.

    On a page, which names tags, what can be typed has no end: there typing is free in both modes,
    `template` makes XPaths of the names on the page, and `enforced` offers one XPath for each
    element that is shown.
    """
    page = TAG in now.names
    match mode:
        case ActionMode.hidden | ActionMode.listed:
            return None
        case ActionMode.template if page:
            return page_action(now.names, words, thoughts=thoughts)
        case ActionMode.template:
            return template_action((*now.templates, *words), now.names, thoughts=thoughts)
        case ActionMode.enforced if page:
            names = now.names
            return element_action(names["XPATH"], names["OPTION"], words, thoughts=thoughts)
        case ActionMode.enforced:
            return enforced_action((*now.admissible, *words), thoughts=thoughts)
