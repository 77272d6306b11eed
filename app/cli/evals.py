"""`agent-rft evals list`, `show`, `runs` and `run`."""

import sys
import time
from pathlib import Path
from typing import Any, Final

import httpx
from pydantic import BaseModel

from app.cli.client import Service, ServiceId, ServicePatience, parse_reply, path_of
from app.cli.output import columns, console, fields, note
from app.cli.printable import moment, printable
from app.cli.remote import Remote, read_body
from app.cli.terminal import ServiceError
from app.kit.processes import INTERRUPTED, RUN_CANCELLED, RUN_FAILED

EVALS: Final = "evals"
_POLL_S: Final = 1.0
_CODES: Final = {"completed": 0, "failed": RUN_FAILED, "canceled": RUN_CANCELLED}


class EvalReply(BaseModel):
    id: ServiceId
    name: str | None = None
    created_at: float
    testing_criteria: list[dict[str, Any]] = []


class _Counts(BaseModel):
    total: int = 0
    passed: int = 0
    failed: int = 0
    errored: int = 0


class _Criterion(BaseModel):
    testing_criteria: str
    passed: int
    failed: int


class RunReply(BaseModel):
    id: ServiceId
    eval_id: str
    name: str | None = None
    status: str
    model: str | None = None
    created_at: float
    error: dict[str, Any] | None = None
    result_counts: _Counts = _Counts()
    per_testing_criteria_results: list[_Criterion] = []

    @property
    def counts(self) -> str:
        counts = self.result_counts
        return (
            f"{counts.total} items: {counts.passed} passed, {counts.failed} failed, "
            f"{counts.errored} errors"
        )


def list_evals(remote: Remote, *, limit: int) -> None:
    with remote.service() as service:
        rows = service.rows(EVALS, limit=limit, order="desc")
    evals = [parse_reply(EvalReply, row) for row in rows.data]

    def show() -> None:
        cells = [
            (one.id, one.name, len(one.testing_criteria), moment(one.created_at)) for one in evals
        ]
        console().print(columns(("ID", "NAME", "CRITERIA", "CREATED"), cells))

    remote.out.result(rows.data, show, has_more=rows.has_more)


def list_runs(remote: Remote, eval_id: str, *, limit: int) -> None:
    with remote.service() as service:
        rows = service.rows(f"{EVALS}/{path_of(eval_id)}/runs", limit=limit, order="desc")
    runs = [parse_reply(RunReply, row) for row in rows.data]

    def show() -> None:
        cells = [
            (one.id, one.status, one.model, moment(one.created_at), one.counts) for one in runs
        ]
        console().print(columns(("ID", "STATUS", "MODEL", "CREATED", "RESULT"), cells))

    remote.out.result(rows.data, show, has_more=rows.has_more)


def show_run(remote: Remote, eval_id: str, run_id: str) -> None:
    with remote.service() as service:
        reply = service.get(_path(eval_id, run_id))
    _print(remote, reply)


def run_eval(remote: Remote, eval_id: str, body: Path, *, model: str | None, detach: bool) -> int:
    """Returns the exit code of the run's end; 0 with `detach`, which does not wait for it."""
    sent = read_body(body)
    if model is not None:
        source = sent.get("data_source")
        sent["data_source"] = {**(source if isinstance(source, dict) else {}), "model": model}
    with remote.service() as service:
        reply = service.create(f"{EVALS}/{path_of(eval_id)}/runs", sent)
        run = parse_reply(RunReply, reply)
        if not detach:
            note(f"run {printable(run.id)} of {printable(eval_id)}")
            try:
                reply = _followed(service, eval_id, run)
            except KeyboardInterrupt:
                note(
                    f"the run continues: agent-rft evals show {printable(eval_id)} "
                    f"{printable(run.id)}"
                )
                return INTERRUPTED
    _print(remote, reply)
    return _CODES.get(parse_reply(RunReply, reply).status, 0)


def _followed(service: Service, eval_id: str, run: RunReply) -> dict[str, Any]:
    """Returns the run after its end."""
    shown = ""
    patience = ServicePatience("The run continues; see it with `agent-rft evals show`.")
    while True:
        try:
            reply = service.get(_path(eval_id, run.id))
        except (httpx.RequestError, ServiceError) as failure:
            note(f"the service is unavailable ({patience.reason(failure)}); trying again")
            patience.wait()
            continue
        patience.heard()
        now = parse_reply(RunReply, reply)
        if now.status in _CODES:
            return reply
        if sys.stderr.isatty() and now.counts != shown:
            shown = now.counts
            note(f"{printable(now.status)}: {shown}")
        time.sleep(_POLL_S)


def _path(eval_id: str, run_id: str) -> str:
    return f"{EVALS}/{path_of(eval_id)}/runs/{path_of(run_id)}"


def _print(remote: Remote, reply: dict[str, Any]) -> None:
    run = parse_reply(RunReply, reply)

    def show() -> None:
        pairs: list[tuple[str, object]] = [
            *(("id", run.id), ("status", run.status), ("model", run.model)),
            ("result", run.counts),
        ]
        if run.error is not None:
            pairs.append(("error", f"{run.error.get('code')}: {run.error.get('message')}"))
        out = console()
        out.print(fields(pairs))
        if run.per_testing_criteria_results:
            rows = [
                (one.testing_criteria, one.passed, one.failed)
                for one in run.per_testing_criteria_results
            ]
            out.print(columns(("CRITERION", "PASSED", "FAILED"), rows))

    remote.out.result(reply, show)
