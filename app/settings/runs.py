"""Settings of runs: their lease, their limits, their prices, and the retention of their data."""

from pydantic import Field

from app.domain.models.trainer_memory import TrainerMemory
from app.settings.sources import SettingsSection, Sources


class LeaseSettings(SettingsSection):
    """Settings of leases. The heartbeat is a quarter of the lease. The process of a run is ended
    when its event loop does not respond for two leases.
    """

    lease_s: float = Field(30.0, gt=0)
    """Time after which a worker that renews its lease no more loses it."""
    max_attempts: int = Field(5, ge=1)
    """Claims without progress after which a job, an eval run or an export fails."""
    sweep_interval_s: float = Field(5.0, gt=0)
    """Time between two runs of the sweeper."""
    progress_s: float | None = Field(None, gt=0)
    """Time without progress (an answer of an endpoint, a micro-batch, a stored file) after which a
    run's process is ended; `None` stands for half an hour, or twice the time of a call if that is
    longer.
    """
    pause_grace_s: float = Field(900.0, gt=0)
    """Time after which a requested pause no longer waits for the end of the step."""

    @property
    def heartbeat_s(self) -> float:
        return self.lease_s / 4


class RunSettings(SettingsSection):
    """Limits of one training run. Shares are in 0..1."""

    max_concurrent_rollouts: int = Field(128, ge=1)
    """Rollouts that a run samples at the same time."""
    infrastructure_limit: float = Field(0.75, gt=0, le=1)
    """Share of a step's rollouts whose loss to failures ends the job with an error."""
    min_group_share: float = Field(0.75, gt=0, le=1)
    """Share of a group that must be graded for the group to train."""
    max_eval_run_s: float = Field(86_400.0, gt=0)
    """Seconds from the first claim of an eval run after which it fails."""
    save_share: float = Field(0.05, gt=0, le=1)
    """Share of a supervised or DPO job's time that saving its state may take. A killed run repeats
    the steps after the last save; 1 saves after every step.
    """
    checkpointing: bool | None = None
    """True makes trainers recompute each layer in the backward pass: a quarter more time for a
    fraction of the memory. `None` does so on a GPU only. A base model may have its own value.
    """
    micro_batch_tokens: int | None = Field(None, gt=0)
    """Tokens of a micro-batch; `None` is 4,096 on a CPU, and on a GPU as many as fit into the
    memory that is free at the start. A micro-batch that does not fit is halved.
    """
    waiting_limit_s: float = Field(120.0, gt=0)
    """Seconds after which a job that only waits for its endpoints is put back into the queue, if
    another project's job waits for a worker, or one of the same project while they are down.
    """
    episode_waiting_limit_s: float = Field(1800.0, gt=0)
    """Seconds that a rollout may wait for its HTTP environment, all calls of the episode and their
    repeats together; it is lost then as `environment_timeout`.
    """

    @property
    def memory(self) -> TrainerMemory:
        return TrainerMemory(
            checkpointing=self.checkpointing, micro_batch_tokens=self.micro_batch_tokens
        )


class ConfiguredRuns(Sources):
    """Only the settings of runs, which a start reads before it has a database."""

    runs: RunSettings = RunSettings()


class RetentionSettings(SettingsSection):
    """Days after which data are removed; `None` keeps them. For a job's data the days count from
    its end; data that an unfinished job or eval run uses are kept.
    """

    rollouts_days: float | None = Field(None, gt=0)
    """Rollouts of ended jobs; report, curves and events stay."""
    checkpoints_days: float | None = Field(None, gt=0)
    """Checkpoints and their models; a job's published model is kept."""
    jobs_days: float | None = Field(None, gt=0)
    """Ended jobs with all their data, as in `DELETE /v1/fine_tuning/jobs/{id}`."""
    files_days: float | None = Field(None, gt=0)
    """Files, counted from their creation; result files are files."""
    exports_days: float = Field(7.0, gt=0)
    """Exports of models, counted from their end; they can be made again."""
    audit_logs_days: float | None = Field(None, gt=0)
    """Entries of the audit log."""
    completions_days: float | None = Field(None, gt=0)
    """Stored chat completions, and with them the feedback about them."""
    feedback_days: float | None = Field(None, gt=0)
    """Feedback, counted from its creation; files that were built from it are files."""
    usage_days: float | None = Field(None, gt=0)
    """Records of usage, and with them what usage and costs show of those days."""


class PricingSettings(SettingsSection):
    """Prices for `usage_metrics.estimated_cost` and for `/v1/organization/costs`. Usage without a
    price has no cost. A price counts from its setting on: recorded costs stay.
    """

    per_hour: float | None = Field(None, ge=0)
    """Price of an hour of a job's `training_time_s`."""
    per_million_input_tokens: float | None = Field(None, ge=0)
    """Price of prompts of chat completions."""
    per_million_output_tokens: float | None = Field(None, ge=0)
    """Price of answers of chat completions."""
    currency: str = Field("USD", min_length=1, max_length=16)
    """Name of the currency of all prices."""
