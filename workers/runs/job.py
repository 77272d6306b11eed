"""Runs one claim of a job to its end state. This module alone decides a run's outcome, and tells
the owner of endpoints that fall silent.
"""

import asyncio
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, assert_never

import structlog

from app.database import RunUnitOfWork
from app.jobs.claims import job_claims
from app.jobs.jobs import FILES_VALIDATED, EventLevel, ReachedCap, StopRequest
from app.jobs.stop_rules import RuleTrigger
from app.kit.endpoint_pool import EndpointState, Outage
from app.kit.errors import ENDPOINT_UNAVAILABLE, NOTHING_TO_LEARN, RunFailed
from app.models.models import tuned_model_name
from workers.processes.retry import retry_while_unavailable
from workers.runs.context import RunContext
from workers.runs.ending import (
    RunEnding,
    StepLost,
    nothing_trained,
    start_attached,
    write_result_file,
)
from workers.runs.method import Method, PreparedRun, TrainingResult, build_reporter, with_overlap
from workers.runs.opening import record_reproducibility
from workers.runs.publisher import Retention
from workers.runs.step_outcome import StoppedEarly

log = structlog.get_logger()

STOP_POLL_S = 1.0


class RunPaused(Exception):
    """Raised between two steps for a requested pause, or with the cap or rule that caused it."""

    def __init__(self, why: ReachedCap | RuleTrigger | None = None) -> None:
        super().__init__()
        self.why = why


class WaitingOnEndpoints(Exception):
    """Raised when every pending call has waited long while other jobs are queued."""

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
        self._ending = RunEnding(
            context.database,
            context.objects,
            project_id=context.job.project_id,
            job_id=context.job.id,
            fence=context.fence,
        )

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
            await self._reporter.announcer.validating_files()
        prepared = await self._method.prepare()
        if not self._context.files_validated:
            await self._context.in_unit(lambda unit: self._mark_validated(unit, prepared))
        await self._context.in_unit(lambda unit: self._mark_running(unit, prepared))
        await record_reproducibility(self._context)
        self._reporter.meter.start()
        result = await prepared.train(self._reporter, check_stop=self._check_stop)
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
        """Raises `StoppedEarly` or `RunPaused` when the next step must not start. A rule's trigger
        goes first: a resume clears it, so it must be reported now.
        """
        due = self._reporter.stopping.due
        if due is not None:
            raise _stop_of(due)
        if self._pause_requested:
            raise RunPaused
        reached = self._job.caps.reached(self._reporter.usage)
        if reached is not None:
            raise RunPaused(reached)

    async def _watch(self) -> None:
        """Polls for a pause, and announces silent endpoints. Raises `LeaseLost` when the fence is
        lost: a cancel, a newer claim; and `WaitingOnEndpoints` when the worker should run another
        job.
        """
        while True:
            requested = await self._context.in_unit(lambda unit: unit.jobs.stop_request())
            self._pause_requested = requested is StopRequest.PAUSE
            await self._outages.announce(pause_requested=self._pause_requested)
            await self._check_waiting()
            await asyncio.sleep(STOP_POLL_S)

    async def _check_waiting(self) -> None:
        settings, activity = self._context.settings, self._context.activity
        waited_s = activity.waited_s()
        if waited_s < settings.runs.waiting_limit_s:
            return

        async def others_wait() -> bool:
            async with job_claims(self._context.database) as unit:
                return await unit.leases.others_come_first(
                    self._job.project_id,
                    max_attempts=settings.lease.max_attempts,
                    most_held=settings.quotas.running_jobs,
                    own=activity.waits_for_what_is_down(),
                )

        if await retry_while_unavailable(others_wait):
            raise WaitingOnEndpoints(waited_s)

    async def _mark_validated(self, unit: RunUnitOfWork, prepared: PreparedRun) -> None:
        announcer = self._reporter.announcer
        if (await unit.jobs.get(self._job.id)).total_steps is not None:
            return
        await unit.jobs.mark_validated(prepared.total_steps, prepared.resolved_method)
        await announcer.message(unit, FILES_VALIDATED)
        for warning in prepared.file_warnings:
            await announcer.message(unit, warning, level="warn")

    async def _mark_running(self, unit: RunUnitOfWork, prepared: PreparedRun) -> None:
        before = await unit.jobs.get(self._job.id)
        await unit.jobs.mark_running()
        if before.started_at is None:
            for warning in prepared.warnings:
                await self._reporter.announcer.message(unit, warning, level="warn")
            await self._reporter.announcer.message(unit, "Fine-tuning job started")

    async def _succeed(self, result: TrainingResult) -> None:
        kept = await self._retention.look_up(published=result.adapter_key)
        result_file = await write_result_file(
            self._context.unit, self._context.objects, self._job.id
        )
        announcer, used = self._reporter.announcer, self._reporter.meter.reading()
        if self._watcher is not None:
            self._watcher.cancel()  # from here on the fence of the write itself decides

        async def write(unit: RunUnitOfWork) -> None:
            await unit.models.insert(
                self._reporter.writer.tuned_model(self._tuned_name, result.step, result.adapter_key)
            )
            await start_attached(unit, self._job, self._tuned_name)
            if result.report is not None:
                await unit.reports.upsert(self._job.id, result.report)
            if result.ended_early is not None:
                await unit.jobs.mark_ended_early(result.ended_early.to_json())
            await announcer.message(unit, f"New fine-tuned model created: {self._tuned_name}")
            await announcer.message(unit, "The job has successfully completed")
            await unit.jobs.add_usage(used)
            await unit.journal.forget_all(self._job.id)
            files = [] if result_file is None else [result_file]
            for file in files:
                await unit.files.insert(file)
            await unit.jobs.mark_succeeded(
                self._tuned_name, result_files=[file.id for file in files]
            )

        await self._context.in_unit(write)
        await self._retention.clear(kept)
        log.info("succeeded", job_id=self._job.id, model=self._tuned_name)


def _stop_of(due: RuleTrigger) -> StoppedEarly | RunPaused:
    match due.action:
        case "stop":
            return StoppedEarly(due)
        case "pause" | "warn":
            return RunPaused(due)
        case _:
            assert_never(due.action)


PAUSE_WAITS: Final = "pause_waits_for_endpoint"
SILENT: Final = "endpoint_silent"
ANSWERS: Final = "endpoint_answers"
"""Values of `reason` in the data of these events."""
QUIET_S: Final = 60.0
"""Seconds after an outage. A new outage within them is reported only once it has lasted as long, so
that a flaky endpoint does not fill the list of events.
"""
_RECENT: Final = 100
"""Number of recent events that are searched for outages of earlier claims."""


class OutageEvents:
    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._ended_at: dict[str, float] = {}
        """The monotonic time at which each known outage ended."""
        self._announced: dict[str, int] | None = None
        """The number of answers of each endpoint when its outage was announced."""
        self._has_told_of_pause = False

    async def announce(self, *, pause_requested: bool = False) -> None:
        """Appends an event for each endpoint that has fallen silent or answers again, and one for a
        requested pause that has to wait for silent ones.
        """
        if self._announced is None:
            self._announced = await self._context.in_unit(self._open_outages)
        for state in self._context.activity.endpoints():
            answers = self._announced.get(state.endpoint)
            if answers is not None and state.answers > answers and state.outage is None:
                await self._append(*_answers(state), level="info")
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
    message = (
        f"Waiting on endpoint: {endpoint} has not answered since {_clock(since)}{why}. {wait} for "
        f"it, at most until {_clock(until)}. Those without an answer are lost then, and a step "
        f"that loses {limit:.0%} of its rollouts ends the job with the code {ENDPOINT_UNAVAILABLE}."
        " If the endpoint answers before, the job continues and nothing is lost."
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


def _answers(state: EndpointState) -> tuple[str, dict[str, Any]]:
    message = f"The endpoint answers again: {state.endpoint}. The job continues."
    return message, {"reason": ANSWERS, "endpoint": state.endpoint}


def _clock(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC"
