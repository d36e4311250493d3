"""A small real HTTP server that behaves as a vLLM server does, and misbehaves on demand.

Run as a script under the real guard. Prompts are token ids that stand for characters; the last
line of the prompt is an order: `say X`, `status N`, `status N once`, `die`, `die once`, `hang`,
`hang once`, `cut`, `cut once`, `sleep SECONDS`, `freeze`, `freeze once`, `crawl SECONDS`. `freeze`
stops the engine for everybody while `/health` goes on saying 200; `crawl` keeps everybody else
waiting, too, but tokens are made. What `once` means outlives the process: it is
remembered in the state folder, as is every request that came.

It ends an answer with the token 0. Asked for scores, it obeys an order to do something once in the
first line, else its own first choice is always `o`, and a
token that was said has a log-probability of -0.5; of an answer to an order with `unscored` it
tells none, as older servers do.
"""

import argparse
import asyncio
import json
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

NAME = "fake"
CONTEXT = 2000


@dataclass(frozen=True)
class Fake:
    """How a test starts the server and sees what it was sent."""

    state: Path
    flags: tuple[str, ...] = ()

    def command(self, port: int) -> list[str]:
        script = str(Path(__file__).absolute())
        options = ["--port", str(port), "--state", str(self.state), *self.flags]
        return [sys.executable, script, *options]

    def log(self, kind: str) -> list[dict[str, object]]:
        path = self.state / f"{kind}.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def starts(self) -> int:
        return len(self.log("starts"))

    @property
    def prompts(self) -> list[str]:
        """The orders in the sequence in which they came, probes left out."""
        orders = [str(entry["order"]) for entry in self.log("requests")]
        return [order for order in orders if not order.startswith("What is")]


class _Server:
    def __init__(self, state: Path, options: argparse.Namespace) -> None:
        self.state = state
        self.options = options
        self.dead = False
        self.tokens = 0
        self.free = asyncio.Event()
        self.free.set()
        self.ready_at = time.monotonic() + options.loads

    def note(self, kind: str, entry: dict[str, object]) -> None:
        with (self.state / f"{kind}.jsonl").open("a") as file:
            file.write(json.dumps(entry) + "\n")

    def first_time(self, order: str) -> bool:
        path = self.state / f"seen-{order.replace(' ', '-').replace('/', '_')}"
        seen = path.exists()
        path.touch()
        return not seen

    async def health(self, request: web.Request) -> web.Response:
        loading = time.monotonic() < self.ready_at
        return web.Response(status=503 if self.dead or loading else 200)

    async def metrics(self, request: web.Request) -> web.Response:
        labels = '{engine="0",model_name="fake"}'
        return web.Response(
            text="# TYPE vllm:generation_tokens_total counter\n"
            f"vllm:generation_tokens_total{labels} {float(self.tokens)}\n"
            f"vllm:prompt_tokens_total{labels} 7.0\n"
        )

    async def models(self, request: web.Request) -> web.Response:
        if (
            self.options.key
            and request.headers.get("Authorization") != f"Bearer {self.options.key}"
        ):
            return web.json_response({"error": "Unauthorized"}, status=401)
        entries = [
            {"id": name, "max_model_len": self.options.context} for name in self.options.names
        ]
        return web.json_response({"data": entries})

    async def tokenize(self, request: web.Request) -> web.Response:
        body = await request.json()
        text = "\n".join(message["content"] for message in body["messages"])
        return web.json_response({"tokens": [ord(c) for c in text], "count": len(text)})

    async def complete(self, request: web.Request) -> web.Response:
        body = await request.json()
        if isinstance(body["prompt"][0], list):
            self.note("scores", {"body": body})
            asked = "".join(map(chr, body["prompt"][0])).splitlines()[0]
            if asked.endswith(" once") and self.first_time(asked):
                return await self.obey(asked.removesuffix(" once"), body)
            return self.scores(body)
        order = "".join(map(chr, body["prompt"])).splitlines()[-1]
        session = request.headers.get("X-Session-ID")
        self.note("requests", {"order": order, "body": body, "session": session, "at": time.time()})
        await self.free.wait()
        try:
            return await self.obey(order, body)
        finally:
            self.note("ends", {"order": order, "at": time.time()})

    async def obey(self, order: str, body: dict[str, object]) -> web.Response:
        if body["model"] not in self.options.names:
            return web.json_response({"error": {"message": "no such model"}}, status=404)
        if self.options.refuses and self.options.refuses in str(body.get("structured_outputs")):
            message = f"unknown name {self.options.refuses!r}"
            return web.json_response({"error": {"message": message}}, status=400)
        if order.endswith(" once") and not self.first_time(order):
            return self.answer("better now", body)
        match order.removesuffix(" once").split(" ", 1):
            case ["say", text]:
                return self.answer(text, body)
            case ["status", number]:
                return web.json_response({"error": {"message": "as ordered"}}, status=int(number))
            case ["die"]:
                # As vLLM: the requests in flight fail first, the process ends a moment later, with
                # 0.
                self.dead = True
                asyncio.get_running_loop().call_later(0.3, os._exit, 0)
                return web.json_response({"error": {"message": "EngineDeadError"}}, status=500)
            case ["hang"]:
                await asyncio.sleep(3600)
            case ["freeze"]:
                self.free.clear()
                await asyncio.sleep(3600)
            case ["crawl", seconds]:
                self.free.clear()
                for _ in range(int(float(seconds) / 0.05)):
                    self.tokens += 1
                    await asyncio.sleep(0.05)
                self.free.set()
            case ["sleep", seconds]:
                await asyncio.sleep(float(seconds))
                if self.dead:
                    return web.json_response({"error": {"message": "EngineDeadError"}}, status=500)
            case ["cut"]:
                return self.answer("go nor", body)
        if "structured_outputs" in body and not self.options.ignores_grammars:
            return self.answer("ZQ123" if order.startswith("What is") else "go north", body)
        return self.answer("The capital of France is Paris.", body)

    async def chat(self, request: web.Request) -> web.Response:
        """Free text, whatever is asked."""
        self.note("chats", {"body": await request.json()})
        return web.json_response(
            {
                "choices": [{"message": {"role": "assistant", "content": "go north"}}],
                "usage": {"prompt_tokens": 7, "completion_tokens": len("go north")},
            }
        )

    async def reset(self, request: web.Request) -> web.Response:
        self.note("resets", {"at": time.time()})
        return web.json_response({"success": True})

    def scores(self, body: dict[str, list[int]]) -> web.Response:
        assert "structured_outputs" not in body, "scores are wanted without a grammar"
        if "unscored" in "".join(map(chr, body["prompt"][0])):  # type: ignore[call-overload]
            told = {}
        else:
            told = {f"token_id:{token}": -0.5 for token in body["logprob_token_ids"]}
        choices = [
            {
                "index": index,
                "finish_reason": "length",
                "token_ids": [ord("o")],
                "logprobs": {"top_logprobs": [told]},
            }
            for index in range(len(body["prompt"]))
        ]
        # Their order is nobody's promise.
        return web.json_response({"choices": choices[::-1]})

    def answer(self, text: str, body: dict[str, object]) -> web.Response:
        limit = int(str(body["max_tokens"]))
        prompt = body["prompt"]
        assert isinstance(prompt, list)
        ended = len(text) <= limit
        self.tokens += min(len(text), limit)
        tokens = list(map(ord, text[:limit])) + [0] * ended
        return web.json_response(
            {
                "choices": [
                    {
                        "text": text[:limit],
                        "finish_reason": "stop" if ended else "length",
                        "stop_reason": None,
                        "token_ids": tokens if body.get("return_token_ids") else None,
                    }
                ],
                "usage": {
                    "prompt_tokens": len(prompt),
                    "completion_tokens": min(len(text), limit),
                    "prompt_tokens_details": {"cached_tokens": len(prompt) // 16 * 16},
                },
            }
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--names", nargs="+", default=[NAME])
    parser.add_argument("--key", default="")
    parser.add_argument("--context", type=int, default=CONTEXT, help="in tokens")
    parser.add_argument("--ignores-grammars", action="store_true")
    parser.add_argument("--refuses", default="", help="refuse grammars that hold this")
    parser.add_argument("--loads", type=float, default=0.0, help="seconds of HTTP 503 at first")
    parser.add_argument("--starts", type=int, default=1000, help="refuse to start more often")
    options = parser.parse_args()
    server = _Server(options.state, options)
    server.note("starts", {"at": time.time(), "pid": os.getpid()})
    if len((options.state / "starts.jsonl").read_text().splitlines()) > options.starts:
        print("Traceback (most recent call last):\nRuntimeError: CUDA out of memory, as ordered")
        sys.exit(1)
    app = web.Application()
    app.add_routes(
        [
            web.get("/health", server.health),
            web.get("/metrics", server.metrics),
            web.get("/v1/models", server.models),
            web.post("/tokenize", server.tokenize),
            web.post("/v1/completions", server.complete),
            web.post("/v1/chat/completions", server.chat),
            web.post("/reset_prefix_cache", server.reset),
        ]
    )
    web.run_app(app, host="127.0.0.1", port=options.port, print=None, shutdown_timeout=0.1)


if __name__ == "__main__":
    main()
