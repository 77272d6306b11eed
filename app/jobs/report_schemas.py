"""Curves on the wire (an extension: the hosted API serves them only inside events)."""

from typing import Final, Literal

from pydantic import ConfigDict

from app.jobs.jobs import Job, JobStatus, StreamedEvent
from app.jobs.reply_schemas import FineTuningJobEvent, JobErrorBody
from app.kit.fields import DescribedModel, Json
from app.kit.ids import Split
from app.rollouts.metrics import MetricPoint


class Point(DescribedModel):
    """One value of a curve."""

    step: int
    """The committed step; 0 is before training."""
    value: float
    """The value at that step."""


class CurvePoint(DescribedModel):
    """A row of the export of a job's curves."""

    name: str
    """Name of the curve, such as `reward/mean`."""
    split: Split
    """The rollouts or rows that it measures."""
    step: int
    """The committed step; 0 is before training."""
    value: float
    """The value at that step."""

    @classmethod
    def of(cls, point: MetricPoint) -> "CurvePoint":
        return cls.read(point)


class Curve(DescribedModel):
    """The points of one curve of a job."""

    id: str
    """`<split>:<name>`"""
    object: Literal["fine_tuning.job.metric"] = "fine_tuning.job.metric"
    name: str
    """Name of the curve, such as `reward/mean`."""
    split: Split
    """The rollouts or rows that it measures."""
    points: list[Point]
    """Points by step, thinned to `max_points`."""

    @classmethod
    def of(cls, points: list[MetricPoint]) -> "Curve":
        name, split = points[0].name, points[0].split
        return cls(
            id=f"{split}:{name}",
            name=name,
            split=split,
            points=[Point(step=point.step, value=point.value) for point in points],
        )


Interval = list[float]


class _ReportPart(DescribedModel):
    model_config = ConfigDict(extra="allow")


class Comparison(_ReportPart):
    """One value under the compared models: means over the held-out rows that have this value
    before and after training.
    """

    base_mean: float | None = None
    """Mean of the base model; `null` if it was not measured."""
    start_mean: float | None = None
    """Mean of the model that training started from: the base model, or a tuned one."""
    start_ci95: Interval | None = None
    """95 % interval of `start_mean` over rows: bootstrap, or by the range of the values where fewer
    than 5 rows differ from the most common value, and for values of 0 and 1 alone (Clopper and
    Pearson). `null` for fewer than 6 rows, and for almost equal values without a range (losses,
    log-probs, tool calls).
    """
    tuned_mean: float | None = None
    """Mean of the published model."""
    tuned_ci95: Interval | None = None
    """95 % interval of `tuned_mean` over rows; computed, and `null`, as that of `start_mean`."""
    difference: float | None = None
    """Mean over rows of tuned less start."""
    difference_ci95: Interval | None = None
    """95 % interval of `difference` by the differences of the rows; computed, and `null`, as that
    of `start_mean`. Where the same rows chose the published checkpoint it is wider, by Bonferroni's
    inequality.
    """


class ComponentComparison(Comparison):
    """A number besides the reward, under the compared models. As in its curve, rollouts without it
    do not count.
    """

    rows: int | None = None
    """Held-out rows that have the number before and after training; if 0, the others are `null`.
    `null` in reports of earlier versions.
    """
    rollouts_without: int | None = None
    """Graded rollouts, before and after training together, that do not have it. `null` in reports
    of earlier versions.
    """


class Regression(_ReportPart):
    """A held-out row that became worse."""

    row: int
    """Row number in the validation file, from 0."""
    before: float | None
    """Its value under the model that training started from."""
    after: float | None
    """Its value under the tuned model."""


class RewardComparison(_ReportPart):
    """Rewards of the held-out rows before and after training."""

    rows: int
    """Rows that were graded before and after training."""
    wins: int
    """Rows that became better."""
    ties: int
    """Rows that stayed the same."""
    losses: int
    """Rows that became worse."""
    regressions: list[Regression]
    """The rows that became worse, worst first."""
    reward: Comparison
    """The grader's rewards."""
    tool_calls: Comparison
    """Tool calls per rollout."""
    components: dict[str, ComponentComparison]
    """Numbers that the grader reports besides the reward, by name."""


class OverAll(_ReportPart):
    """A mean over all held-out rows, weighed by tokens as the curve is."""

    base: float | None = None
    """The mean under the base model; `null` if it was not measured."""
    start: float | None = None
    """The mean under the model that training started from."""
    tuned: float | None = None
    """The mean under the published model."""


class ImplicitRewards(_ReportPart):
    """Values of the tuned model against the one that training started from, which has 0 of each by
    definition.
    """

    accuracy: float | None = None
    """Share of pairs whose preferred answer has the higher implicit reward."""
    margin: float | None = None
    """Mean implicit reward of the preferred answer less that of the rejected one."""
    chosen: float | None = None
    """Mean implicit reward of the preferred answers; below 0 they became less probable."""
    rejected: float | None = None
    """Mean implicit reward of the rejected answers."""


class Report(_ReportPart):
    """The model that training started from against the published one, on the held-out rows."""

    object: Literal["fine_tuning.job.report"]
    job_id: str
    """The job."""
    method: str | None = None
    """`reinforcement`, `supervised` or `dpo`."""
    base_model: str
    """Name of the base model."""
    start_model: str
    """Name of the model that training started from."""
    step: int
    """The published step."""
    chosen_among: int | None = None
    """Validated checkpoints that the published one was chosen from. Values read from the
    validations that chose it (`greedy`, and all of a supervised or DPO job) have intervals of the
    difference that allow for the choice. `null` in reports of earlier versions.
    """
    ended_early: Json | None = None
    """The stop rule that ended the job, if one did."""
    rows: int
    """Rows that are compared."""
    rows_left_out: int | None = None
    """Rows with a value that is not finite before or after training (supervised and DPO)."""
    rows_in_training: int | None = None
    """Rows of the validation file whose messages are in the training file too, so that they measure
    memorisation. `null` in reports of earlier versions.
    """
    wins_by: Literal["reward", "loss", "logprob_order"] | None = None
    """The measure by which a row is better: a higher reward, a smaller loss, or the order of a
    pair's answers by log-prob.
    """
    wins: int
    """Rows that became better."""
    ties: int
    """Rows that stayed the same."""
    losses: int
    """Rows that became worse."""
    regressions: list[Regression]
    """The rows that became worse, worst first. For pairs: log-prob of the preferred answer less
    that of the rejected one.
    """
    judged_apart: list[str] | None = None
    """Graders that score the rollouts of a group against each other (`ai_judge`), as parameters.
    They judged the two models in groups of their own, so that their scores have no common scale: a
    reward that includes them does not show the gain (reinforcement). `null` in reports of earlier
    versions.
    """
    eval_temperature: float | None = None
    """Temperature of the held-out rollouts (reinforcement)."""
    eval_samples: int | None = None
    """Rollouts of each held-out row (reinforcement)."""
    reward: Comparison | None = None
    """The grader's rewards (reinforcement)."""
    tool_calls: Comparison | None = None
    """Tool calls per rollout (reinforcement)."""
    components: dict[str, ComponentComparison] | None = None
    """Numbers that the grader reports beside the reward, by name (reinforcement)."""
    greedy: RewardComparison | None = None
    """The same for one rollout of each row at temperature 0 (reinforcement)."""
    loss: Comparison | None = None
    """Loss of a row (supervised and DPO)."""
    token_accuracy: Comparison | None = None
    """Share of a row's learned tokens that are the most probable one (supervised)."""
    preference_accuracy: Comparison | None = None
    """Share of pairs whose preferred answer is more probable than the rejected one (DPO)."""
    chosen_logprob: Comparison | None = None
    """Log-prob of a whole preferred answer (DPO)."""
    rejected_logprob: Comparison | None = None
    """Log-prob of a whole rejected answer (DPO)."""
    chosen_less_probable: int | None = None
    """Pairs whose preferred answer became less probable (DPO)."""
    implicit_rewards: ImplicitRewards | None = None
    """Values of the tuned model against the start (DPO)."""
    full_valid_loss: OverAll | None = None
    """Loss over all held-out rows (supervised and DPO)."""
    full_valid_mean_token_accuracy: OverAll | None = None
    """Token accuracy over all held-out rows (supervised)."""
    full_valid_preference_accuracy: OverAll | None = None
    """Accuracy by log-prob over all held-out pairs (DPO)."""


REPORT_PARTS: Final[tuple[type[DescribedModel], ...]] = (
    Comparison,
    ComponentComparison,
    Regression,
    RewardComparison,
    OverAll,
    ImplicitRewards,
    Report,
)
"""Models of a report, whose optional fields may be absent."""


class StreamedPoint(DescribedModel):
    """One point of a curve, committed with the event that it comes with."""

    name: str
    """Name of the curve, such as `reward/mean`."""
    split: Split
    """The rollouts or rows that it measures."""
    step: int
    """The committed step; 0 is before training."""
    value: float
    """The value at that step."""


class StreamedJobEvent(FineTuningJobEvent):
    """An event of the job; its `type` is the name of the message, its `id` the message's id."""

    points: list[StreamedPoint]
    """Points of the step in `data.step`; a later one of the same name, split and step replaces an
    earlier one.
    """

    @classmethod
    def of_stream(cls, streamed: StreamedEvent) -> "StreamedJobEvent":
        points = [
            StreamedPoint(name=one.name, split=one.split, step=one.step, value=one.value)
            for one in streamed.points
        ]
        return cls(**FineTuningJobEvent.of(streamed.event).model_dump(), points=points)


class StreamedJob(DescribedModel):
    """The state of the job after the events that were sent: the message `job`, without an id."""

    id: str
    """Id of the job."""
    object: Literal["fine_tuning.job.state"] = "fine_tuning.job.state"
    status: JobStatus
    """After `succeeded`, `failed` or `cancelled` the stream ends."""
    step: int
    """Last committed step; 0 before the first."""
    total_steps: int | None
    """Steps of the whole job; `null` until its files are validated."""
    estimated_finish: int | None
    """Unix seconds at which the job should end."""
    finished_at: int | None
    """Unix seconds of the end."""
    fine_tuned_model: str | None
    """Name of the published model."""
    error: JobErrorBody | None
    """The reason of a failed job."""

    @classmethod
    def of(cls, job: Job) -> "StreamedJob":
        error = job.error
        return cls.read(
            job,
            error=None
            if error is None
            else JobErrorBody(code=error.code, message=error.message, param=error.param),
        )


STREAM_PARTS: tuple[type[DescribedModel], ...] = (StreamedPoint, StreamedJobEvent, StreamedJob)
STREAM_SCHEMA = {
    "type": "string",
    "description": "The data of a message is a `StreamedJob` for the event `job`, else a "
    "`StreamedJobEvent`.",
}
"""Schema of the body: a text of many messages, which a client must not read as one object."""
