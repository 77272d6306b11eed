"""`agent-rft jobs curves`: draws curves of a job, or prints their points."""

import sys
from collections.abc import Sequence
from typing import Any, Final

from rich.text import Text

from app.cli.jobs.listing import JOBS
from app.cli.jobs.replies import CurveReply, CurvesReply
from app.cli.service.client import parse_reply, path_of
from app.cli.service.remote import Remote
from app.cli.terminal.charts import MOST_CURVES, chart
from app.cli.terminal.output import columns, console
from app.domain.rollouts.metrics import REWARD_MEAN

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
