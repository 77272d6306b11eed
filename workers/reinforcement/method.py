"""Reinforcement learning as a training method. Imports no torch, so that a faulty file is reported
at once.

A thread imports the training module, which takes seconds, while the files are checked.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.domain.data.prompts import Overlap
from app.domain.errors import RunFailed
from app.domain.jobs.stop_rules.detectors import ObjectiveCurves
from app.domain.jobs.stop_rules.stop_rules import reward_of
from app.domain.methods.method_documents import StoredMethod
from app.domain.methods.reasoning_efforts import named_effort
from app.domain.methods.reinforcement import (
    ReinforcementMethod,
    resolve_hyperparameters,
    resolved_options,
)
from app.domain.methods.stop import ReinforcementStopOptions, StopOptions
from app.domain.tools.mcp_listings import functions_of
from app.domain.tools.mcp_servers import McpListing
from workers.reinforcement.mcp_servers import (
    new_listings,
    record_listings,
    with_listings,
)
from workers.reinforcement.plan import Plan
from workers.reinforcement.rows import RowFile, load_rows
from workers.reinforcement.steps.step_report import ReinforcementStepReport
from workers.runs.context import RunContext
from workers.runs.data import file_warnings, training_file, validation_file
from workers.runs.endings.training_result import TrainingResult
from workers.runs.method import CheckStop
from workers.runs.steps.reporter import Reporter


@dataclass(frozen=True, slots=True)
class PreparedReinforcement:
    context: RunContext
    method: ReinforcementMethod
    plan: Plan
    train_rows: RowFile
    valid_rows: RowFile
    loading: asyncio.Task[None]
    """Imports the training module."""
    file_warnings: Sequence[str] = ()
    warnings: Sequence[str] = ()
    listings: Mapping[int, McpListing] = field(default_factory=dict)
    """New listings by the position of the MCP server; later runs read them in the job."""

    @property
    def total_steps(self) -> int:
        return self.plan.total_steps

    @property
    def overlap(self) -> Overlap:
        return self.train_rows.prompts.overlap(self.valid_rows.prompts)

    @property
    def resolved_method(self) -> StoredMethod:
        stored, hyperparameters = self.context.job.method, self.plan.hyperparameters
        return stored.with_options(
            resolved_options(stored.options, hyperparameters, self.context.base_model)
        )

    async def train(self, reporter: Reporter, *, check_stop: CheckStop) -> TrainingResult:
        await self.loading
        await record_listings(self.context, self.listings)
        from workers.reinforcement.training import train  # noqa: PLC0415 - imports torch; loaded by now

        return await train(
            self.context,
            self.method,
            self.plan,
            rows=(self.train_rows, self.valid_rows),
            reporter=reporter,
            check_stop=check_stop,
        )


class ReinforcementTraining:
    """Implements `workers.runs.method.Method`."""

    def __init__(self, context: RunContext, method: ReinforcementMethod) -> None:
        self._context = context
        self._method = method
        self.report = ReinforcementStepReport(
            method.grader, start_model=None if context.start is None else context.job.model
        )

    @property
    def stop_options(self) -> StopOptions:
        return self._method.stop or ReinforcementStopOptions()

    @property
    def watched(self) -> ObjectiveCurves:
        return reward_of(self._method.grader)

    @property
    def trained_effort(self) -> str | None:
        effort = self._method.hyperparameters.reasoning_effort
        return named_effort(effort)

    async def prepare(self) -> PreparedReinforcement:
        loading = asyncio.create_task(asyncio.to_thread(_import_training))
        listings = await new_listings(self._context, self._method)
        method = with_listings(self._method, listings)
        training = await training_file(self._context)
        train_rows = await load_rows(training, method)
        held_out = await validation_file(self._context)
        if held_out is None:
            raise RunFailed(
                "A validation file is required for reinforcement fine-tuning.",
                code="missing_required_parameter",
                param="validation_file",
            )
        valid_rows = await load_rows(held_out, method)
        hyperparameters = resolve_hyperparameters(
            method, train_rows=len(train_rows), base_model=self._context.base_model
        )
        plan = Plan(hyperparameters, len(train_rows))
        warnings = await file_warnings(
            self._context,
            training,
            held_out,
            shared_tools=tuple(functions_of(listings.values())),
        )
        is_validated = self._context.files_validated
        return PreparedReinforcement(
            self._context,
            method,
            plan,
            train_rows,
            valid_rows,
            loading,
            file_warnings=[] if is_validated else warnings,
            warnings=warnings if is_validated else [],
            listings=listings,
        )


def _import_training() -> None:
    import workers.reinforcement.training  # noqa: F401, PLC0415 - imports torch, which takes seconds
