"""RCI (Kim et al. 2023, "Language Models can Solve Computer Tasks"): recursively criticise and
improve.

The model writes a plan in words, says what is wrong with it and writes it again (explicit RCI, so
often as `critiques` says). Then it acts, and grounds every action in three questions: which step of
the plan is next (task grounding), what that means as things are now (state grounding), and which
command that is (agent grounding).

Departures: the paper's prompts were written for one world; ours are the same in all, and the
world's own prompt, with its forms of commands and a worked example, stands before them. Its
demonstrations are our worked examples for plans, told in words. Under a grammar of actions
(`decoding.actions=template|enforced`) the plan is a numbered list and the next step one of its
lines; else all of it is free text.
"""

from agents.planners.rci.settings import Rci

__all__ = ["Rci"]
