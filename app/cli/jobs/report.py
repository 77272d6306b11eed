"""`agent-rft jobs report`: the paired report of a job in sentences and a table."""

from collections.abc import Iterator
from typing import Any, Final

from pydantic import BaseModel
from rich.text import Text

from app.cli.jobs.listing import JOBS
from app.cli.service.client import parse_reply, path_of
from app.cli.service.remote import Remote
from app.cli.terminal.output import columns, console
from app.cli.terminal.printable import printable
from app.domain.jobs.findings.gain_findings import report_finding

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
            f"{one.row} ({_figure(one.before)} to {_figure(one.after)})"
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
                *(name, _figure(one.base_mean), _figure(one.start_mean), _figure(one.tuned_mean)),
                *(change, interval),
            )


def _figure(value: float | None) -> str:
    return _DASH if value is None else f"{value:.3f}"
