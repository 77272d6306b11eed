"""The parts of the service's replies that the commands of jobs read. Other keys may change."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from pydantic import BaseModel, FiniteFloat
from rich.text import Text

from app.cli.client import ServiceId, parse_reply, path_of
from app.cli.output import MOST_CURVES, chart, columns, console, fields
from app.cli.printable import duration, moment, printable
from app.cli.remote import Remote
from app.jobs.findings import report_finding
from app.kit.errors import NOTHING_TO_LEARN as NOTHING_TO_LEARN_CODE
from app.kit.processes import JOB_PAUSED, NOTHING_TO_LEARN, RUN_CANCELLED, RUN_FAILED
from app.rollouts.metrics import REWARD_MEAN

ENDED = frozenset({"succeeded", "failed", "cancelled"})
PAUSED = "paused"


class JobErrorReply(BaseModel):
    code: str | None = None
    message: str | None = None


class StateReply(BaseModel):
    """State of a job, in its own reply and in its stream."""

    id: ServiceId
    status: str
    step: int = 0
    total_steps: int | None = None
    estimated_finish: FiniteFloat | None = None
    fine_tuned_model: str | None = None
    error: JobErrorReply | None = None

    @property
    def exit_code(self) -> int:
        """Returns the code of a command that followed the job to this state."""
        match self.status:
            case "failed":
                nothing = self.error is not None and self.error.code == NOTHING_TO_LEARN_CODE
                return NOTHING_TO_LEARN if nothing else RUN_FAILED
            case "cancelled":
                return RUN_CANCELLED
            case "paused":
                return JOB_PAUSED
            case _:
                return 0

    @property
    def is_last(self) -> bool:
        """True for a state at which a command stops following the job."""
        return self.status in {*ENDED, PAUSED}

    @property
    def ending(self) -> str:
        """Returns the sentence with which following the job ends."""
        match self.status:
            case "succeeded":
                return f"succeeded: the tuned model is {self.fine_tuned_model}"
            case "paused":
                return f"paused at step {self.progress}: agent-rft jobs resume {self.id}"
            case "failed" if self.error is not None:
                return f"failed ({self.error.code}): {self.error.message}"
            case _:
                return self.status

    @property
    def progress(self) -> str:
        return f"{self.step}/{self.total_steps or '?'}"


class JobReply(StateReply):
    model: str
    created_at: float
    finished_at: float | None = None
    training_file: str | None = None
    validation_file: str | None = None
    seed: int | None = None
    queue_position: int | None = None
    user_provided_suffix: str | None = None
    ended_early: dict[str, Any] | None = None
    usage_metrics: dict[str, Any] | None = None


class PointReply(BaseModel):
    name: str
    split: str
    step: int
    value: FiniteFloat


class EventReply(BaseModel):
    is_last: ClassVar[bool] = False
    """Always false: a state follows the last event."""
    exit_code: ClassVar[int] = 0
    id: str
    created_at: float
    level: str
    message: str
    data: dict[str, Any] | None = None
    points: list[PointReply] = []


class CurvePointReply(BaseModel):
    step: int
    value: FiniteFloat


class CurveReply(BaseModel):
    name: str
    split: str
    points: list[CurvePointReply]

    @property
    def label(self) -> str:
        return f"{self.name} ({self.split})"


class CurvesReply(BaseModel):
    data: list[CurveReply]


class IssueReply(BaseModel):
    code: str
    message: str
    param: str | None = None
    line: int | None = None
    pointer: str | None = None


class ValidationReply(BaseModel):
    valid: bool
    errors: list[IssueReply]
    warnings: list[IssueReply]
    estimate: dict[str, Any] | None = None
    grader_choice: dict[str, Any] | None = None


JOBS: Final = "fine_tuning/jobs"


def list_jobs(remote: Remote, *, limit: int) -> None:
    with remote.service() as service:
        rows = service.rows(JOBS, limit=limit)
    jobs = [parse_reply(JobReply, row) for row in rows.data]

    def show() -> None:
        header = ("ID", "STATUS", "STEP", "CREATED", "MODEL")
        cells = [
            (job.id, job.status, job.progress, moment(job.created_at), job.model) for job in jobs
        ]
        console().print(columns(header, cells))

    remote.out.result(rows.data, show, has_more=rows.has_more)


def show_job(remote: Remote, job_id: str) -> None:
    with remote.service() as service:
        reply = service.get(f"{JOBS}/{path_of(job_id)}")
    _print(remote, reply)


def change_job(
    remote: Remote, job_id: str, verb: str, body: Mapping[str, Any] | None = None
) -> None:
    """Calls `pause`, `resume` or `cancel`, and prints the job after it."""
    with remote.service() as service:
        reply = service.post(f"{JOBS}/{path_of(job_id)}/{verb}", body)
    _print(remote, reply)


def _print(remote: Remote, reply: dict[str, Any]) -> None:
    job = parse_reply(JobReply, reply)
    remote.out.result(reply, lambda: console().print(fields(job_line(job))))


def job_line(job: JobReply) -> list[tuple[str, object]]:
    pairs: list[tuple[str, object]] = [
        ("id", job.id),
        ("status", job.status),
        ("step", job.progress),
        ("model", job.model),
        ("tuned model", job.fine_tuned_model),
        ("created", moment(job.created_at)),
        ("finished", moment(job.finished_at)),
        ("training file", job.training_file),
        ("validation file", job.validation_file),
        ("seed", job.seed),
    ]
    if job.queue_position is not None:
        pairs.append(("position in the queue", job.queue_position))
    usage = job.usage_metrics or {}
    if isinstance(seconds := usage.get("training_time_s"), int | float):
        pairs.append(("training time", duration(seconds)))
    pairs += [(name, usage[name]) for name in ("rollouts", "tool_calls") if name in usage]
    if job.ended_early is not None:
        pairs.append(("ended early", job.ended_early.get("reason")))
    if job.error is not None and job.error.message is not None:
        pairs.append(("error", f"{job.error.code}: {job.error.message}"))
    return pairs


_DRAWN_LINES: Final = 20
_MOST_COLUMNS: Final = 120


def show_curves(
    remote: Remote,
    job_id: str,
    names: Sequence[str],
    *,
    split: str | None,
    max_points: int,
    as_table: bool | None,
) -> None:
    """Draws in a terminal and prints a table elsewhere, unless `as_table` chooses."""
    reply = _read(remote, job_id, names or [REWARD_MEAN], split=split, max_points=max_points)
    curves = parse_reply(CurvesReply, reply).data
    table = not sys.stdout.isatty() if as_table is None else as_table

    def show() -> None:
        if not curves:
            console().print("no points yet")
        elif table:
            _print_table(curves)
        else:
            _draw(curves)

    remote.out.result(reply["data"], show)


def list_curves(remote: Remote, job_id: str) -> None:
    reply = _read(remote, job_id, None, split=None, max_points=2)
    curves = parse_reply(CurvesReply, reply).data

    def show() -> None:
        rows = [
            (curve.name, curve.split, curve.points[-1].step, curve.points[-1].value)
            for curve in curves
            if curve.points
        ]
        console().print(columns(("NAME", "SPLIT", "STEP", "VALUE"), rows))

    remote.out.result(reply["data"], show)


def _read(remote: Remote, job_id: str, names: Sequence[str] | None, **query: Any) -> dict[str, Any]:
    with remote.service() as service:
        return service.get(f"{JOBS}/{path_of(job_id)}/metrics", names=names, **query)


def _print_table(curves: list[CurveReply]) -> None:
    values = [{point.step: point.value for point in curve.points} for curve in curves]
    steps = sorted({step for points in values for step in points})
    rows = [(step, *(points.get(step) for points in values)) for step in steps]
    console().print(columns(("STEP", *(curve.label for curve in curves)), rows))


def _draw(curves: list[CurveReply]) -> None:
    out = console()
    width = min(out.width - 1, _MOST_COLUMNS)
    for start in range(0, len(curves), MOST_CURVES):
        series = {
            curve.label: [(point.step, point.value) for point in curve.points]
            for curve in curves[start : start + MOST_CURVES]
        }
        out.print(Text(chart(series, width=width, height=_DRAWN_LINES)))


_SHOWN_ROWS: Final = 10
_DASH: Final = "-"


class ComparisonReply(BaseModel):
    base_mean: float | None = None
    start_mean: float | None = None
    tuned_mean: float | None = None
    difference: float | None = None
    difference_ci95: tuple[float, float] | None = None


class RegressionReply(BaseModel):
    row: int
    before: float | None = None
    after: float | None = None


class GreedyReply(BaseModel):
    reward: ComparisonReply | None = None


class ReportReply(BaseModel):
    step: int
    rows: int
    wins: int
    ties: int
    losses: int
    start_model: str
    wins_by: str | None = None
    judged_apart: list[str] | None = None
    rows_in_training: int | None = None
    regressions: list[RegressionReply] = []
    ended_early: dict[str, Any] | None = None
    components: dict[str, ComparisonReply] | None = None
    greedy: GreedyReply | None = None
    reward: ComparisonReply | None = None
    tool_calls: ComparisonReply | None = None
    loss: ComparisonReply | None = None
    token_accuracy: ComparisonReply | None = None
    preference_accuracy: ComparisonReply | None = None


def show_report(remote: Remote, job_id: str) -> None:
    with remote.service() as service:
        reply = service.get(f"{JOBS}/{path_of(job_id)}/report")
    report = parse_reply(ReportReply, reply)

    def show() -> None:
        out = console()
        for sentence in sentences(report):
            out.print(Text(printable(sentence)))
        out.print(columns(("MEASURE", "BASE", "START", "TUNED", "CHANGE", "95 %"), _rows(report)))

    remote.out.result(reply, show)


def sentences(report: ReportReply) -> Iterator[str]:
    rows = "row" if report.rows == 1 else "rows"
    yield (
        f"{report.start_model} before training against step {report.step}, on {report.rows} "
        f"held-out {rows}: {report.wins} better, {report.ties} the same, {report.losses} worse."
    )
    yield report_finding(report.model_dump()).text
    if report.ended_early is not None:
        yield f"Training ended early: {report.ended_early.get('reason')}"
    if report.rows_in_training:
        yield (
            f"{report.rows_in_training} of the rows are in the training file too: on them, memory "
            "is measured."
        )
    if report.regressions:
        worst = ", ".join(
            f"{one.row} ({_number(one.before)} to {_number(one.after)})"
            for one in report.regressions[:_SHOWN_ROWS]
        )
        more = len(report.regressions) - _SHOWN_ROWS
        yield f"Rows that became worse: {worst}{f' and {more} more' if more > 0 else ''}."


def _rows(report: ReportReply) -> Iterator[tuple[str, ...]]:
    measures: dict[str, ComparisonReply | None] = {
        "reward": report.reward,
        "reward at temperature 0": None if report.greedy is None else report.greedy.reward,
        "tool calls": report.tool_calls,
        "loss": report.loss,
        "token accuracy": report.token_accuracy,
        "preference accuracy": report.preference_accuracy,
        **(report.components or {}),
    }
    for name, one in measures.items():
        if one is not None:
            ends = one.difference_ci95
            interval = _DASH if ends is None else f"{ends[0]:+.3f} to {ends[1]:+.3f}"
            change = _DASH if one.difference is None else f"{one.difference:+.3f}"
            yield (
                *(name, _number(one.base_mean), _number(one.start_mean), _number(one.tuned_mean)),
                *(change, interval),
            )


def _number(value: float | None) -> str:
    return _DASH if value is None else f"{value:.3f}"
