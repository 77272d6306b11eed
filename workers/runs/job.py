"""Runs one claim of a job, decides its outcome, tells the owner of endpoints that fall silent."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import structlog

from app.database import Database, RunUnitOfWork
from app.evals.evals import attached_run
from app.files.files import FileRow
from app.jobs.claims import job_claims
from app.jobs.findings import read_verdict
from app.jobs.jobs import (
    FILES_VALIDATED,
    AttachedEval,
    EventLevel,
    Job,
    JobError,
    ReachedCap,
    StopRequest,
    validating_message,
)
from app.jobs.results import result_file
from app.jobs.run_store import MOST_PUT_BACKS
from app.jobs.stop_rules import RuleTrigger
from app.kit.endpoint_pool import EndpointState, Outage
from app.kit.errors import (
    ENDPOINT_UNAVAILABLE,
    NOTHING_TO_LEARN,
    AgentRftError,
    NotFound,
    RunFailed,
    Unavailable,
)
from app.kit.leases import Lease
from app.kit.objects import Objects, put_bytes
from app.models.models import tuned_model_name
from app.rollouts import metrics as names
from app.rollouts.metrics import MetricPoint
from app.rollouts.rollouts import RolloutFilter
from app.rollouts.trajectory import FailureClass
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import RunContext, in_unit
from workers.runs.method import Method, PreparedRun, TrainingResult, build_reporter, with_overlap
from workers.runs.opening import record_reproducibility
from workers.runs.publisher import Retention
from workers.runs.step_outcome import PAUSED_BY, StepOutcome, StoppedEarly

log = structlog.get_logger()

STOP_POLL_S = 1.0


class RunPaused(Exception):
    """Raised between two steps for a requested pause, or with the cap or rule that caused it."""

    def __init__(self, why: ReachedCap | RuleTrigger | None = None) -> None:
        super().__init__()
        self.why = why


class WaitingOnEndpoints(Exception):
    """Raised while other jobs are queued: all pending calls have waited long, or an endpoint that
    one of them waits for is down for as long.
    """

    def __init__(self, waited_s: float) -> None:
        super().__init__()
        self.waited_s = waited_s


class JobRun:
    def __init__(self, context: RunContext, method: Method) -> None:
        self._context = context
        self._method = method
        self._job = context.job
        self._pause_requested = False
        self._watcher: asyncio.Task[None] | None = None
        self._retention = Retention(context)
        self._tuned_name = tuned_model_name(
            context.base_model.name,
            context.organization_slug,
            context.job.suffix,
            job_id=context.job.id,
        )
        self._reporter = build_reporter(context, method, tuned_name=self._tuned_name)
        self._outages = OutageEvents(context)
        lease = Lease(context.job.id, context.job.project_id, context.fence)
        self._ending = RunEnding(context.database, context.objects, lease)

    async def run(self) -> None:
        """Brings the job to an end state. Raises `LeaseLost`, and faults of this service."""
        work = asyncio.create_task(self._work())
        watch = self._watcher = asyncio.create_task(self._watch())
        try:
            await asyncio.wait({work, watch}, return_when=asyncio.FIRST_COMPLETED)
            if watch.done() and not watch.cancelled():
                watch.result()
            await work
        except RunPaused as pause:
            await self._ending.paused(pause.why, publish=self._reporter.writer.last_checkpoint)
        except WaitingOnEndpoints as waiting:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            try:
                await self._ending.put_back(
                    waiting.waited_s, publish=self._reporter.writer.last_checkpoint
                )
            except RunFailed as failure:
                await self._fail(failure)
        except RunFailed as failure:
            work.cancel()  # the watch may have raised it
            await asyncio.gather(work, return_exceptions=True)
            await self._fail(failure)
        finally:
            work.cancel()
            watch.cancel()
            await asyncio.gather(work, watch, return_exceptions=True)

    async def _fail(self, failure: RunFailed) -> None:
        kept = await self._retention.look_up()
        lost = failure.outcome if isinstance(failure, StepLost) else None

        async def keep_lost(unit: RunUnitOfWork) -> None:
            if lost is not None:
                await self._reporter.writer.values(unit, lost)

        await self._ending.failed(failure, lost=lost, keep=keep_lost)
        await self._retention.clear(kept)

    async def _work(self) -> None:
        if not self._context.files_validated:
            await self._reporter.message_once(validating_message(self._job))
        prepared = await self._method.prepare()
        if not self._context.files_validated:
            await self._context.in_unit(lambda unit: self._mark_validated(unit, prepared))
        await self._context.in_unit(lambda unit: self._mark_running(unit, prepared))
        await record_reproducibility(self._context)
        self._reporter.meter.start()
        result = await prepared.train(self._reporter, self._check_stop)
        await self._check_trained()
        await self._succeed(with_overlap(result, prepared.overlap))

    async def _check_trained(self) -> None:
        used = self._reporter.usage
        if used is None or not used.trained_tokens:
            why = await nothing_trained(self._context, self._method.report.nothing_trained)
            raise RunFailed(
                f"Nothing was learned, so no model is published: {why}.", code=NOTHING_TO_LEARN
            )

    def _check_stop(self) -> None:
        """A rule's trigger goes first: a resume clears it, so it must be reported now."""
        due = self._reporter.stopping.due
        if due is not None:
            raise StoppedEarly(due) if due.action == "stop" else RunPaused(due)
        if self._pause_requested:
            raise RunPaused
        self._check_endpoints()
        reached = self._job.caps.reached(self._reporter.usage)
        if reached is not None:
            raise RunPaused(reached)

    def _check_endpoints(self) -> None:
        """Raises `RunFailed` for one that never answered, whatever share of rollouts it costs."""
        for state in self._context.activity.endpoints():
            if state.never_came_up:
                raise RunFailed(
                    f"{state.endpoint} has given no usable answer in this job, and was still down "
                    "when its calls gave up. Check its address and its server, and create the job "
                    "again; no reward was made from its failures.",
                    code=ENDPOINT_UNAVAILABLE,
                )

    async def _watch(self) -> None:
        """Raises `LeaseLost` (a cancel, a newer claim), `WaitingOnEndpoints` and `RunFailed`."""
        while True:
            requested = await self._context.in_unit(lambda unit: unit.jobs.stop_request())
            self._pause_requested = requested is StopRequest.PAUSE
            if not self._pause_requested:
                self._check_endpoints()
            await self._outages.announce(pause_requested=self._pause_requested)
            await self._check_waiting()
            await self._context.clock.sleep(STOP_POLL_S)

    async def _check_waiting(self) -> None:
        settings, activity = self._context.settings, self._context.activity
        limit_s = settings.runs.waiting_limit_s
        waited_s, down_s = activity.waited_s(), activity.overdue_s(limit_s)
        if waited_s < limit_s and down_s is None:
            return

        async def others_wait() -> bool:
            async with job_claims(self._context.database) as unit:
                return await unit.leases.others_come_first(
                    self._job.project_id,
                    max_attempts=settings.lease.max_attempts,
                    most_held=settings.quotas.running_jobs,
                    own=down_s is not None,
                )

        if await retry_while_unavailable(others_wait):
            raise WaitingOnEndpoints(max(waited_s, down_s or 0.0))

    async def _mark_validated(self, unit: RunUnitOfWork, prepared: PreparedRun) -> None:
        if (await unit.jobs.get(self._job.id)).total_steps is not None:
            return
        await unit.jobs.mark_validated(prepared.total_steps, prepared.resolved_method)
        await self._reporter.message(unit, FILES_VALIDATED)
        for warning in prepared.file_warnings:
            await self._reporter.message(unit, warning, level="warn")

    async def _mark_running(self, unit: RunUnitOfWork, prepared: PreparedRun) -> None:
        before = await unit.jobs.get(self._job.id)
        await unit.jobs.mark_running()
        if before.started_at is None:
            for warning in prepared.warnings:
                await self._reporter.message(unit, warning, level="warn")
            await self._reporter.message(unit, "Fine-tuning job started")

    async def _succeed(self, result: TrainingResult) -> None:
        kept = await self._retention.look_up(published=result.adapter_key)
        result_file = await write_result_file(
            self._context.unit, self._context.objects, self._job.id
        )
        reporter, used = self._reporter, self._reporter.meter.reading()
        verdict, sentence = read_verdict(result.report)
        if self._watcher is not None:
            self._watcher.cancel()  # from here on the fence of the write itself decides

        async def write(unit: RunUnitOfWork) -> None:
            await unit.models.insert(
                self._reporter.writer.tuned_model(self._tuned_name, result.step, result.adapter_key)
            )
            await start_attached(unit, self._job, self._tuned_name)
            if result.report is not None:
                await unit.reports.upsert(self._job.id, {**result.report, "verdict": verdict})
            if result.ended_early is not None:
                await unit.jobs.mark_ended_early(result.ended_early.to_json())
            await reporter.message(unit, f"New fine-tuned model created: {self._tuned_name}")
            await reporter.message(unit, "The job has successfully completed")
            level: EventLevel = "warn" if verdict in ("no_clear_gain", "loss") else "info"
            await reporter.message(unit, sentence, level=level, data={"verdict": verdict})
            await unit.jobs.add_usage(used)
            await unit.journal.forget_all(self._job.id)
            files = [] if result_file is None else [result_file]
            for file in files:
                await unit.files.insert(file)
            await unit.jobs.mark_succeeded(
                self._tuned_name, verdict=verdict, result_files=[file.id for file in files]
            )

        await self._context.in_unit(write)
        await self._retention.clear(kept)
        log.info("succeeded", job_id=self._job.id, model=self._tuned_name)


PAUSE_WAITS: Final = "pause_waits_for_endpoint"
SILENT: Final = "endpoint_silent"
ANSWERS: Final = "endpoint_answers"
"""Values of `reason` in the data of these events."""
QUIET_S: Final = 60.0
"""Seconds after an outage. A new outage within them is reported only once it has lasted as long, so
that a flaky endpoint does not fill the list of events.
"""
_RECENT: Final = 100


class OutageEvents:
    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._ended_at: dict[str, float] = {}
        """The monotonic time at which each known outage ended."""
        self._announced: dict[str, int] | None = None
        """The number of answers of each endpoint when its outage was announced."""
        self._has_told_of_pause = False

    async def announce(self, *, pause_requested: bool = False) -> None:
        """For endpoints that fall silent or answer again, and a pause that has to wait for them."""
        if self._announced is None:
            self._announced = await self._context.in_unit(self._open_outages)
        for state in self._context.activity.endpoints():
            answers = self._announced.get(state.endpoint)
            if answers is not None and state.answers > answers and state.outage is None:
                message = f"The endpoint answers again: {state.endpoint}. The job continues."
                data = {"reason": ANSWERS, "endpoint": state.endpoint}
                await self._append(message, data, level="info")
                del self._announced[state.endpoint]
                self._ended_at[state.endpoint] = time.monotonic()
            elif answers is None and state.outage is not None and self._is_news(state):
                limit = self._context.settings.runs.infrastructure_limit
                await self._append(*_silent(state.endpoint, state.outage, limit), level="warn")
                self._announced[state.endpoint] = state.answers

        await self._tell_of_pause(pause_requested=pause_requested)

    async def _tell_of_pause(self, *, pause_requested: bool) -> None:
        if not pause_requested:
            self._has_told_of_pause = False
            return
        waiting = {
            state.endpoint: state.outage.gives_up_in_s
            for state in self._context.activity.endpoints()
            if state.outage is not None and state.outage.rollouts
        }
        if waiting and not self._has_told_of_pause:
            await self._append(*_pause_waits(waiting), level="info")
            self._has_told_of_pause = True

    def _is_news(self, state: EndpointState) -> bool:
        ended_at = self._ended_at.get(state.endpoint)
        lasted_s = 0.0 if state.outage is None else state.outage.silent_s
        return ended_at is None or lasted_s >= QUIET_S or time.monotonic() - ended_at >= QUIET_S

    async def _open_outages(self, unit: RunUnitOfWork) -> dict[str, int]:
        events, _ = await unit.events.page(self._context.job.id, after=None, limit=_RECENT)
        state: dict[str, str] = {}
        for event in events:  # newest first
            data = event.data or {}
            if data.get("reason") in (SILENT, ANSWERS):
                state.setdefault(data["endpoint"], data["reason"])
        return {endpoint: 0 for endpoint, reason in state.items() if reason == SILENT}

    async def _append(self, message: str, data: dict[str, Any], *, level: EventLevel) -> None:
        async def write(unit: RunUnitOfWork) -> None:
            await unit.events.append(self._context.job.id, level=level, message=message, data=data)

        await self._context.in_unit(write)


def _silent(endpoint: str, outage: Outage, limit: float) -> tuple[str, dict[str, Any]]:
    now = time.time()
    since, until = now - outage.silent_s, now + outage.gives_up_in_s
    why = "" if outage.last_fault is None else f" (last: {outage.last_fault})"
    wait = "1 rollout waits" if outage.rollouts == 1 else f"{outage.rollouts} rollouts wait"
    cause = (
        "It has given no usable answer in this job yet: none until then"
        if outage.ends_job
        else f"Those without an answer are lost then, and a step that loses {limit:.0%} of its "
        "rollouts"
    )
    message = (
        f"Waiting on endpoint: {endpoint} has not answered since {_clock(since)}{why}. {wait} for "
        f"it, at most until {_clock(until)}. {cause} ends the job with the code "
        f"{ENDPOINT_UNAVAILABLE}. If the endpoint answers before, the job continues and nothing is "
        "lost."
    )
    data = {
        "reason": SILENT,
        "endpoint": endpoint,
        "since": int(since),
        "rollouts": outage.rollouts,
        "gives_up_at": int(until),
    }
    return message, data


def _pause_waits(waiting: Mapping[str, float]) -> tuple[str, dict[str, Any]]:
    """`waiting` has the seconds until the calls of each silent endpoint give up."""
    until = time.time() + max(waiting.values())
    message = (
        f"A pause is requested: the job pauses after the running step, which waits for "
        f"{', '.join(sorted(waiting))}, at most until {_clock(until)}. A cancel ends it at once."
    )
    data = {"reason": PAUSE_WAITS, "endpoints": sorted(waiting), "gives_up_at": int(until)}
    return message, data


def _clock(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC"


WAITING_ON_ENDPOINT: Final = "waiting_on_endpoint"
_PAUSED: Final = "Fine-tuning job paused"
Publish = Callable[[RunUnitOfWork], Awaitable[str | None]]


class RunEnding:
    """Ends one claim of a job. Promises that a failed job with metrics has its result file."""

    def __init__(self, database: Database, objects: Objects, lease: Lease) -> None:
        self._database = database
        self._objects = objects
        self._claim = (lease.project_id, lease.id, lease.fence)
        self._job_id = lease.id

    async def failed(
        self,
        failure: RunFailed,
        *,
        lost: StepOutcome | None = None,
        keep: Callable[[RunUnitOfWork], Awaitable[None]] | None = None,
    ) -> None:
        """`lost`: the step that ends the job, for the result file. `keep` writes its rows."""
        result_file = await self._result_file_if_possible(lost)
        error = JobError(code=failure.code, message=failure.message, param=failure.param)

        async def write(unit: RunUnitOfWork) -> None:
            await unit.events.append(
                self._job_id,
                level="error",
                message=failure.message,
                data={"error_code": failure.code, "error_param": failure.param},
            )
            await unit.journal.forget_all(self._job_id)
            if result_file is not None:
                await unit.files.insert(result_file)
            if keep is not None:
                await keep(unit)
            if not (await unit.jobs.get(self._job_id)).trained_tokens:
                # A checkpoint of an untrained job would be the base model under another name.
                needed = await unit.checkpoints.needed(self._job_id)
                await unit.jobs.mark_retained(sorted(needed))
            files = [] if result_file is None else [result_file.id]
            await unit.jobs.mark_failed(error, result_files=files)

        await in_unit(self._unit, write)
        log.warning("failed", job_id=self._job_id, code=failure.code, reason=failure.message)

    async def _result_file_if_possible(self, lost: StepOutcome | None) -> FileRow | None:
        """Returns the result file; the job fails with its own reason if it has none."""
        try:
            return await write_result_file(self._unit, self._objects, self._job_id, lost=lost)
        except Unavailable as error:
            log.warning("no result file written", job_id=self._job_id, error=str(error))
            return None

    def _unit(self) -> RunUnitOfWork:
        return self._database.run(*self._claim)

    async def exhausted(self, error: Exception, *, max_attempts: int) -> bool:
        """An earlier attempt leaves the job to the next one. Returns whether the job has ended."""
        reason = str(error) if isinstance(error, AgentRftError) else type(error).__name__

        async def attempts(unit: RunUnitOfWork) -> int:
            return (await unit.jobs.get(self._job_id)).attempts

        if await in_unit(self._unit, attempts) < max_attempts:
            return False
        message = f"The run met an internal error {max_attempts} times without progress: {reason}"
        await self.failed(RunFailed(message, code="internal_error"))
        return True

    async def put_back(self, waited_s: float, *, publish: Publish | None = None) -> None:
        """Or pauses it. Raises `RunFailed` when queued too often without a committed step."""
        data = {"reason": WAITING_ON_ENDPOINT, "waited_s": round(waited_s, 1)}

        async def write(unit: RunUnitOfWork) -> None:
            if await unit.jobs.stop_request() is StopRequest.PAUSE:
                await self._publish(unit, publish)
                await unit.events.append(self._job_id, message=_PAUSED)
                await unit.jobs.mark_paused()
                return
            step = (await unit.jobs.resume_point()).step
            retry_s = await unit.jobs.put_back()
            if retry_s is None:
                raise RunFailed(
                    f"A tool or grader has not answered for {waited_s:.0f} s, and the job was "
                    f"queued again {MOST_PUT_BACKS} times for that reason without a step "
                    "between. Repair the endpoint and create the job again.",
                    code=ENDPOINT_UNAVAILABLE,
                )
            await unit.events.append(
                self._job_id,
                level="warn",
                message=(
                    f"Waiting on endpoint: a tool or grader has not answered for {waited_s:.0f} s,"
                    " and other jobs wait for a worker. The job is queued again "
                    f"and continues after step {step}, in {retry_s:.0f} s at the earliest. "
                    "Answers that were received are kept. Check that the endpoints answer."
                ),
                data={**data, "step": step, "retry_after_s": retry_s},
            )

        await in_unit(self._unit, write)
        log.info("put back, waiting on endpoint", job_id=self._job_id, waited_s=waited_s)

    async def _publish(self, unit: RunUnitOfWork, publish: Publish | None) -> None:
        model = None if publish is None else await publish(unit)
        if model is not None:
            await unit.events.append(
                self._job_id,
                level="info",
                message=f"The last step can be tried as {model}",
                data={"model": model},
            )

    async def paused(
        self, why: ReachedCap | RuleTrigger | None = None, *, publish: Publish | None = None
    ) -> None:
        """`why`: cap or rule. `publish` makes a checkpoint and returns its model."""
        message = _PAUSED
        resume = f"POST /v1/fine_tuning/jobs/{self._job_id}/resume"
        data = None
        match why:
            case ReachedCap():
                message += (
                    f": {why.reason}. Nothing is lost; resume it with a higher {why.name} to go "
                    f'on: {resume} {{"{why.name}": …}}'
                )
            case RuleTrigger():
                message += (
                    f" by the rule '{why.rule}': {why.reason}. Nothing is lost; resume it to go on "
                    f"({resume}), and only what comes then counts for the rule"
                )
                data = {PAUSED_BY: why.rule, "step": why.step, "reason": why.reason}
            case None:
                pass

        async def write(unit: RunUnitOfWork) -> None:
            await self._publish(unit, publish)
            await unit.events.append(
                self._job_id, level="info" if why is None else "warn", message=message, data=data
            )
            await unit.jobs.mark_paused()

        await in_unit(self._unit, write)
        log.info("paused", job_id=self._job_id, why=None if why is None else why.reason)


async def start_attached(unit: RunUnitOfWork, job: Job, tuned: str) -> None:
    """For the start and the tuned model, in the transaction that publishes it."""
    if not job.evals:
        return
    started = [await _start(unit, job, each, tuned) for each in job.evals]
    await unit.jobs.record_evals(started)
    for each in started:
        if each.error is not None:
            await unit.events.append(
                job.id, level="warn", message=each.error, data={"eval": each.eval_id}
            )


async def _start(unit: RunUnitOfWork, job: Job, attached: AttachedEval, tuned: str) -> AttachedEval:
    start_run = attached_run(attached, job.id, model=job.model, side="start")
    tuned_run = attached_run(attached, job.id, model=tuned, side="tuned")
    try:
        for run in (start_run, tuned_run):
            await unit.eval_runs.insert(run)
    except NotFound:
        return attached.without_runs()
    return attached.started(start=start_run.id, tuned=tuned_run.id)


_LEAST_SHARE: Final = 0.1
"""Share of lost rollouts from which they may be the cause."""
_COUNTS: Final = (
    names.DISCARDED_COUNT,
    names.ROLLOUTS_VALID,
    *(names.discarded_metric(each) for each in FailureClass),
)


async def nothing_trained(context: RunContext, reason: str) -> str:
    """`reason`, after the share of lost rollouts and their main class unless it is small."""
    return await retry_while_unavailable(lambda: _with_losses(context, reason))


async def _with_losses(context: RunContext, reason: str) -> str:
    job_id = context.job.id
    async with context.unit() as unit:
        points = await unit.metrics.curve(
            job_id, names=list(_COUNTS), split="train", after_step=None
        )
        totals = Counter[str]()
        for point in points:
            totals[point.name] += round(point.value)
        lost = totals[names.DISCARDED_COUNT]
        share = lost / max(1, lost + totals[names.ROLLOUTS_VALID])
        if share < _LEAST_SHARE:
            return reason
        main = max(FailureClass, key=lambda each: totals[names.discarded_metric(each)])
        where = RolloutFilter(split="train", failure_class=main)
        rows, _ = await unit.rollouts.page(job_id, where, after=None, limit=1)
    shown = f"{main}: {rows[0].failure_message}" if rows else main
    return (
        f"{share:.0%} of the training rollouts were lost to failures (mostly {shown}), which have "
        f"to be corrected first. Among the others {reason}"
    )


class StepLost(RunFailed):
    """Ends a run. `outcome` has the rollouts and their counts; nothing was trained on them."""

    def __init__(
        self, message: str, *, code: str, outcome: StepOutcome, param: str | None = None
    ) -> None:
        super().__init__(message, code=code, param=param)
        self.outcome = outcome


async def write_result_file(
    unit_of: Callable[[], RunUnitOfWork],
    objects: Objects,
    job_id: str,
    *,
    lost: StepOutcome | None = None,
) -> FileRow | None:
    """Returns the file's row, which the caller inserts; `None` if no step has points. Writing again
    changes nothing. `lost`: the step that ends the job, whose points are written with the end.
    Raises `LeaseLost` and `Unavailable`.
    """

    async def read() -> tuple[Job, list[MetricPoint]]:
        async with unit_of() as unit:
            points = await unit.metrics.curve(job_id, names=None, split=None, after_step=0)
            return await unit.jobs.get(job_id), points

    job, committed = await retry_while_unavailable(read)
    made = result_file(job, [*committed, *([] if lost is None else lost.points())])
    if made is None:
        return None
    row, content = made
    await put_bytes(objects, row.object_key, content)
    return row
