"""One episode told from beginning to end for a terminal: lines of styled text, nothing computed."""

import difflib
from collections.abc import Iterable, Iterator, Sequence

from rich.text import Text

from agents.evaluation.episode import Episode, Step
from agents.memory import NoteKind
from agents.planners import ModelCall, PlanRecord, Purpose
from agents.reflection import ReflectionRecord

INDENT = "     "

FAINT, HEAD, ACTION, THOUGHT, GOOD, BAD, PLAN, NOTE = (
    *("dim", "bold", "bold cyan", "italic", "green", "red"),
    *("blue", "magenta"),
)

SPOKEN = {
    Purpose.ASK: "the plan asks",
    Purpose.RESUME: "resumes at",
    Purpose.CHECK: "syntax repaired",
    Purpose.CRITICISE: "critique",
    Purpose.STEP: "next step of the plan",
    Purpose.GROUND: "here and now",
}
"""Answers of the model that are told where they were given; thoughts, actions, plans and notes are
told as what they became.
"""


def tell(episode: Episode, *, prompts: bool) -> Iterator[Text]:
    """The whole episode.

    Args:
        episode: as it was recorded.
        prompts: whether the first prompt is told whole, or only how long it is.
    """
    yield from _heading(episode)
    yield from _prompt(episode, whole=prompts)
    yield Text("\nfirst look", HEAD)
    yield from _block(episode.first_observation)
    plans = list(_plans(episode.plans))
    notes = list(episode.reflections)
    recalled: tuple[str, ...] = ()
    for number, step in enumerate(episode.steps, start=1):
        yield Text("")
        while plans and plans[0].before < number:
            yield from plans.pop(0).lines
        if step.recalled != recalled:
            recalled = step.recalled
            yield _aside(f"notes in the prompt: {', '.join(recalled) or 'none'}")
        yield from _step(number, step)
        while notes and notes[0].step <= number:
            yield from _note(notes.pop(0))
    yield Text("")
    for plan in plans:
        yield from plan.lines
    yield from _spoken(episode.unspent_calls)
    for thought in episode.unspent_thoughts:
        yield from _block(thought, THOUGHT)
    if episode.last_failure:
        yield Text(f"{INDENT}plan {len(episode.plans)} told:", PLAN)
        yield from _block(episode.last_failure, FAINT)
    for record in notes:
        yield from _note(record)
    yield _outcome(episode)


def _heading(episode: Episode) -> Iterator[Text]:
    name = f" {episode.name}" if episode.name else ""
    yield Text(f"{episode.key.id}  {episode.kind}{name}", HEAD)
    yield Text.assemble(("goal: ", HEAD), episode.goal)
    yield _outcome(episode)
    calls = [call for step in episode.steps for call in step.calls]
    calls += [*episode.unspent_calls, *(record.call for record in episode.reflections)]
    attempts = f", attempt {episode.attempts}" if episode.attempts > 1 else ""
    yield _aside(
        f"{len(calls)} calls, {sum(call.prompt_tokens for call in calls)} prompt tokens"
        f" ({sum(call.cached_tokens for call in calls)} cached),"
        f" {sum(call.generated_tokens for call in calls)} generated;"
        f" model {sum(call.seconds for call in calls):.1f} s,"
        f" world {sum(step.world_seconds for step in episode.steps):.2f} s,"
        f" in all {episode.seconds:.1f} s{attempts}; seed {episode.seed}",
        indent="",
    )
    if episode.memory_before or episode.memory_after:
        before, after = episode.memory_before or "empty", episode.memory_after or "empty"
        yield _aside(f"memory: {before} before, {after} after", indent="")


def _outcome(episode: Episode) -> Text:
    scores = [step.score for step in episode.steps]
    last, best = (scores[-1], max(0.0, *scores)) if scores else (0.0, 0.0)
    said = f"score {last:g}" + (f" (best {best:g})" if best != last else "")
    counted = (
        ("invalid", sum(step.invalid for step in episode.steps)),
        ("not taken", sum(step.rejected is not None for step in episode.steps)),
        ("rewritten", sum(step.rewritten for step in episode.steps)),
    )
    told = [said, f"{len(scores)} steps", *(f"{count} {what}" for what, count in counted if count)]
    outcome = ("won", GOOD) if episode.won else (f"not won: {episode.stop.value}", BAD)
    return Text.assemble(outcome, f", {', '.join(told)}")


def _prompt(episode: Episode, *, whole: bool) -> Iterator[Text]:
    messages = episode.first_prompt
    if not whole:
        length = sum(len(message["content"]) for message in messages)
        yield _aside(
            f"first prompt: {len(messages)} messages, {length} characters; --prompts shows them",
            indent="",
        )
        return
    for message in messages:
        yield Text(f"\nfirst prompt, {message['role']}", HEAD)
        yield from _block(message["content"])


def _step(number: int, step: Step) -> Iterator[Text]:
    yield from _spoken(step.calls)
    for thought in step.thoughts:
        yield from _block(thought, THOUGHT)
    said = next((call.text for call in reversed(step.calls) if call.purpose is Purpose.ACT), "")
    if step.rejected:
        yield Text.assemble((f"{number:3}  ", FAINT), (f"not taken ({step.rejected.value}): ", BAD))
        yield from _block(said, BAD)
    else:
        action = Text.assemble((f"{number:3}  ", FAINT), (f"> {step.action}", ACTION))
        yield _beside(action, _cost(step))
        if step.rewritten:
            yield _aside(f"the model wrote: {said!r}")
    yield from _block(step.observation, BAD if step.invalid else "")
    if told := list(_consequences(step)):
        yield Text(f"{INDENT}{', '.join(told)}", GOOD if step.reward >= 0 else BAD)


def _consequences(step: Step) -> Iterator[str]:
    if step.invalid:
        yield "not understood"
    if step.reward:
        yield f"reward {step.reward:+g}, score {step.score:g}"
    if step.subgoals:
        yield f"reached: {', '.join(step.subgoals)}"
    if step.done or step.won:
        yield "won" if step.won else "the world ends the episode"


def _cost(step: Step) -> str:
    if not step.calls:
        return ""
    calls = step.calls
    told = [
        f"{sum(call.generated_tokens for call in calls)} tokens",
        f"{sum(call.seconds for call in calls):.1f} s",
    ]
    if dropped := max(call.dropped_turns for call in calls):
        told.append(f"{dropped} turns dropped")
    if mended := [kind for call in calls for kind in call.mended]:
        told.append(f"mended: {', '.join(mended)}")
    measured = [call.mask for call in calls if call.mask]
    if measured:
        legal = sum(mask.legal_choices for mask in measured)
        told.append(f"legal tokens {legal}/{sum(mask.tokens for mask in measured)}")
    return ", ".join(told)


class _Told:
    """The lines of a plan and where they belong."""

    def __init__(self, before: int, lines: Sequence[Text]) -> None:
        self.before = before
        """The plan was written when so many actions were taken."""
        self.lines = lines


def _plans(plans: Iterable[PlanRecord]) -> Iterator[_Told]:
    """The first whole, each revision as what it changed of the last one that was run."""
    current: PlanRecord | None = None
    for number, plan in enumerate(plans, start=1):
        lines = list(_plan(number, plan, current))
        yield _Told(plan.after_actions, lines)
        if plan.rejected is None:
            current = plan


def _plan(number: int, plan: PlanRecord, before: PlanRecord | None) -> Iterator[Text]:
    if plan.reason:
        where = "" if plan.failed_step is None else f" at step {plan.failed_step}"
        yield Text(f"{INDENT}plan {number - 1} told{where}:", PLAN)
        yield from _block(plan.reason, FAINT)
    rejected = f", not run ({plan.rejected.value})" if plan.rejected else ""
    begins = f", from step {plan.start_from}" if plan.start_from > 1 else ""
    title = Text(f"{INDENT}plan {number} ({plan.level}{begins}{rejected})", PLAN)
    if before is None:
        yield title
        yield from _block(plan.text)
        return
    changes = list(_changes(before.text, plan.text))
    yield title.append("" if changes else ": the same again")
    yield from changes


def _changes(before: str, after: str) -> Iterator[Text]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=1, lineterm="")
    for line in list(lines)[2:]:
        style = {"+": GOOD, "-": BAD, "@": FAINT}.get(line[:1], "")
        yield Text(f"{INDENT}{line}", style)


def _spoken(calls: Iterable[ModelCall]) -> Iterator[Text]:
    """Questions with several drawn answers in a row are one: ids differ behind the last dot."""
    asked: dict[str, list[ModelCall]] = {}
    for call in calls:
        if call.purpose in SPOKEN:
            asked.setdefault(call.request_id.rpartition(".")[0], []).append(call)
    for parts in asked.values():
        purpose = parts[0].purpose
        text = " ".join("".join(call.text for call in parts).split())
        yield Text.assemble((f"{INDENT}{SPOKEN[purpose]}: ", PLAN), text)


def _note(record: ReflectionRecord) -> Iterator[Text]:
    about = "after a sub-goal" if record.kind is NoteKind.SWEET else "after a failure"
    rejected = f", not taken ({record.rejected.value})" if record.rejected else ""
    yield Text(f"{INDENT}note, {record.kind.value} ({about}{rejected}):", NOTE)
    yield from _block(record.text, NOTE)


def _beside(line: Text, remark: str) -> Text:
    return line.append(f"   [{remark}]", FAINT) if remark else line


def _aside(text: str, indent: str = INDENT) -> Text:
    return Text(f"{indent}{text}", FAINT)


def _block(text: str, style: str = "") -> Iterator[Text]:
    for line in text.splitlines() or [""]:
        yield Text(f"{INDENT}{line}", style)
