"""Tool server and endpoint grader of the example agent, in one FastAPI application.

Owns the HTTP side: POST /tools runs one tool call, POST /grade scores one rollout from its last
message and from the calls that /tools saw under the same `trace_id`. Run it as
`python -m examples.records_agent.server --port 0`; it prints {"url": …} once it listens.

A training platform may rely on this:
- a mistake of the model is a 200 whose output starts with "Error: "; only faults are 4xx or 5xx;
- retries of one call (same `Idempotency-Key`, else same `call_id`) get the first reply again and
  count once;
- with a signing secret, requests without a valid Standard Webhooks signature get 401.
"""

from __future__ import annotations

import argparse
import json
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, get_args

import uvicorn
from fastapi import FastAPI, Header, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from standardwebhooks import Webhook, WebhookVerificationError
from typing_extensions import override

from examples.records_agent.faults import Faults, Key, Where
from examples.records_agent.grading import RecordedCall, grade
from examples.records_agent.ledger import TTL_S, CallIdReusedError, CallLedger
from examples.records_agent.records import STORE_SEED, Catalogue, build_catalogue
from examples.records_agent.tools import call_tool


class ToolCall(BaseModel):
    """One call of the model. `arguments` is a JSON string; `id` and `call_id` differ."""

    type: Literal["function_call"]
    id: str
    call_id: str
    name: str
    arguments: str
    trace_id: str
    item: dict[str, Any] = {}


class ToolReply(BaseModel):
    type: Literal["function_call_output"] = "function_call_output"
    call_id: str
    id: str
    output: str


class Sample(BaseModel):
    """The rollout's last assistant turn; other keys are not read."""

    output_text: str | None = None


class GradeRequest(BaseModel):
    sample: Sample
    item: dict[str, Any]
    trace_id: str


class GradeReply(BaseModel):
    """The reply of the grader: `score` trains the model, and each of `metrics` gets a curve."""

    score: float
    metrics: dict[str, float]


@dataclass(frozen=True, slots=True)
class Options:
    signing_secret: str | None = None
    faults: Faults = field(default_factory=Faults)
    ttl_s: float = TTL_S
    store_seed: int = STORE_SEED


def create_app(options: Options | None = None) -> FastAPI:
    """Creates an application with its own catalogue and ledger."""
    options = options or Options()
    app = FastAPI(title="Records agent", docs_url=None, redoc_url=None)
    catalogue = build_catalogue(options.store_seed)
    ledger = CallLedger(ttl_s=options.ttl_s)
    _add_routes(app, catalogue, ledger)
    _add_guard(app, options)
    return app


def _add_routes(app: FastAPI, catalogue: Catalogue, ledger: CallLedger) -> None:
    @app.get("/health")
    async def health() -> dict[str, int]:
        return {"records": len(catalogue.records), "rollouts": len(ledger)}

    @app.post("/tools", response_model=ToolReply)
    async def tools(
        call: ToolCall, idempotency_key: Annotated[str | None, Header()] = None
    ) -> ToolReply | JSONResponse:
        key = idempotency_key or call.call_id
        try:
            known = ledger.replay(call.trace_id, key, call.name, call.arguments)
        except CallIdReusedError:
            return JSONResponse({"error": "call id reused for another call"}, status_code=409)
        if known is None:
            output = call_tool(catalogue, call.name, call.arguments)
            known = RecordedCall(call.name, call.arguments, output)
            ledger.record(call.trace_id, key, known)
        return ToolReply(call_id=call.call_id, id=call.id, output=known.output)

    @app.post("/grade")
    async def grade_rollout(request: GradeRequest) -> GradeReply:
        calls = ledger.calls(request.trace_id)
        result = grade(request.sample.output_text or "", request.item, calls)
        metrics = {"correct": float(result.correct), "wasted_calls": float(result.wasted_calls)}
        return GradeReply(score=result.score, metrics=metrics)


def _add_guard(app: FastAPI, options: Options) -> None:
    webhook = Webhook(options.signing_secret) if options.signing_secret else None

    @app.middleware("http")
    async def guard(
        request: Request, call_next: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        if request.method != "POST":
            return await call_next(request)
        body = await request.body()
        if webhook is not None and not _signed(webhook, body, request):
            return JSONResponse({"error": "bad signature"}, status_code=401)
        if options.faults.strikes(
            request.url.path, _request_id(body, request), request.headers.get("x-attempt", "")
        ):
            return JSONResponse({"error": "fault on purpose"}, options.faults.status)
        return await call_next(request)


def _signed(webhook: Webhook, body: bytes, request: Request) -> bool:
    try:
        webhook.verify(body, dict(request.headers), json_parse=False)
    except (WebhookVerificationError, ValueError):
        # ValueError: a header or body that is not base64, UTF-8 or split by a comma.
        return False
    return True


def _request_id(body: bytes, request: Request) -> str:
    """`webhook-id` is stable over retries; a caller without one is identified by the ids of the
    call.
    """
    if sent := request.headers.get("webhook-id"):
        return sent
    try:
        ids = json.loads(body)
    except ValueError:
        return ""
    if not isinstance(ids, dict):
        return ""
    return str(ids.get("call_id") or ids.get("trace_id") or "")


class _AnnouncingServer(uvicorn.Server):
    """Prints the address as one JSON line when requests are served, for `--port 0`."""

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        for listener in sockets or []:
            host, port = listener.getsockname()[:2]
            print(json.dumps({"url": f"http://{host}:{port}"}), flush=True)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8900)
    parser.add_argument("--signing-secret", help="whsec_… of the job's endpoints")
    parser.add_argument("--ttl", type=float, default=TTL_S, help="seconds a rollout is remembered")
    parser.add_argument("--store-seed", type=int, default=STORE_SEED)
    parser.add_argument("--fail-share", type=float, default=0.0)
    parser.add_argument("--fail-status", type=int, default=500)
    parser.add_argument("--fail-key", choices=get_args(Key), default="call")
    parser.add_argument("--fail-where", choices=get_args(Where), default="tools")
    given = parser.parse_args(argv)
    faults = Faults(given.fail_share, given.fail_status, given.fail_key, given.fail_where)
    options = Options(given.signing_secret, faults, given.ttl, given.store_seed)
    listener = socket.create_server((given.host, given.port), backlog=1024)
    config = uvicorn.Config(create_app(options), log_level="warning", access_log=False)
    _AnnouncingServer(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
