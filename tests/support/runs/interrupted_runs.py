"""A training method whose run is killed at a chosen instant, through the interface of methods."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from typing_extensions import override

from app.jobs.jobs import Usage
from workers.job_child import build_method
from workers.runs.context import RunContext
from workers.runs.job import JobRun
from workers.runs.method import CheckStop, PreparedRun, TrainingResult
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
    reported: list[int] = []  # steps whose transaction was written

    async def prepare() -> PreparedRun:
        run = await method.prepare()

        async def train(reporter: Reporter, check_stop: CheckStop) -> TrainingResult:
            def check() -> None:
                reached = after_step is not None and max(reported, default=0) >= after_step
                if reached or before_step(reporter):
                    raise RunKilled
                check_stop()

            return await run.train(reporter, check)

        return replace(run, train=train)

    kind = _KilledAtCommit if at_commit else _RecordedReport
    return JobRun(context, replace(method, report=kind(method.report, reported), prepare=prepare))


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
