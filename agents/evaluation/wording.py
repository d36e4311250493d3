"""What stands in words beside the results table, from rows and faults."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from agents.decoding import ActionMode, PlanLevel
from agents.evaluation.episode import EpisodeRow
from agents.evaluation.mask import MaskTotals
from agents.evaluation.store import Fault

_HELP_IN_WORDS = "they are in words; the grammar keeps them to numbered lists of short lines"


def title(protocol: Mapping[str, Any]) -> str:
    """Who played what, under which limits."""
    agent, world = protocol["agent"]["planner"]["name"], protocol["prompts"]["world"]
    model, engine = protocol["model"]["name"], protocol["engine"]["name"]
    who = "choosing at random" if engine == "random" else f"with {model} on {engine}"
    decoding = protocol["decoding"]
    level = f"actions {decoding['actions']}"
    if _acts_by_code(protocol):
        level = f"plans {decoding['plan']}"
    return f"{agent} in {world} {who}, {level}, {protocol['limits']['max_steps']} steps at most"


def help_given(protocol: Mapping[str, Any]) -> Iterator[str]:
    """How much of the work the decoding level does, a line for actions and one for plans."""
    decoding = protocol["decoding"]
    if not _acts_by_code(protocol):
        actions = ActionMode(decoding["actions"])
        yield f"help for actions, {actions.value}: {actions.help}"
    if "plan" in decoding:
        plan = PlanLevel(decoding["plan"])
        in_words = protocol["agent"]["planner"].get("code") is False and plan is PlanLevel.syntax
        yield f"help for plans, {plan.value}: {_HELP_IN_WORDS if in_words else plan.help}"
    if skills := protocol["agent"]["planner"].get("skills"):
        yield f"skills: worked examples of like tasks come from a library ({skills})"


def _acts_by_code(protocol: Mapping[str, Any]) -> bool:
    """Whether its actions are what a plan calls, so that no grammar chooses among them."""
    return "plan" in protocol["decoding"] and protocol["agent"]["planner"].get("code") is not False


def not_evaluated(faults: Sequence[Fault]) -> Iterator[str]:
    """Each episode that was given up with its last fault, and how many of each kind."""
    last = {fault.key: fault for fault in faults}
    for fault in last.values():
        yield (
            f"not evaluated: {fault.key.id} after {fault.attempt} attempts:"
            f" {fault.boundary}: {fault.message}"
        )
    if last:
        kinds = Counter(fault.boundary for fault in last.values())
        yield f"not evaluated, by kind: {_counted(kinds)}"


def acceptance(rows: Iterable[EpisodeRow]) -> str:
    """Which answers were not taken, and which faults of the engine were mended, by kind."""
    rejected, mended, cut = Counter[str](), Counter[str](), 0
    for row in rows:
        rejected.update(row.rejected)
        mended.update(row.mended)
        cut += row.cut_thoughts
    return (
        f"answers not taken, each a step spent: {_counted(rejected)}; thoughts cut short: {cut};"
        f" faults mended on the way: {_counted(mended)}"
    )


def planning(rows: Sequence[EpisodeRow]) -> str:
    """How much was planned; empty where nothing was."""
    revised = sum(row.refinements for row in rows)
    asked = sum(row.questions for row in rows)
    rejected = sum(row.rejected_plans for row in rows)
    if not revised + asked + rejected:
        return ""
    return (
        f"plans: {revised} revisions in {sum(row.refinements > 0 for row in rows)} of {len(rows)}"
        f" episodes, {rejected} plans not taken; {asked} questions asked by plans"
    )


def cost(rows: Sequence[EpisodeRow]) -> str:
    """What the run took, and how likely the model itself found what it said."""
    prompt = sum(row.prompt_tokens for row in rows)
    cached = sum(row.cached_tokens for row in rows)
    line = (
        f"{sum(row.model_calls for row in rows)} model calls, {prompt} prompt tokens"
        f" ({cached / prompt if prompt else 0:.0%} from the prefix cache),"
        f" {sum(row.generated_tokens for row in rows)} generated;"
        f" {sum(row.dropped_turns > 0 for row in rows)} episodes with turns dropped from the prompt"
    )
    likely = MaskTotals.together(row.mask for row in rows).token_probability
    if likely is not None:
        line += (
            f"; the model itself gave a token said under the grammar {likely:.2g} (geometric mean)"
        )
    return line


def _counted(kinds: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "none"
