"""An environment over HTTP in the standard library: questions about records, looked up by tools.

Run it as `python -m examples.environments.http.server --port 8910`. It answers `reset`, `step` and
`close` at one address, keeps each episode in memory, and gives the reward with the last step:
1 for the right answer, less a little for each call that was not needed. Each step sends every
component, so that they are known of an episode that a limit ends, too. An id is never given to a
second episode, nor after a restart: a step for an episode that is gone is a 404. A call that is
sent again (same `Idempotency-Key`) gets its first answer again. A real one verifies the signature,
too (`GET /v1/signing_secret`), and drops episodes that nobody closes after a day.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any, Protocol
from uuid import uuid4

from typing_extensions import override

from examples.records_agent.grading import RecordedCall, grade
from examples.records_agent.records import STORE_SEED, Catalogue, build_catalogue
from examples.records_agent.tools import ERROR, SCHEMAS, call_tool

Json = dict[str, Any]
Answer = tuple[int, Json]
"""Status and body."""


@dataclass
class Episode:
    rollout_id: str
    task: Json
    calls: list[RecordedCall] = field(default_factory=list)


@dataclass
class RecordsWorld:
    """The state of all episodes, and a log of those that have ended."""

    catalogue: Catalogue = field(default_factory=lambda: build_catalogue(STORE_SEED))
    episodes: dict[str, Episode] = field(default_factory=dict)
    answered: dict[str, Answer] = field(default_factory=dict)
    log: list[Json] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def answer(self, call: Json, key: str) -> Answer:
        with self.lock:
            if key not in self.answered:
                self.answered[key] = self._answer(call)
            return self.answered[key]

    def _answer(self, call: Json) -> Answer:
        match call["type"]:
            case "reset":
                episode_id = f"episode-{uuid4().hex}"
                self.episodes[episode_id] = Episode(call["rollout_id"], call["task"])
                return 200, {"episode_id": episode_id, "tools": list(SCHEMAS)}
            case "step" if call["episode_id"] in self.episodes:
                return 200, self._step(call)
            case "close":
                self._close(call)
                return 200, {}
            case _:
                return 404, {"error": "there is no such episode"}

    def _close(self, call: Json) -> None:
        """Ends an episode; without its id, which an answer that was lost had, all of a rollout."""
        ended = [
            episode_id
            for episode_id, episode in self.episodes.items()
            if call["episode_id"] in (episode_id, None) and episode.rollout_id == call["rollout_id"]
        ]
        for episode_id in ended:
            del self.episodes[episode_id]

    def _step(self, call: Json) -> Json:
        episode, message = self.episodes[call["episode_id"]], call["message"]
        results = []
        for one in message.get("tool_calls", ()):
            function = one["function"]
            output = call_tool(self.catalogue, function["name"], function["arguments"])
            episode.calls.append(RecordedCall(function["name"], function["arguments"], output))
            failed = output.startswith(ERROR)
            results.append({"call_id": one["id"], "content": output, "error": failed})
        if results:
            nothing_yet = {"correct": 0.0, "wasted_calls": 0.0}
            return {"done": False, "results": results, "components": nothing_yet}
        worth = grade(message["content"], episode.task, episode.calls)
        self.log.append({"rollout_id": call["rollout_id"], "reward": worth.score})
        components = {"correct": float(worth.correct), "wasted_calls": float(worth.wasted_calls)}
        return {"done": True, "reward": worth.score, "components": components}


class World(Protocol):
    def answer(self, call: Json, key: str) -> Answer: ...


def serve(world: World, *, host: str = "127.0.0.1", port: int = 8910) -> ThreadingHTTPServer:
    """Listens; the caller runs `serve_forever`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, sent = world.answer(call, self.headers["Idempotency-Key"])
            body = json.dumps(sent).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        @override
        def log_message(self, format: str, *args: Any) -> None:
            """Prints nothing for each request."""

    server = ThreadingHTTPServer((host, port), Handler, bind_and_activate=False)
    server.request_queue_size = 1024
    server.daemon_threads = True
    server.server_bind()
    server.server_activate()
    return server


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8910)
    given = parser.parse_args()
    server = serve(RecordsWorld(), host=given.host, port=given.port)
    print(json.dumps({"url": f"http://{given.host}:{server.server_port}"}), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
