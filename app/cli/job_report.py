"""The paired report of a job in sentences, and as rows of a table."""

from collections.abc import Iterator
from typing import Final

from app.cli.replies import NOTHING, Reply
from app.jobs.findings import report_finding

_SHOWN_ROWS: Final = 10
_DASH: Final = "-"


def sentences(report: Reply) -> Iterator[str]:
    rows = report.get("rows", int)
    wins, ties, losses = (report.get(name, int) for name in ("wins", "ties", "losses"))
    yield (
        f"{report.text('start_model')} before training against step {report.get('step', int)}, on "
        f"{rows} held-out {'row' if rows == 1 else 'rows'}: {wins} better, {ties} the same, "
        f"{losses} worse."
    )
    yield _finding(report)
    if (ended := report.child("ended_early")) is not None:
        yield f"Training ended early: {ended.find('reason', str)}"
    if known := report.find("rows_in_training", int):
        yield f"{known} of the rows are in the training file too: on them, memory is measured."
    if regressions := report.children("regressions"):
        worst = ", ".join(
            f"{one.get('row', int)} ({_number(one, 'before')} to {_number(one, 'after')})"
            for one in regressions[:_SHOWN_ROWS]
        )
        more = len(regressions) - _SHOWN_ROWS
        yield f"Rows that became worse: {worst}{f' and {more} more' if more > 0 else ''}."


def _finding(report: Reply) -> str:
    measures = ("reward", "loss", "token_accuracy", "preference_accuracy")
    compared = {name: report.child(name) for name in measures}
    read = {
        "rows": report.get("rows", int),
        "wins_by": report.find("wins_by", str),
        "judged_apart": [str(judge) for judge in report.find("judged_apart", list) or ()],
        **{
            name: {"difference": one.find("difference", float), "difference_ci95": _interval(one)}
            for name, one in compared.items()
            if one is not None
        },
    }
    return report_finding(read).text


def rows(report: Reply) -> Iterator[tuple[str, ...]]:
    components = report.child("components") or NOTHING
    measures = {
        "reward at temperature 0": (report.child("greedy") or NOTHING).child("reward"),
        "reward": report.child("reward"),
        "tool calls": report.child("tool_calls"),
        "loss": report.child("loss"),
        "token accuracy": report.child("token_accuracy"),
        "preference accuracy": report.child("preference_accuracy"),
        **{name: components.child(name) for name in components.data},
    }
    for name, one in measures.items():
        if one is not None:
            means = (_number(one, f"{model}_mean") for model in ("base", "start", "tuned"))
            change, ends = one.find("difference", float), _interval(one)
            yield (
                *(name, *means, _DASH if change is None else f"{change:+.3f}"),
                _DASH if ends is None else f"{ends[0]:+.3f} to {ends[1]:+.3f}",
            )


def _interval(compared: Reply) -> tuple[float, float] | None:
    key = "difference_ci95"
    ends = compared.find(key, list)
    if ends is None:
        return None
    read = Reply({str(place): end for place, end in enumerate(ends)}, key)
    return read.get("0", float), read.get("1", float)


def _number(one: Reply, key: str) -> str:
    value = one.find(key, float)
    return _DASH if value is None else f"{value:.3f}"
