"""A training method whose run is killed at a chosen instant, through the interface of methods."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from typing_extensions import override

from app.files.datasets import Overlap
from app.jobs.jobs import Usage
from app.jobs.methods import StoredMethod
from app.jobs.stop_options import StopOptions
from app.jobs.stop_rules import ObjectiveCurves
from workers.job_child import build_method
from workers.runs.context import RunContext
from workers.runs.job import JobRun
from workers.runs.method import CheckStop, Method, PreparedRun, TrainingResult
from workers.runs.reporter import Reporter, StepReport
from workers.runs.step_outcome import StepOutcome


class RunKilled(BaseException):
    """Ends a run as a kill does: no handler of the run may catch it."""


def interrupted_run(
    context: RunContext,
    *,
    before_step: Callable[[Reporter], bool] = lambda _: False,
    at_commit: bool = False,
    after_step: int | None = None,
) -> JobRun:
    """Builds the run of a claimed job that raises `RunKilled`.

    `before_step` is asked before each step and kills the run when it returns true; with
    `at_commit`, the run crashes in the transaction that commits its first step; with `after_step`,
    between the commit of that step, or of a later one together with it, and the next step.
    """
    method = build_method(context)
    return JobRun(
        context, _InterruptedMethod(method, before_step, at_commit=at_commit, after_step=after_step)
    )


@dataclass(frozen=True, slots=True)
class _InterruptedMethod:
    """Implements `workers.runs.method.Method`."""

    method: Method
    before_step: Callable[[Reporter], bool]
    at_commit: bool
    after_step: int | None
    reported: list[int] = field(default_factory=list)
    """Steps whose transaction was written."""

    @property
    def report(self) -> StepReport:
        if self.at_commit:
            return _KilledAtCommit(self.method.report, self.reported)
        return _RecordedReport(self.method.report, self.reported)

    @property
    def stop_options(self) -> StopOptions:
        return self.method.stop_options

    @property
    def watched(self) -> ObjectiveCurves:
        return self.method.watched

    @property
    def trained_effort(self) -> str | None:
        return self.method.trained_effort

    async def prepare(self) -> PreparedRun:
        return _InterruptedRun(await self.method.prepare(), self._is_killed)

    def _is_killed(self, reporter: Reporter) -> bool:
        reached = self.after_step is not None and max(self.reported, default=0) >= self.after_step
        return reached or self.before_step(reporter)


@dataclass(frozen=True, slots=True)
class _InterruptedRun:
    """Implements `workers.runs.method.PreparedRun`."""

    run: PreparedRun
    before_step: Callable[[Reporter], bool]

    @property
    def total_steps(self) -> int:
        return self.run.total_steps

    @property
    def resolved_method(self) -> StoredMethod:
        return self.run.resolved_method

    @property
    def warnings(self) -> Sequence[str]:
        return self.run.warnings

    @property
    def file_warnings(self) -> Sequence[str]:
        return self.run.file_warnings

    @property
    def overlap(self) -> Overlap | None:
        return self.run.overlap

    async def train(self, reporter: Reporter, *, check_stop: CheckStop) -> TrainingResult:
        def check() -> None:
            if self.before_step(reporter):
                raise RunKilled
            check_stop()

        return await self.run.train(reporter, check_stop=check)


@dataclass(frozen=True, slots=True)
class _RecordedReport:
    """Implements `workers.runs.reporter.StepReport`."""

    report: StepReport
    reported: list[int]

    @property
    def nothing_trained(self) -> str:
        return self.report.nothing_trained

    def baseline(self, outcome: StepOutcome) -> Sequence[str]:
        return self.report.baseline(outcome)

    def validation(self, outcome: StepOutcome) -> str:
        return self.report.validation(outcome)

    def step(self, outcome: StepOutcome, total_steps: int) -> tuple[str, dict[str, Any]]:
        self.reported.append(outcome.step)
        return self.report.step(outcome, total_steps)

    def makes_checkpoint(self, outcome: StepOutcome) -> bool:
        return self.report.makes_checkpoint(outcome)

    def checkpoint(self, outcome: StepOutcome) -> dict[str, float]:
        return self.report.checkpoint(outcome)

    def usage(self, outcome: StepOutcome) -> Usage:
        return self.report.usage(outcome)


@dataclass(frozen=True, slots=True)
class _KilledAtCommit(_RecordedReport):
    """Crashes where a step's transaction is written."""

    @override
    def step(self, outcome: StepOutcome, total_steps: int) -> tuple[str, dict[str, Any]]:
        raise RunKilled
