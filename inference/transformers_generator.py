"""Generation with transformers under Outlines: the blocking half of the in-process engine.

Outlines' own generator returns text only, so its logits processors (`transformers_steps`) are used
under transformers' `generate`, which also tells tokens and ends.

Not thread-safe. Imports torch: import this module only where a model is about to be loaded.
"""

import importlib.metadata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import llguidance
import outlines
import torch
import transformers

from grammars import Grammar
from inference.constraint import matches
from inference.engine import (
    EngineCard,
    FinishReason,
    MaskEffect,
    Message,
    Rating,
    RatingRequest,
    Request,
    Sampling,
)
from inference.errors import (
    AnswerCutShort,
    EngineFault,
    ModelError,
    RequestError,
    ServerSetupError,
)
from inference.hashing import combined_sha256
from inference.mask import Vocabulary, mask_effect
from inference.model import ResolvedModel
from inference.rating import Place, RatingPaths, with_option
from inference.renderer import Renderer
from inference.transformers_steps import Constraints, RawScores, one_line
from inference.warming import warm_setting

if TYPE_CHECKING:
    from outlines.backends.llguidance import LLGuidanceLogitsProcessor


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one call of `TransformersGenerator.answer` made."""

    text: str
    finish_reason: FinishReason
    prompt_tokens: int
    generated_tokens: int
    """The end-of-turn token included, as vLLM counts."""
    mask: MaskEffect | None = None
    mended: tuple[str, ...] = ()


class TransformersGenerator:
    """A model in memory."""

    def __init__(self, model: ResolvedModel, *, device: str, dtype: str) -> None:
        self._device = _device(device)
        kind = _dtype(dtype, model.spec.dtype, self._device)
        self._renderer = Renderer(model.directory, model.spec.prompt)
        tokenizer = self._renderer.tokenizer
        transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            # Any: transformers types its models so that none of them may call `generate`.
            loaded: Any = transformers.AutoModelForCausalLM.from_pretrained(
                model.directory, dtype=kind, local_files_only=True
            )
            self._model: Any = cast(Any, loaded).to(self._device)
        except (OSError, ValueError, RuntimeError) as error:
            raise ModelError(
                f"model {model.spec.name}: transformers cannot load {model.directory} "
                f"on {self._device}: {one_line(error)}"
            ) from error
        self._ends = self._renderer.ends
        # Defaults that ship with a model (a top_k, a penalty) must not change what was asked for.
        self._model.generation_config = transformers.GenerationConfig()  # type: ignore[no-untyped-call]
        self._constraints = Constraints(
            outlines.from_transformers(self._model, cast(Any, tokenizer))
        )
        self._vocabulary = Vocabulary(self._constraints.tokenizer, self._ends)
        self.card = EngineCard(
            engine="transformers",
            model=model.spec.name,
            context_length=model.spec.context_length,
            identity={
                "model_files": combined_sha256(model.hashes),
                "model_file_count": str(len(model.hashes)),
                "dtype": str(kind).removeprefix("torch."),
                "grammar_backend": f"llguidance {llguidance.__version__}",
                **{
                    package: importlib.metadata.version(package)
                    for package in ("torch", "transformers", "outlines")
                },
            },
            setting={"device": str(self._device)},
        )

    def prompt(self, messages: tuple[Message, ...]) -> tuple[int, ...]:
        """The ids that `answer` computes for these messages."""
        return self._renderer.render(messages)

    def warm(self, grammars: tuple[Grammar, ...]) -> None:
        """Build what constrains the model, so that no request waits for it.

        Raises:
            ServerSetupError: a grammar cannot be read.
        """
        took = {grammar.digest: self._constraints.warm(grammar) for grammar in grammars}
        self.card = replace(self.card, setting={**self.card.setting, **warm_setting(took)})

    def answer(self, request: Request, unwanted: Callable[[], bool]) -> Answer:
        """Generate; asks `unwanted` after each token whether anybody still waits.

        Raises:
            RequestError: the prompt leaves no room, or the grammar cannot be read.
            AnswerCutShort: llguidance gave up, or ended the answer where the grammar does not.
            EngineFault: the model could not be run to the end.
        """
        prompt = self.prompt(request.messages)
        room = self.card.context_length - len(prompt)
        if room < 1:
            raise RequestError(
                f"request {request.id}: {len(prompt)} prompt tokens leave no room for an answer "
                f"in a context of {self.card.context_length}; shorten the prompt"
            )
        constraint = self._constraints.of(request)
        limit = min(request.sampling.max_tokens, room)
        raw = RawScores() if constraint is not None and request.measure_mask else None
        steps = [step for step in (raw, constraint) if step is not None]
        try:
            ids = self._generate(prompt, request, limit, steps, unwanted)
        except (RuntimeError, ValueError) as error:
            raise EngineFault(
                f"request {request.id}: transformers failed: {one_line(error)}"
            ) from error
        if unwanted():
            raise EngineFault(
                f"request {request.id}: the engine was closed before the answer ended"
            )
        if constraint is not None and (wrong := constraint.ll_matchers[0].get_error()):
            raise AnswerCutShort(
                f"request {request.id}: llguidance gave up: {wrong.splitlines()[0]}"
            )
        said = self._renderer.decode(ids)
        text = _cut_at_stop(said, request.stop)
        ended = ids[-1:] and ids[-1] in self._ends
        if request.grammar and ended and text == said and not matches(request.grammar, text):
            raise AnswerCutShort(
                f"request {request.id}: llguidance ended the answer at {text[-80:]!r}, where the "
                f"{request.grammar.kind} grammar {request.grammar.digest} does not"
            )
        answer = Answer(
            text=text,
            finish_reason=FinishReason.STOP if ended or text != said else FinishReason.LENGTH,
            prompt_tokens=len(prompt),
            generated_tokens=len(ids),
        )
        if request.grammar is None or raw is None:
            return answer
        try:
            mask = mask_effect(request.grammar, self._vocabulary, ids, raw.scores(ids))
        except ValueError as error:
            return replace(answer, mended=(type(error).__name__,))
        return replace(answer, mask=mask)

    def rate(self, request: RatingRequest) -> Rating:
        """Rate options; one pass for each place at which they part.

        Raises:
            EngineFault: the model could not be run.
        """
        prompt = self.prompt(request.messages)
        options = [self.prompt(with_option(request.messages, each)) for each in request.options]
        paths = RatingPaths.of(prompt, options)
        try:
            found = [self._next_logprobs(place) for place in paths.places]
        except RuntimeError as error:
            raise EngineFault(
                f"request {request.id}: transformers failed: {one_line(error)}"
            ) from error
        return Rating(
            logprobs=paths.logprobs(found),
            prompt_tokens=len(prompt),
            scored_tokens=len(paths.places),
            seconds=0.0,
        )

    def _next_logprobs(self, place: Place) -> dict[int, float]:
        with torch.inference_mode():
            logits = self._model(torch.tensor([place.prefix], device=self._device)).logits
        scores = logits[0, -1].to("cpu", torch.float32).log_softmax(-1)
        return {token: float(scores[token]) for token in place.tokens}

    def _generate(
        self,
        prompt: tuple[int, ...],
        request: Request,
        limit: int,
        steps: "list[RawScores | LLGuidanceLogitsProcessor]",
        unwanted: Callable[[], bool],
    ) -> tuple[int, ...]:
        def over(ids: torch.Tensor, scores: torch.Tensor, **_: object) -> torch.Tensor:
            said = (
                self._renderer.decode(tuple(ids[0, len(prompt) :].tolist())) if request.stop else ""
            )
            done = unwanted() or any(mark in said for mark in request.stop)
            return torch.full((1,), done, device=ids.device, dtype=torch.bool)

        ids = torch.tensor([prompt], device=self._device)
        # llguidance compiles its mask kernel with inductor, which takes 20 s and a C++ compiler.
        with _seeded(request.sampling, self._device), torch.compiler.set_stance("force_eager"):
            output = self._model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                generation_config=self._settings(request.sampling, limit),
                logits_processor=steps,
                stopping_criteria=[over],
            )
        return tuple(output[0, len(prompt) :].tolist())

    def _settings(self, sampling: Sampling, limit: int) -> transformers.GenerationConfig:
        drawn = {"temperature": sampling.temperature, "top_p": sampling.top_p, "top_k": 0}
        return transformers.GenerationConfig(  # type: ignore[no-untyped-call]
            max_new_tokens=limit,
            eos_token_id=list(self._ends),
            pad_token_id=self._ends[0],
            do_sample=sampling.temperature > 0,
            **(drawn if sampling.temperature > 0 else {}),
        )


@contextmanager
def _seeded(sampling: Sampling, device: torch.device) -> Iterator[None]:
    """Draw from the request's seed and leave the process's own stream as it was."""
    if sampling.seed is None or sampling.temperature <= 0:
        yield
        return
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(sampling.seed)
        yield


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ServerSetupError(
            f"engine.device={name} cannot be used here ({one_line(error)}); set cpu, cuda or auto"
        ) from error
    return device


def _dtype(name: str, of_model: str, device: torch.device) -> torch.dtype:
    if name == "auto":
        name = "float32" if device.type == "cpu" else of_model
    kind = getattr(torch, name, None)
    if not isinstance(kind, torch.dtype):
        raise ServerSetupError(
            f"engine.dtype={name} is not a type of number; set float32, bfloat16 or float16"
        )
    return kind


def _cut_at_stop(text: str, stop: tuple[str, ...]) -> str:
    return text[: min((text.index(mark) for mark in stop if mark in text), default=len(text))]
