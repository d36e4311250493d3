"""The turn-by-turn planners: act (actions only) and ReAct (a think line or an action).

ReAct: Yao et al. 2023, section 2: the action space is widened by language; a thought does not touch
the world. One thought may precede an action here. Under a grammar a second thought in a row cannot
be said; in free text it is sent to the world as it stands, which will not understand it, and
counted. A thought that the token limit cut short is kept: it is only talk.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from agents.acceptance import Rejection, rejection
from agents.decoding import ActionMode, Decoding
from agents.planners.commands import command_grammar
from agents.planners.planner import Decision, DecisionKind, ModelCall, Planner, PlannerContext
from agents.prompts import listing
from agents.transcript import ContextWindow, FittedPrompt, Transcript
from envs.world import Affordances
from grammars import Grammar
from grammars.actions import THINK_PREFIX
from inference.engine import Message, Request, Sampling


@dataclass(kw_only=True)
class Turnwise:
    """The `planner` group's schema for act and ReAct: one model call a turn."""

    name: str
    thoughts: bool
    """Whether the agent may think aloud before it acts."""

    @property
    def writes_plans(self) -> bool:
        """See `PlannerFactory.writes_plans`."""
        return False

    def affordances(self, world: str, decoding: Decoding) -> Affordances:
        """See `PlannerFactory.affordances`."""
        return decoding.actions.affordances

    def validate(self, world: str, decoding: Decoding) -> None:
        """Every setting makes sense in every world."""

    def card(self) -> Mapping[str, Any]:
        """See `PlannerFactory.card`."""
        return asdict(self)

    def prompts_digest(self, world: str) -> str:
        """It has no prompts besides the world's."""
        return ""

    def make(self, context: PlannerContext) -> Planner:
        """The planner of one episode."""
        return TurnwisePlanner(context, thoughts=self.thoughts)


class TurnwisePlanner:
    """Asks the model for one line a turn."""

    def __init__(self, context: PlannerContext, *, thoughts: bool) -> None:
        self._context = context
        self._thoughts = thoughts
        self._window = ContextWindow(context.engine, context.decoding.context)
        self._calls = 0
        self._fixed: tuple[Message, ...] = ()
        """Rendered at the first turn: it depends on the first observation alone."""

    async def decide(self, transcript: Transcript) -> Decision:
        """See `Planner.decide`."""
        if not self._fixed:
            self._fixed = self._context.prompts.fixed_part(
                transcript.first,
                thoughts=self._thoughts,
                remembered=transcript.remembered,
            )
        return await self.say(transcript, self._fixed)

    async def say(
        self,
        transcript: Transcript,
        fixed: tuple[Message, ...],
        words: tuple[str, ...] = (),
        tail: str = "",
    ) -> Decision:
        """The next line of a transcript that begins with this fixed part and ends with `tail`;
        `words` are what may be said besides the world's commands.

        Raises:
            EngineFault, ContextTooSmall, ContextFull: as `Planner.decide`.
        """
        decoding = self._context.decoding
        may_think = self._thoughts and not (transcript.turns and transcript.turns[-1].thought)
        max_tokens = decoding.max_thought_tokens if may_think else decoding.max_action_tokens
        if decoding.actions is ActionMode.listed:
            listed = listing.render(transcript.last.admissible, transcript.last.templates)
            tail = f"{listed}\n\n{tail}" if tail else listed
        fitted = await self.fit(transcript, fixed, tail, max_tokens)
        grammar = command_grammar(transcript.last, decoding.actions, words, thoughts=may_think)
        request = self._request(fitted, grammar, max_tokens)
        completion = await self._context.engine.generate(request)
        rejected = rejection(completion, grammar)
        said = completion.text.strip()
        thought = (
            may_think
            and said.startswith(THINK_PREFIX.strip())
            and rejected is not Rejection.MALFORMED
        )
        return Decision(
            kind=DecisionKind.THINK if thought else DecisionKind.ACT,
            text=said,
            rejected=rejected,
            calls=(ModelCall.of(request, completion, fitted.dropped_turns),),
            prompt=fitted.messages,
            recalled=(*transcript.recalled, *(note.id for note in fitted.notes)),
        )

    async def close(self) -> None:
        """Nothing is held."""

    async def fit(
        self, transcript: Transcript, fixed: tuple[Message, ...], tail: str, max_tokens: int
    ) -> FittedPrompt:
        """The fixed part, as many turns as the context holds, and `tail`; see `ContextWindow`."""
        return await self._window.fit(fixed, transcript.turns, tail, max_tokens)

    def _request(self, fitted: FittedPrompt, grammar: Grammar | None, max_tokens: int) -> Request:
        context, decoding, number = self._context, self._context.decoding, self._calls
        self._calls += 1
        request_id = f"{context.episode_id}.c{number}"
        return Request(
            id=request_id,
            messages=fitted.messages,
            grammar=grammar,
            sampling=Sampling(
                max_tokens=max_tokens,
                temperature=decoding.temperature,
                top_p=decoding.top_p,
                seed=context.seed_for(number) if decoding.temperature > 0 else None,
            ),
            stop=("\n",),
            measure_mask=decoding.measures(request_id),
        )
