"""Generation with transformers under Outlines: the blocking half of the in-process engine.

Outlines' own generator returns text only, so its logits processors are used under transformers'
`generate`, which also tells tokens and ends. llguidance stands behind every kind of grammar: it
begins a regex of 300 alternatives in 15 ms, where the index of outlines_core takes 4 s.

Not thread-safe. Imports torch: import this module only where a model is about to be loaded.
"""

import importlib.metadata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, assert_never, cast

import jsonschema  # type: ignore[import-untyped]
import llguidance
import outlines
import torch
import transformers
from outlines.backends.llguidance import LLGuidanceBackend
from outlines.types import CFG, Choice, JsonSchema, Regex

from grammars import Grammar
from inference.constraint import alternatives, outlines_type
from inference.engine import EngineCard, FinishReason, Message, Request, Sampling
from inference.errors import EngineFault, ModelError, RequestError, ServerSetupError
from inference.hashing import combined_sha256
from inference.model import ResolvedModel
from inference.renderer import Renderer

if TYPE_CHECKING:
    from outlines.backends.llguidance import LLGuidanceLogitsProcessor

_KEPT_GRAMMARS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one call of `TransformersGenerator.answer` made."""

    text: str
    finish_reason: FinishReason
    prompt_tokens: int
    generated_tokens: int
    """The end-of-turn token included, as vLLM counts."""


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
                f"on {self._device}: {_line(error)}"
            ) from error
        self._ends = _ends(self._model.generation_config.eos_token_id, tokenizer.eos_token_id)
        # Defaults that ship with a model (a top_k, a penalty) must not change what was asked for.
        self._model.generation_config = transformers.GenerationConfig()  # type: ignore[no-untyped-call]
        steered = outlines.from_transformers(self._model, cast(Any, tokenizer))
        self._backend = LLGuidanceBackend(steered)
        self._constraint = lru_cache(maxsize=_KEPT_GRAMMARS)(self._build_constraint)
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

    def answer(self, request: Request, unwanted: Callable[[], bool]) -> Answer:
        """Generate; asks `unwanted` after each token whether anybody still waits.

        Raises:
            RequestError: the prompt leaves no room, or the grammar cannot be read.
            EngineFault: the model could not be run to the end.
        """
        prompt = self.prompt(request.messages)
        room = self.card.context_length - len(prompt)
        if room < 1:
            raise RequestError(
                f"request {request.id}: {len(prompt)} prompt tokens leave no room for an answer "
                f"in a context of {self.card.context_length}; shorten the prompt"
            )
        constraint = self._constraint_for(request)
        limit = min(request.sampling.max_tokens, room)
        try:
            ids = self._generate(prompt, request, limit, constraint, unwanted)
        except (RuntimeError, ValueError) as error:
            raise EngineFault(
                f"request {request.id}: transformers failed: {_line(error)}"
            ) from error
        if unwanted():
            raise EngineFault(
                f"request {request.id}: the engine was closed before the answer ended"
            )
        if constraint is not None and (wrong := constraint.ll_matchers[0].get_error()):
            raise EngineFault(f"request {request.id}: llguidance gave up: {wrong.splitlines()[0]}")
        said = self._renderer.decode(ids)
        text = _cut_at_stop(said, request.stop)
        ended = ids[-1:] and ids[-1] in self._ends
        return Answer(
            text=text,
            finish_reason=FinishReason.STOP if ended or text != said else FinishReason.LENGTH,
            prompt_tokens=len(prompt),
            generated_tokens=len(ids),
        )

    def _generate(
        self,
        prompt: tuple[int, ...],
        request: Request,
        limit: int,
        constraint: "LLGuidanceLogitsProcessor | None",
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
                logits_processor=[constraint] if constraint is not None else [],
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

    def _constraint_for(self, request: Request) -> "LLGuidanceLogitsProcessor | None":
        if request.grammar is None:
            return None
        try:
            constraint = self._constraint(request.grammar)
        except (ValueError, TypeError, jsonschema.SchemaError) as error:
            raise RequestError(
                f"request {request.id}: cannot use the {request.grammar.kind} grammar "
                f"{request.grammar.digest}: {_line(error)}"
            ) from error
        constraint.reset()  # type: ignore[no-untyped-call]
        return constraint

    def _build_constraint(self, grammar: Grammar) -> "LLGuidanceLogitsProcessor":
        term = outlines_type(grammar)
        match term:
            case Choice(items=items):
                processor = self._backend.get_regex_logits_processor(
                    alternatives(tuple(map(str, items)))
                )
            case Regex(pattern=pattern):
                processor = self._backend.get_regex_logits_processor(pattern)
            case CFG(definition=definition):
                processor = self._backend.get_cfg_logits_processor(definition)
            case JsonSchema(schema=schema):
                processor = self._backend.get_json_schema_logits_processor(schema)
            case _:
                assert_never(term)
        # Outlines does not look at llguidance's errors; unread, they end every answer at once.
        wrong = llguidance.LLMatcher.validate_grammar(
            processor.grammar, self._backend.llg_tokenizer
        )
        if wrong:
            raise ValueError(wrong)
        return processor


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
            f"engine.device={name} cannot be used here ({_line(error)}); set cpu, cuda or auto"
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


def _ends(of_model: int | list[int] | None, of_tokenizer: int) -> tuple[int, ...]:
    """The ids that end an answer; the tokenizer's first, which grammars allow."""
    listed = of_model if isinstance(of_model, list) else [of_model]
    return tuple(dict.fromkeys([of_tokenizer, *(end for end in listed if end is not None)]))


def _cut_at_stop(text: str, stop: tuple[str, ...]) -> str:
    return text[: min((text.index(mark) for mark in stop if mark in text), default=len(text))]


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
