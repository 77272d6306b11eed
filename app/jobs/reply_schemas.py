"""Jobs, events, curves, reports and streams on the wire, in the hosted API's shapes where it has
them.
"""

from typing import Final, Literal

from pydantic import ConfigDict

from app.evals.evals import eval_id_of
from app.jobs.jobs import (
    Checkpoint,
    EventKind,
    EventLevel,
    Job,
    JobEvent,
    JobStatus,
    StreamedEvent,
    Verdict,
)
from app.jobs.schemas import AttachedEvalObject
from app.kit.fields import DescribedModel, Json
from app.kit.ids import Split
from app.rollouts.metrics import MetricPoint


class FineTuningJobCheckpoint(DescribedModel):
    """A checkpoint of a job: a model that can be called, with its metrics."""

    id: str
    object: Literal["fine_tuning.job.checkpoint"] = "fine_tuning.job.checkpoint"
    created_at: int
    fine_tuned_model_checkpoint: str
    """Name of the checkpoint's model, which chat, evals and new jobs take."""
    fine_tuning_job_id: str
    step_number: int
    """The committed step."""
    metrics: dict[str, float]
    """Values of the step, such as `full_valid_mean_reward`, by name; of the last step of a paused
    job that was not validated, only `step`.
    """

    @classmethod
    def of(cls, checkpoint: Checkpoint) -> "FineTuningJobCheckpoint":
        return cls(
            id=checkpoint.id,
            created_at=checkpoint.created_at,
            fine_tuned_model_checkpoint=checkpoint.model_name,
            fine_tuning_job_id=checkpoint.job_id,
            step_number=checkpoint.step,
            metrics={"step": float(checkpoint.step), **checkpoint.metrics},
        )


class FineTuningJobEvent(DescribedModel):
    """An event in the life of a job."""

    id: str
    object: Literal["fine_tuning.job.event"] = "fine_tuning.job.event"
    created_at: int
    level: EventLevel
    """`warn` and `error` need attention."""
    message: str
    """The event in a sentence."""
    type: EventKind
    """`metrics` has the values of a step in `data`."""
    data: Json | None
    """Values, codes and parameters of the event."""

    @classmethod
    def of(cls, event: JobEvent) -> "FineTuningJobEvent":
        return cls.read(event)


class JobErrorBody(DescribedModel):
    """Reason why a job failed; every field is null for a job that did not."""

    code: str | None
    """The error in a word that programs can compare."""
    message: str | None
    """The fault in a sentence, with its cure."""
    param: str | None
    """The parameter of the create call at fault."""


class UsageMetrics(DescribedModel):
    """Usage of the job up to its last committed step. Times in seconds."""

    training_time_s: float
    """Wall time of the run; the basis of `max_training_time_s` and of the price."""
    sampling_time_s: float
    """Part of it in which rollouts were played."""
    update_time_s: float
    """Part of it in which weights were trained."""
    evaluation_time_s: float
    """Part of it in which validations ran."""
    rollouts: int
    """Rollouts of training and validation; `max_rollouts` limits them."""
    prompt_tokens: int
    completion_tokens: int
    tool_calls: int
    """Calls of tools that were run."""
    grader_calls: int
    """Scores that graders gave; each child of a `multi` grader counts."""
    trained_tokens: int
    """Tokens with a weight in the loss."""
    gpu_seconds: float
    """Wall time multiplied by the accelerators that the trainer uses; 0 on a CPU."""
    estimated_cost: float | None
    """Cost in `currency`; null while the operator has set no price."""
    currency: str | None
    """Currency of `estimated_cost`."""
    model_graders: dict[str, dict[str, float]]
    """Tokens that model graders used, by model."""


class Reproducibility(DescribedModel):
    """The machines that a job ran on, and whether they keep the promise of mode `sync`."""

    same_to_the_bit: bool
    """True if a run of the same job, killed and resumed at any moment, ends with the same bits on
    these processors.
    """
    reasons: list[str]
    """The reasons against it; empty if it is kept."""
    processors: list[str]
    """Processors and libraries of the trainer and the engine, over all claims of the job."""


class FineTuningJob(DescribedModel):
    """A fine-tuning job; every key is always present."""

    id: str
    """Id of the job."""
    object: Literal["fine_tuning.job"] = "fine_tuning.job"
    created_at: int
    model: str
    """The base model, with its version, or the tuned model that the job starts from."""
    fine_tuned_model: str | None
    """Name of the published model, once the job has succeeded."""
    finished_at: int | None
    """Unix seconds of the job's end."""
    organization_id: str
    """Id of the organization."""
    result_files: list[str]
    """Ids of files with the points of all curves, once the job has ended."""
    status: JobStatus
    """State of the job."""
    trained_tokens: int | None
    """Tokens with a weight in the loss so far; `null` before the first step."""
    training_file: str
    """Id of the file with the training rows."""
    validation_file: str | None
    """Id of the file with the held-out rows."""
    hyperparameters: Json | None
    """Hyperparameters of a supervised job; `null` for others."""
    seed: int
    """Seed of sampling and training."""
    error: JobErrorBody | Json
    """Code, message and parameter of a job that failed; else empty."""
    estimated_finish: int | None
    """Unix seconds at which a running job should end."""
    integrations: list[Json]
    """As sent."""
    evals: list[AttachedEvalObject]
    """Attached evals, with their runs once the job has succeeded (an extension)."""
    method: Json
    """Method with every default and, once the files are validated, every `auto` replaced."""
    metadata: dict[str, str] | None
    user_provided_suffix: str | None
    """The suffix of the create call."""
    usage_metrics: UsageMetrics | None
    """Time, rollouts, tokens and cost so far; `null` before the first step."""
    shared_with_openai: bool = False
    step: int
    """Last committed step (an extension)."""
    eval_id: str | None
    """The eval whose runs are the job's validations."""
    total_steps: int | None
    """Number of steps, known once the files are validated (an extension)."""
    ended_early: Json | None
    """`{rule, action, step, reason}` of the rule that ended the job early (an extension)."""
    verdict: Verdict | None
    """What the report says of the gain, once the job has succeeded (an extension): `gain` and
    `loss` are clear, `no_clear_gain` is within the noise, `not_measured` has nothing to compare.
    """
    reproducibility: Reproducibility | None
    """True if the job is the same to the bit, with reasons and processors; known once a worker has
    begun (an extension).
    """
    max_training_time_s: float | None
    """Cap (an extension): the job pauses at the step that reaches it."""
    max_rollouts: int | None
    """Cap (an extension): the job pauses at the step that reaches it."""
    priority: int
    """Jobs of the project with a higher priority start first (an extension)."""
    queue_position: int | None
    """Position in the queue of jobs that wait for a worker; 1 is next (an extension)."""
    estimated_start: int | None
    """Unix seconds at which a worker should be free, if running jobs have an estimate."""

    @classmethod
    def of(cls, job: Job) -> "FineTuningJob":
        queue, method = job.queue, job.method
        caps = {
            "max_training_time_s": job.caps.max_training_time_s,
            "max_rollouts": job.caps.max_rollouts,
        }
        of_method = {name: cap for name, cap in caps.items() if name in method.options}
        return cls.read(
            job,
            hyperparameters=method.options["hyperparameters"]
            if method.kind == "supervised"
            else None,
            error={} if job.error is None else JobErrorBody.read(job.error),
            evals=[AttachedEvalObject.of(each) for each in job.evals],
            method=method.with_options({**method.options, **of_method}).document,
            user_provided_suffix=job.suffix,
            usage_metrics=None if job.usage is None else UsageMetrics(**job.usage.to_json()),
            eval_id=None if method.grader is None else eval_id_of(job.id),
            reproducibility=None
            if job.reproducibility is None
            else Reproducibility(**job.reproducibility),
            **caps,
            queue_position=None if queue is None else queue.position,
            estimated_start=None if queue is None else queue.estimated_start,
        )


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
            points=[Point.read(point) for point in points],
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


class EvalComparison(_ReportPart):
    """The sampled answers of both models to the items of an attached eval, with the mean of its
    criteria's scores as their reward. Values are `null` until both runs have completed.
    """

    eval_id: str
    """The eval."""
    items: int
    """Items that have a graded answer of both models."""
    start_mean: float | None
    """Mean reward of the model that training started from."""
    tuned_mean: float | None
    """Mean reward of the published model."""
    difference: float | None
    """Mean over items of tuned less start."""
    difference_ci95: Interval | None
    """95 % interval of `difference` over items: Student's t, or by their range where few
    items differ. `null` for fewer than 6 items.
    """


class ModelFigures(_ReportPart):
    """Means over the graded rollouts of one model."""

    rollouts: int
    """Graded rollouts."""
    reward: float
    """Their mean reward."""
    tool_calls: float
    """Tool calls per rollout."""
    calls_by_tool: dict[str, float]
    """Calls per rollout, by tool."""
    repeated_calls: float
    """Calls per rollout with the name and arguments of an earlier one of the same rollout."""
    completion_tokens: float
    """Tokens that the policy sampled per rollout."""
    seconds: float
    """Seconds of a rollout, from its first turn to its score."""
    seconds_p50: float
    """Seconds that half of the rollouts did not exceed."""
    seconds_p95: float
    """Seconds that 95 % of the rollouts did not exceed."""
    over_limit: float
    """Share of the rollouts that took more than `seconds_limit`."""


class SequenceShares(_ReportPart):
    """Tools that were called one directly after the other."""

    tools: list[str]
    """The tools, in the order of the calls."""
    start: float
    """Share of rollouts with this sequence before training."""
    tuned: float
    """Share of the tuned model's rollouts with it."""


class Quadrant(_ReportPart):
    """Rows by the change of their mean reward and of their mean number of tool calls."""

    better_fewer_calls: int
    """Rows with a higher reward and fewer calls."""
    better_more_calls: int
    """Rows with a higher reward and more calls."""
    worse_fewer_calls: int
    """Rows with a lower reward and fewer calls."""
    worse_more_calls: int
    """Rows with a lower reward and more calls."""
    unchanged: int
    """Rows whose reward or calls stayed the same."""


class RowChange(_ReportPart):
    """Means over the rollouts of one held-out row, before and after training."""

    row: int
    """Row number in the validation file, from 0."""
    start_reward: float
    """Reward before training."""
    tuned_reward: float
    """Reward of the tuned model."""
    start_tool_calls: float
    """Tool calls before training."""
    tuned_tool_calls: float
    """Tool calls of the tuned model."""
    start_completion_tokens: float
    """Sampled tokens before training."""
    tuned_completion_tokens: float
    """Sampled tokens of the tuned model."""
    start_seconds: float
    """Seconds before training."""
    tuned_seconds: float
    """Seconds of the tuned model."""


class BeforeAfter(_ReportPart):
    """What the rollouts did before and after training, on the rows with graded ones of both."""

    split: Literal["report", "valid"]
    """The rollouts that are read: `report` were sampled for the comparison, with other seeds than
    those that chose the step; `valid` are the validations of both steps, where no comparison was
    made.
    """
    rows: int
    """Rows that are compared."""
    seconds_limit: float
    """The `limit_s` of the call; without one, the 95th percentile of seconds before training."""
    start: ModelFigures
    """Before training."""
    tuned: ModelFigures
    """The tuned model."""
    completion_tokens: Comparison
    """Sampled tokens, row by row."""
    seconds: Comparison
    """Seconds, row by row. They have the tool calls and grading in them, and depend on how busy the
    machines were.
    """
    sequences: list[SequenceShares]
    """The ten commonest pairs of consecutive calls."""
    loops: list[SequenceShares]
    """The ten commonest loops: one tool called three times or more in succession."""
    quadrant: Quadrant | None
    """Rows by the change of reward and calls; `null` for rewards that were `judged_apart`."""
    by_row: list[RowChange]
    """Every row: the points of plots of reward over seconds, tokens or calls."""


class Report(_ReportPart):
    """The model that training started from against the published one, or against that of another
    validated step, on the held-out rows.
    """

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
    """The step that is compared with the start: the published one, or that of the call."""
    chosen_among: int | None = None
    """Validated checkpoints that the published one was chosen from. Values read from the
    validations that chose it (`greedy`, and all of a supervised or DPO job) have intervals of the
    difference that allow for the choice. `null` in reports of earlier versions.
    """
    ended_early: Json | None = None
    """The stop rule that ended the job, if one did."""
    verdict: Verdict | None = None
    """What the numbers say of the gain: `gain` and `loss` have an interval of the difference
    without 0, `no_clear_gain` has one with 0 or none, `not_measured` compares nothing. `null` in
    reports of earlier versions.
    """
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
    before_after: BeforeAfter | None = None
    """Calls, tokens and seconds of the rollouts before and after training; `null` when none are
    stored any more, and for methods that sample none (reinforcement).
    """
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
    evals: list[EvalComparison] | None = None
    """Sampled answers of both models, by attached eval. Without one, a supervised or DPO job
    samples no answers.
    """
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
    EvalComparison,
    ModelFigures,
    SequenceShares,
    Quadrant,
    RowChange,
    BeforeAfter,
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
        points = [StreamedPoint.read(one) for one in streamed.points]
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
    verdict: Verdict | None
    """What the report says of the gain, once the job has succeeded."""
    error: JobErrorBody | None
    """The reason of a failed job."""

    @classmethod
    def of(cls, job: Job) -> "StreamedJob":
        return cls.read(job, error=None if job.error is None else JobErrorBody.read(job.error))


STREAM_PARTS: tuple[type[DescribedModel], ...] = (StreamedPoint, StreamedJobEvent, StreamedJob)
STREAM_SCHEMA = {
    "type": "string",
    "description": "The data of a message is a `StreamedJob` for the event `job`, else a "
    "`StreamedJobEvent`.",
}
"""Schema of the body: a text of many messages, which a client must not read as one object."""
