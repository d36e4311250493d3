"""What stands in words beside the results table, from rows and faults."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from agents.decoding import ActionMode, PlanLevel
from agents.evaluation.mask import MaskTotals
from agents.evaluation.rounds import rounds_of
from agents.evaluation.row import EpisodeRow
from agents.evaluation.run_folder import Fault

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
    limits = f"{protocol['limits']['max_steps']} steps at most"
    if (rounds := rounds_of(protocol)) > 1:
        limits += f", {rounds} rounds at most"
    return f"{agent}{_looking_back(protocol)} in {world} {who}, {level}, {limits}"


def _looking_back(protocol: Mapping[str, Any]) -> str:
    """What the agent has besides its planner; empty for nothing."""
    parts = [protocol["agent"][part].get("name", "none") for part in ("reflection", "memory")]
    return "".join(
        f", {part} {name}"
        for part, name in zip(("reflection", "memory"), parts, strict=True)
        if name != "none"
    )


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


def of_rows(protocol: Mapping[str, Any], rows: Sequence[EpisodeRow]) -> Iterator[str]:
    """What rows say besides numbers: a line for all that there is something of."""
    if rows:
        yield acceptance(rows)
        tried = by_round(protocol, rows) if rounds_of(protocol) > 1 else ""
        yield from filter(None, (planning(rows), tried, notes(rows), cost(rows)))


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
    improved = sum(row.improvements for row in rows)
    asked = sum(row.questions for row in rows)
    rejected = sum(row.rejected_plans for row in rows)
    if not revised + improved + asked + rejected:
        return ""
    told = (
        f"plans: {revised} revisions in {sum(row.refinements > 0 for row in rows)} of {len(rows)}"
        f" episodes, {rejected} plans not taken; {asked} questions asked by plans"
    )
    return f"{told}; {improved} plans improved after a critique, untried" if improved else told


def by_round(protocol: Mapping[str, Any], rows: Sequence[EpisodeRow]) -> str:
    """What each round reached; a later one has only the tasks that were not achieved before."""
    told = []
    for number in sorted({row.round for row in rows}):
        own = [row for row in rows if row.round == number]
        score = fmean(row.last_score for row in own)
        won = sum(row.won for row in own)
        told.append(f"round {number}: {won} of {len(own)} won, score {score:.1f}")
    same = protocol["agent"]["memory"].get("name", "none") == "none"
    if same and protocol["decoding"]["temperature"] == 0 and protocol["engine"]["name"] != "random":
        told.append(
            "nothing tells one round from another (no memory, temperature 0), so that all are alike"
            " as far as the engine repeats itself; decoding=sampled makes them differ"
        )
    return "; ".join(told)


def notes(rows: Sequence[EpisodeRow]) -> str:
    """How much was noted, and what share of the tokens that took; empty where nothing was."""
    rejected = sum(row.rejected_notes for row in rows)
    sweet, sour = sum(row.sweet_notes for row in rows), sum(row.sour_notes for row in rows)
    if not sweet + sour + rejected:
        return ""
    generated = sum(row.generated_tokens for row in rows)
    share = sum(row.note_tokens for row in rows) / generated if generated else 0
    return (
        f"notes: {sweet} of sub-goals, {sour} of failures, {rejected} not taken; {share:.0%} of the"
        " tokens generated"
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
