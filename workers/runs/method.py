"""The interface of a training method: all differences between runs of two methods.

`workers.reinforcement` and `workers.supervised` implement it and `workers.methods` picks one for a
job. Promises that importing an implementation's module takes no torch: `PreparedRun.train` imports
the training module. Must not know the existing methods.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from app.domain.data.prompts import Overlap
from app.domain.jobs.stop_rules.detectors import ObjectiveCurves
from app.domain.methods.method_documents import StoredMethod
from app.domain.methods.stop import StopOptions
from workers.runs.context import RunContext
from workers.runs.endings.training_result import TrainingResult
from workers.runs.steps.announcer import StepReport
from workers.runs.steps.reporter import Reporter
from workers.runs.steps.stopping import Stopping

CheckStop = Callable[[], None]
"""Runs before each step and raises to end the training; `StoppedEarly` ends it as a success."""


class PreparedRun(Protocol):
    """A run whose files are checked and whose `auto` hyperparameters are numbers."""

    @property
    def total_steps(self) -> int: ...

    @property
    def resolved_method(self) -> StoredMethod:
        """The job's `method` with every default and every `auto` replaced by its value."""
        ...

    @property
    def warnings(self) -> Sequence[str]:
        """Messages for the events of a job that starts."""
        ...

    @property
    def file_warnings(self) -> Sequence[str]:
        """Messages about the files for the events of a job whose files are valid from now on."""
        ...

    @property
    def overlap(self) -> Overlap | None:
        """Held-out rows that are trained on too; `None` for a job without a validation file."""
        ...

    async def train(self, reporter: Reporter, *, check_stop: CheckStop) -> TrainingResult:
        """Trains from the last committed step to the end, or to the step at which a rule ends the
        job, and commits every step through `reporter`. Raises `RunFailed`, and what `check_stop`
        raises except `StoppedEarly`.
        """
        ...


class Method(Protocol):
    """One way to train, with the job's own options."""

    @property
    def report(self) -> StepReport: ...

    @property
    def stop_options(self) -> StopOptions:
        """The job's rules, or the method's defaults."""
        ...

    @property
    def watched(self) -> ObjectiveCurves:
        """The curves by which the rules compare training and validation."""
        ...

    @property
    def trained_effort(self) -> str | None:
        """The reasoning effort that calls of the tuned model use; `None` for the model's own."""
        ...

    async def prepare(self) -> PreparedRun:
        """Checks the job's files. Raises `RunFailed` for the first fault, with line and pointer."""
        ...


def build_reporter(context: RunContext, method: Method, *, tuned_name: str) -> Reporter:
    return Reporter(
        context,
        tuned_name,
        report=method.report,
        stopping=Stopping(context, method.stop_options, watched=method.watched),
        trained_effort=method.trained_effort,
    )
